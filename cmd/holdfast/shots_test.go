package main

import (
	"context"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"holdfast/store"
	"holdfast/store/storetest/shop"
)

// axe-core, for tests only; its licence stands beside it.
//
//go:embed testdata/axe.min.js
var axe string

// screenPage is one page in one state.
type screenPage struct {
	name  string
	path  string
	staff bool
}

// moreScenes are the pages of further families, each in a file of its own.
var moreScenes []func(*testing.T, *product) []screenPage

// scene fills the shop so that every page has something to show, and lists them.
func scene(t *testing.T, p *product) []screenPage {
	t.Helper()
	ctx := t.Context()
	s := p.Store
	named := func(name, kana string) store.Contact {
		c := p.Person()
		c.Name, c.Kana = name, kana
		return c
	}
	book := func(slot store.Slot, party int, name, kana string) store.Reservation {
		t.Helper()
		request := p.ConfirmRequest(p.Hold(t, slot, party))
		request.Contact = named(name, kana)
		r, err := s.Confirm(ctx, request)
		check(t, err)
		return r
	}
	join := func(slot store.Slot, party int, name, kana string) store.Entry {
		t.Helper()
		request := p.JoinRequest(slot, party)
		request.Contact = named(name, kana)
		e, err := s.Join(ctx, request)
		check(t, err)
		return e
	}
	reservation := func(r store.Reservation) string { return "/shop/reservations/" + s.ReservationToken(r) }
	entry := func(e store.Entry) string { return "/shop/waitlist/" + s.EntryToken(e) }
	offer := func(e store.Entry) string { return "/shop/offers/" + s.OfferToken(e) }
	slotPath := func(slot store.Slot) string { return "/shop/slots/" + slot.ID }

	free, few, full, busy, closed, lapse := p.Slot(t, 10), p.Slot(t, 4), p.Slot(t, 1), p.Slot(t, 6), p.Slot(t, 5), p.Slot(t, 1)
	soon := p.SlotAt(t, 1, nextHour(t, p).Add(time.Hour))
	book(free, 2, "山本 あかり", "ヤマモト アカリ")
	book(few, 2, "井上 誠", "イノウエ マコト")
	book(full, 1, "高橋 美咲", "タカハシ ミサキ")
	join(full, 1, "田中 陽子", "タナカ ヨウコ")
	waiting := join(full, 1, "中村 健", "ナカムラ ケン")
	join(full, 1, "Emma Wilson", "")

	held := p.Hold(t, free, 2)
	expired := p.Hold(t, free, 1)
	p.Exec(t, "UPDATE reservations SET shown_until = now() - interval '2 minutes', expires_at = now() - interval '1 minute' WHERE id = $1", expired.ID)

	var regulars []store.Reservation
	for i, name := range [][2]string{{"佐藤 花子", "サトウ ハナコ"}, {"鈴木 次郎", "スズキ ジロウ"}, {"阿部 翔", "アベ ショウ"}, {"Oliver Brown", ""}} {
		regulars = append(regulars, book(busy, 1+i%2, name[0], name[1]))
	}
	offered := join(busy, 2, "渡辺 直樹", "ワタナベ ナオキ")
	join(busy, 1, "小林 さくら", "コバヤシ サクラ")
	p.Cancel(t, regulars[1])
	cancelled := regulars[1]

	gone := book(lapse, 1, "加藤 蓮", "カトウ レン")
	lapsed := join(lapse, 1, "吉田 葵", "ヨシダ アオイ")
	p.Cancel(t, gone)
	p.Exec(t, "UPDATE waitlist_entries SET shown_until = now() - interval '20 minutes', expires_at = now() - interval '15 minutes' WHERE id = $1", lapsed.ID)

	leaver := book(soon, 1, "山田 太郎", "ヤマダ タロウ")
	claimer := join(soon, 1, "森 結衣", "モリ ユイ")
	_, err := s.Cancel(ctx, store.CancelRequest{TenantID: soon.TenantID, IDs: []string{leaver.ID}, Actor: shop.Staff})
	check(t, err)
	_, err = s.CloseSlot(ctx, store.SlotRequest{TenantID: closed.TenantID, SlotID: closed.ID, Actor: shop.Staff})
	check(t, err)

	var more []screenPage
	for _, scene := range moreScenes {
		more = append(more, scene(t, p)...)
	}
	staffSlot := "/staff/shop/slots/" + busy.ID
	day := busy.StartsAt.In(p.Tenant.Location()).Format("2006-01-02")
	return append(more, []screenPage{
		{"venue", "/shop", false},
		{"venue-day", "/shop?date=" + day, false},
		{"venue-month", "/shop?month=" + day[:7], false},
		{"venue-embed", "/shop/embed?date=" + day, false},
		{"poster", "/shop/poster", false},
		{"slot-free", slotPath(free), false},
		{"slot-few", slotPath(few), false},
		{"slot-full", slotPath(full), false},
		{"slot-closed", slotPath(closed), false},
		{"hold", reservation(held), false},
		{"hold-expired", reservation(expired), false},
		{"booked", reservation(regulars[0]), false},
		{"cancelled", reservation(cancelled), false},
		{"move", reservation(regulars[0]) + "/move", false},
		{"entry-waiting", entry(waiting), false},
		{"entry-offered", entry(offered), false},
		{"entry-claim", entry(claimer), false},
		{"entry-lapsed", entry(lapsed), false},
		{"offer", offer(offered), false},
		{"offer-lapsed", offer(lapsed), false},
		{"my-reservations", "/shop/my-reservations", false},
		{"not-found", "/shop/reservations/nothing", false},
		{"staff-sign-in", "/staff/sign-in", false},
		{"staff-today", "/staff/shop/today?date=" + day, true},
		{"staff-slot", staffSlot, true},
		{"staff-slot-full", "/staff/shop/slots/" + full.ID, true},
		{"staff-cancel", staffSlot + "/cancel?reservation=" + regulars[0].ID, true},
		{"staff-messages", "/staff/shop/messages", true},
		{"staff-settings", "/staff/shop/settings", true},
	}...)
}

