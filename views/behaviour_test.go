package views

import (
	"context"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/a-h/templ"
	"github.com/chromedp/chromedp"

	"holdfast/static"
	"holdfast/views/i18n"
)

// desk is a server with just enough behind the pages to press their buttons.
type desk struct {
	*httptest.Server
	lang     atomic.Value
	confirms atomic.Int32
	holds    atomic.Int32 // how often the page of the hold was asked for
	wait     chan struct{}
	left     atomic.Int32 // seconds of the countdown
	over     atomic.Bool  // the hold has run out
	answer   atomic.Value // how confirm answers: "done", "slow", "mistake", "elsewhere", "garbage"
}

func newDesk(t testing.TB) *desk {
	t.Helper()
	d := &desk{wait: make(chan struct{})}
	d.lang.Store(i18n.JA)
	d.answer.Store("done")
	d.left.Store(252)
	mux := http.NewServeMux()
	write := func(w http.ResponseWriter, status int, make func(b bench) templ.Component) {
		lang, _ := d.lang.Load().(string)
		body := render(t, lang, make(newBench(t, lang)))
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'self'; script-src 'nonce-nonce' 'strict-dynamic'; style-src 'self'")
		w.WriteHeader(status)
		if _, err := w.Write([]byte(body)); err != nil {
			t.Log(err) // the browser has gone on
		}
	}
	mux.Handle(static.Prefix, static.Handler())
	mux.HandleFunc("GET /nagi/reservations/t", func(w http.ResponseWriter, r *http.Request) {
		d.holds.Add(1)
		write(w, http.StatusOK, func(b bench) templ.Component {
			if d.over.Load() {
				v := b.ended(EndedExpired)
				v.Again.Typed = ContactForm{}
				return Ended(v)
			}
			v := b.hold()
			v.Page.Return = "/nagi/reservations/t"
			v.Deadline.SecondsLeft = int(d.left.Load())
			return Hold(v)
		})
	})
	mux.HandleFunc("GET /booked", func(w http.ResponseWriter, _ *http.Request) {
		write(w, http.StatusOK, func(b bench) templ.Component {
			v := b.booked()
			v.Just = true
			return Booked(v)
		})
	})
	mux.HandleFunc("POST /nagi/reservations/t/confirm", func(w http.ResponseWriter, r *http.Request) {
		d.confirms.Add(1)
		switch d.answer.Load() {
		case "slow":
			<-d.wait
			http.Redirect(w, r, "/booked", http.StatusSeeOther)
		case "mistake":
			write(w, http.StatusUnprocessableEntity, func(b bench) templ.Component {
				v := b.hold()
				v.Contact.Name = r.FormValue(FieldName)
				v.Contact.Errs = Errors{FieldEmail: "?"}
				return Hold(v)
			})
		case "elsewhere":
			w.Header().Set("Content-Location", "/nagi/reservations/u")
			write(w, http.StatusOK, func(b bench) templ.Component { return Hold(b.hold()) })
		case "garbage":
			http.Error(w, "bad gateway", http.StatusBadGateway)
		default:
			http.Redirect(w, r, "/booked", http.StatusSeeOther)
		}
	})
	mux.HandleFunc("POST /nagi/language", func(w http.ResponseWriter, r *http.Request) {
		d.lang.Store(r.FormValue(FieldLang))
		http.Redirect(w, r, r.FormValue(FieldReturn), http.StatusSeeOther)
	})
	d.Server = httptest.NewServer(mux)
	t.Cleanup(d.Close)
	return d
}

// until waits in the page for a condition.
func until(t testing.TB, ctx context.Context, condition string) {
	t.Helper()
	js := `new Promise(done => { const look = () => (` + condition + `) ? done(true) : setTimeout(look, 20); look() })`
	if _, err := chromedp.Run(soon(t, ctx), chromedp.Evaluate[bool](js, chromedp.EvalAwaitPromise)); err != nil {
		t.Fatalf("never: %s (%v); the page says: %s", condition, err, ask[string](t, ctx, `document.body.innerText.slice(0, 400)`))
	}
}

func open(t testing.TB, ctx context.Context, d *desk) {
	t.Helper()
	visit(t, ctx, d.URL+"/nagi/reservations/t")
	ask[bool](t, ctx, `(window.same = true)`) // gone after a full load
	ask[bool](t, ctx, `(document.querySelector("[name=name]").value = "山田 花", document.querySelector("[name=email]").value = "a@example.jp", true)`)
}

const pressConfirm = `(document.querySelector("form[data-details] button[type=submit]").click(), true)`

func TestThePagesInAnInteractiveBrowser(t *testing.T) {
	t.Parallel()
	ctx := browser(t)
	screen(t, ctx, 390, 844, "light")

	t.Run("a form swaps the page, its title and its address, and moves the focus to the heading", func(t *testing.T) {
		d := newDesk(t)
		open(t, ctx, d)
		ask[bool](t, ctx, pressConfirm)
		until(t, ctx, `location.pathname === "/booked" && document.activeElement.matches("h1")`)
		if !ask[bool](t, ctx, `window.same === true`) {
			t.Error("the whole page was loaded again")
		}
		if title := ask[string](t, ctx, `document.title`); title != "ご予約の内容 | ヨガスタジオ 凪" {
			t.Errorf("the title is %q", title)
		}
		if top := ask[float64](t, ctx, `scrollY`); top != 0 {
			t.Errorf("the page is scrolled to %v", top)
		}
		if n := ask[int](t, ctx, `document.querySelectorAll("#main").length * 100 + document.querySelectorAll("#chrome").length * 10 + document.querySelectorAll("#foot").length`); n != 111 {
			t.Errorf("parts of the frame: %d", n)
		}
	})

	t.Run("a form with mistakes keeps its address and leads to the summary", func(t *testing.T) {
		d := newDesk(t)
		d.answer.Store("mistake")
		open(t, ctx, d)
		ask[bool](t, ctx, pressConfirm)
		until(t, ctx, `document.activeElement.id === "error-summary"`)
		if path := ask[string](t, ctx, `location.pathname`); path != "/nagi/reservations/t" {
			t.Errorf("the address is %s", path)
		}
		if name := ask[string](t, ctx, `document.querySelector("[name=name]").value`); name != "山田 花" {
			t.Errorf("what was typed became %q", name)
		}
	})

	t.Run("an answer that names its own address gets it", func(t *testing.T) {
		d := newDesk(t)
		d.answer.Store("elsewhere")
		open(t, ctx, d)
		ask[bool](t, ctx, pressConfirm)
		until(t, ctx, `location.pathname === "/nagi/reservations/u"`)
	})

	t.Run("a second press while the first is on its way does nothing", func(t *testing.T) {
		d := newDesk(t)
		d.answer.Store("slow")
		open(t, ctx, d)
		ask[bool](t, ctx, pressConfirm)
		until(t, ctx, `document.querySelector("form[data-details] button[type=submit]").getAttribute("aria-busy") === "true"`)
		if text := ask[string](t, ctx, `document.querySelector("form[data-details] button[type=submit]").innerText`); text != "予約を確定しています…" {
			t.Errorf("the button says %q", text)
		}
		ask[bool](t, ctx, pressConfirm)
		ask[bool](t, ctx, pressConfirm)
		close(d.wait)
		until(t, ctx, `location.pathname === "/booked"`)
		if n := d.confirms.Load(); n != 1 {
			t.Errorf("%d requests", n)
		}
	})

	t.Run("a change of language keeps what was typed", func(t *testing.T) {
		d := newDesk(t)
		open(t, ctx, d)
		ask[bool](t, ctx, `(document.querySelector(".language button").click(), true)`)
		until(t, ctx, `document.documentElement.lang === "en" && document.querySelector("h1").innerText === "Your seats are held"`)
		until(t, ctx, `document.querySelector("[name=name]").value === "山田 花" && document.querySelector("[name=email]").value === "a@example.jp"`)
		if button := ask[string](t, ctx, `document.querySelector("#chrome .language button").innerText`); button != "日本語" {
			t.Errorf("the switch says %q", button)
		}
		if path := ask[string](t, ctx, `location.pathname`); path != "/nagi/reservations/t" {
			t.Errorf("the address is %s", path)
		}
	})

	t.Run("the end of a hold asks the server once and carries what was typed", func(t *testing.T) {
		d := newDesk(t)
		d.left.Store(1)
		open(t, ctx, d)
		d.over.Store(true)
		until(t, ctx, `document.querySelector("[data-state=expired]")`)
		if name := ask[string](t, ctx, `document.querySelector("form[data-carry] [name=name]").value`); name != "山田 花" {
			t.Errorf("carried: %q", name)
		}
		if n := d.holds.Load(); n != 2 {
			t.Errorf("the page was asked for %d times", n)
		}
	})

	t.Run("the shown end leaves somebody who is typing where they are", func(t *testing.T) {
		d := newDesk(t)
		d.left.Store(1)
		open(t, ctx, d)
		ask[bool](t, ctx, `(document.querySelector("[name=email]").focus(), window.old = document.querySelector("#main"), true)`)
		d.left.Store(0)
		until(t, ctx, `document.querySelector("#main") !== window.old && document.activeElement.name === "email"`)
		if mail := ask[string](t, ctx, `document.activeElement.value`); mail != "a@example.jp" {
			t.Errorf("what was typed became %q", mail)
		}
	})

	t.Run("an answer that is none of our pages leaves the page as it was", func(t *testing.T) {
		d := newDesk(t)
		d.answer.Store("garbage")
		open(t, ctx, d)
		ask[bool](t, ctx, pressConfirm)
		until(t, ctx, `document.querySelector("[data-failed-note]")`)
		if name := ask[string](t, ctx, `document.querySelector("[name=name]").value`); name != "山田 花" {
			t.Errorf("what was typed became %q", name)
		}
		until(t, ctx, `!document.querySelector("form[data-details] button[type=submit]").hasAttribute("aria-busy")`)
	})
}