func nextHour(t *testing.T, p *product) time.Time {
	t.Helper()
	now, err := p.Store.Now(t.Context())
	check(t, err)
	return now.Truncate(time.Hour)
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// viewers are a customer and a member of staff; each page is seen by who it is for.
type viewers struct{ customer, staff *visitor }

func (w viewers) of(page screenPage) *visitor {
	if page.staff {
		return w.staff
	}
	return w.customer
}

func (w viewers) look(size screenSize, lang, mode string) {
	for _, v := range []*visitor{w.customer, w.staff} {
		call(v, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: size.width, Height: size.height, DeviceScaleFactor: 1, Mobile: size.width < 600})
		call(v, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: mode}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
	}
	for v, page := range map[*visitor]string{w.customer: "/shop", w.staff: "/staff/shop/today"} {
		v.open(page)
		if ask[string](v, `document.documentElement.lang`) != lang {
			ask[bool](v, `document.querySelectorAll("details").forEach(d => d.open = true), true`) // staff have it in a menu
			v.press(fmt.Sprintf(`form.language button[value=%q]`, lang), fmt.Sprintf(`html[lang=%q]`, lang))
		}
	}
}

func watch(t *testing.T, p *product) viewers {
	t.Helper()
	w := viewers{p.visitor(t, phone, true), p.visitor(t, desktop, true)}
	w.staff.signIn()
	return w
}

// TestPagesAreAccessible opens every page of customers in both languages, light
// and dark, and every page of staff in Japanese in light and in English in dark: axe finds nothing serious, nothing is wider than a narrow phone, the language
// is named, and the browser's console stays silent.
func TestPagesAreAccessible(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	pages := scene(t, p)
	w := watch(t, p)
	for _, v := range []*visitor{w.customer, w.staff} {
		listen(t, v)
	}
	for _, lang := range []string{"ja", "en"} {
		for _, mode := range []string{"light", "dark"} {
			w.look(screenSize{"narrow", 320, 640}, lang, mode)
			for _, page := range pages {
				if page.staff && (lang == "en") != (mode == "dark") {
					continue
				}
				v := w.of(page)
				v.open(page.path)
				if got := ask[string](v, `document.documentElement.lang`); got != lang {
					t.Errorf("%s says lang=%q, wanted %q", page.name, got, lang)
				}
				if !page.staff {
					if width := ask[int](v, `document.documentElement.scrollWidth`); width > 320 {
						t.Errorf("%s in %s is %d px wide on a screen of 320", page.name, lang, width)
					}
				}
				for _, found := range v.axe() {
					t.Errorf("%s in %s, %s: %s", page.name, lang, mode, found)
				}
			}
		}
	}
}

// axe gives what axe-core finds against WCAG 2.2 AA that is serious or worse.
func (v *visitor) axe() []string {
	v.t.Helper()
	ask[bool](v, axe+"; true")
	ctx, cancel := context.WithTimeout(v.ctx, 60*time.Second)
	defer cancel()
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`axe.run({runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]}).then(r => r.violations
		.filter(v => v.impact === "serious" || v.impact === "critical")
		.flatMap(v => v.nodes.map(n => v.id + ": " + n.html.slice(0, 160) + " " + n.failureSummary.slice(0, 200))))`, chromedp.EvalAwaitPromise))
	if err != nil {
		v.t.Fatal(err)
	}
	return found
}

// listen fails the test when the browser complains: a blocked script or style, an exception.
func listen(t *testing.T, v *visitor) {
	t.Helper()
	messages := chromedp.Console(v.ctx)
	go func() {
		for m, err := range messages {
			if err != nil {
				return // the tab was closed
			}
			// A page that answers 404 or 410 on purpose is not a complaint.
			if strings.Contains(m.String(), "Failed to load resource") {
				continue
			}
			t.Errorf("the browser complains: %s", m.String())
		}
	}()
}

// TestShots photographs every page into the folder that HOLDFAST_SHOTS names:
// phone and desktop, ja and en, light and dark. `make shots` runs it; without
// the folder it photographs one page of each side, so that it can't rot.
func TestShots(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	pages := scene(t, p)
	w := watch(t, p)
	folder, only := os.Getenv("HOLDFAST_SHOTS"), os.Getenv("HOLDFAST_SHOTS_ONLY")
	sizes, langs, modes := []screenSize{phone, desktop}, []string{"ja", "en"}, []string{"light", "dark"}
	if folder == "" {
		folder = t.TempDir()
		sizes, langs, modes = sizes[:1], langs[:1], modes[:1]
		pages = slices.DeleteFunc(pages, func(page screenPage) bool { return page.name != "venue" && page.name != "staff-today" })
	}
	check(t, os.MkdirAll(folder, 0o755))
	for _, size := range sizes {
		for _, lang := range langs {
			for _, mode := range modes {
				w.look(size, lang, mode)
				for _, page := range pages {
					if !strings.Contains(page.name, only) {
						continue
					}
					v := w.of(page)
					v.open(page.path)
					ctx, cancel := context.WithTimeout(v.ctx, 30*time.Second)
					png, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
					cancel()
					check(t, err)
					check(t, os.WriteFile(filepath.Join(folder, strings.Join([]string{page.name, size.name, lang, mode, "png"}, ".")), png, 0o644))
				}
			}
		}
	}
}
