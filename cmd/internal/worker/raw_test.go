package worker

import (
	"bytes"
	"flag"
	"fmt"
	netmail "net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	ics "github.com/arran4/golang-ical"

	"holdfast/store"
	"holdfast/views/calendar"
	"holdfast/views/mail"
)

var update = flag.Bool("update", false, "accept the messages as they are now")

// fixedTokens makes links that are the same each time.
type fixedTokens struct{}

func (fixedTokens) ReservationToken(store.Reservation) string { return "reservation" }
func (fixedTokens) EntryToken(store.Entry) string             { return "entry" }
func (fixedTokens) OfferToken(store.Entry) string             { return "offer" }
func (fixedTokens) EmailToken(store.Reservation) string       { return "email" }
func (fixedTokens) ReservationProof(store.Reservation) string { return "proof" }
func (fixedTokens) EntryProof(store.Entry) string             { return "proof" }

// storeLetter is a message of each kind with all that it can speak of.
func storeLetter(t *testing.T, kind store.MessageKind, lang string) store.Letter {
	t.Helper()
	at := func(text string) time.Time {
		when, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	now, start, end := at("2026-10-01T03:00:00Z"), at("2026-10-08T09:30:00Z"), at("2026-10-08T10:30:00Z")
	until := at("2026-10-02T03:30:00Z")
	id, slotID := "22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"
	l := store.Letter{
		Message: store.Message{
			ID: "11111111-1111-4111-8111-111111111111", Kind: kind, SlotID: &slotID, SubjectID: &id, Recipient: "guest@example.com", Locale: lang, CreatedAt: now,
			Payload: map[string]any{"reason": "設備の点検", "by": "staff", "from_starts_at": "2026-10-07T09:30:00Z", "from_ends_at": "2026-10-07T10:30:00Z", "subject": "駐車場について", "text": "当日は駐車場をご利用いただけません。\n\nご不便をおかけします。"},
		},
		Tenant:   store.Tenant{Slug: "minamo", Name: `スタジオ "みなも"; A, B`, TimeZone: "Asia/Tokyo", Locale: "ja", Email: "hello@minamo.example", Phone: "03-5555-0100", Address: "東京都港区1-2-3"},
		Service:  store.Service{Slug: "yoga", Name: store.Text{"ja": `日本語講座：入門 🎌 & "Q"/A`, "en": `Japanese: first steps 🎌 & "Q"/A`}},
		Resource: store.Resource{Name: store.Text{"ja": "スタジオA", "en": "Studio A"}},
		Slot: &store.Slot{
			ID: slotID, StartsAt: start, EndsAt: end, CancelUntil: start.Add(-24 * time.Hour), Now: now, OrderRules: true, OrderUntil: &until, OfferShown: 30 * time.Minute,
		},
	}
	r := store.Reservation{
		ID: id, SlotID: slotID, PartySize: 2, State: store.Confirmed, Number: "K7P2M4X", Name: "髙橋 𠮷郎 👩‍👩‍👧", Email: "guest@example.com", Locale: lang, Sequence: 1, CreatedAt: now, ConfirmedAt: &now,
		EmailNew: "guest@example.com", EmailUntil: &until,
	}
	e := store.Entry{ID: id, SlotID: slotID, PartySize: 2, State: store.Waiting, Name: "محمد O’Neil", Email: "guest@example.com", Locale: lang, Place: 3, Of: 7, ShownUntil: &until}
	switch kind {
	case store.KindJoined, store.KindOffer, store.KindLapsed, store.KindRevoked, store.KindVacancy:
		l.Entry = &e
	case store.KindStaffInvite, store.KindStaffReset, store.KindStaffPasswordChanged:
		l.Slot, l.Message.SlotID = nil, nil
		l.Staff = &store.StaffLetter{Name: "青木", Email: "hana@minamo.example", Role: store.RoleManager, InvitedBy: "店長", Token: "staff", Until: until}
	case store.KindMyLinks:
		l.Bookings = []store.Booking{{Slot: *l.Slot, Service: l.Service, Reservation: &r}, {Slot: *l.Slot, Service: l.Service, Entry: &e}}
		l.Slot, l.Message.SlotID, l.Message.SubjectID = nil, nil, nil
	case store.KindCancelled, store.KindSlotCancelled:
		r.State, r.Sequence, r.EndedAt = store.Cancelled, 2, &now
		l.Reservation = &r
	default:
		l.Reservation = &r
	}
	return l
}

func fixedWriter(t *testing.T) *Writer {
	t.Helper()
	w := writerOf(t, nil)
	w.Tokens = fixedTokens{}
	return w
}

func rawOf(t *testing.T, m Mail) []byte {
	t.Helper()
	m.At = time.Date(2026, 10, 1, 3, 0, 5, 0, time.UTC)
	raw, err := m.raw()
	if err != nil {
		t.Fatal(err)
	}
	again, err := m.raw()
	if err != nil || !bytes.Equal(raw, again) {
		t.Errorf("a message is not the same bytes each time (%v)", err)
	}
	return raw
}

func TestTheRawMessageOfEachKind(t *testing.T) {
	t.Parallel()
	for _, kind := range store.MessageKinds {
		for _, lang := range []string{"ja", "en"} {
			l := storeLetter(t, kind, lang)
			m, ok := fixedWriter(t).Write(l)
			if !ok {
				t.Fatalf("%s has no text", kind)
			}
			raw := rawOf(t, m)
			path := filepath.Join("testdata", fmt.Sprintf("%s.%s.eml", kind, lang))
			if *update {
				if err := os.MkdirAll("testdata", 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, raw, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatalf("%v (accept new messages with -update)", err)
			}
			header, parts := take(t, raw)
			if !bytes.Equal(want, raw) {
				t.Errorf("%s in %s has changed; it is now\n%s\n%v", kind, lang, raw, parts)
			}
			if from, err := header.AddressList("From"); err != nil || from[0].Name != l.Tenant.Name || from[0].Address != "mail@reserve.example" {
				t.Errorf("%s is from %v %v", kind, from, err)
			}
			if reply, err := header.AddressList("Reply-To"); err != nil || reply[0].Address != "hello@minamo.example" {
				t.Errorf("%s: answers go to %v %v", kind, reply, err)
			}
			if got := decoded(t, header.Get("Subject")); got != m.Subject {
				t.Errorf("%s: the subject is %q", kind, got)
			}
			for name, want := range map[string]string{
				"Auto-Submitted": "auto-generated", "Message-Id": "<" + l.Message.ID + "@reserve.example>", "Content-Language": lang, "Date": "Thu, 01 Oct 2026 03:00:05 +0000",
			} {
				if got := header.Get(name); got != want {
					t.Errorf("%s: %s is %q", kind, name, got)
				}
			}
			if got, want := header.Get("List-Unsubscribe") != "", kind == store.KindVacancy; got != want {
				t.Errorf("%s: a way to end such messages: %v", kind, got)
			}
			var kinds []string
			for _, p := range parts {
				kinds = append(kinds, p.kind)
			}
			want2 := []string{"text/plain", "text/html"}
			switch kind {
			case store.KindConfirmed, store.KindMoved, store.KindChanged, store.KindCancelled, store.KindSlotCancelled:
				want2 = append(want2, "text/calendar", "application/ics")
			case store.KindMyLinks:
				want2 = append(want2, "application/ics")
			}
			if !slices.Equal(kinds, want2) {
				t.Errorf("%s has the parts %v", kind, kinds)
			}
			if strings.ReplaceAll(parts[0].body, "\r\n", "\n") != m.Text || strings.ReplaceAll(parts[1].body, "\r\n", "\n") != m.HTML {
				t.Errorf("%s: the texts arrive otherwise", kind)
			}
		}
	}
}

func TestWhatAMessageSaysToACalendar(t *testing.T) {
	t.Parallel()
	for kind, want := range map[store.MessageKind]calendar.Method{
		store.KindConfirmed: "REQUEST", store.KindMoved: "REQUEST", store.KindChanged: "REQUEST", store.KindCancelled: "CANCEL", store.KindSlotCancelled: "CANCEL", store.KindMyLinks: "PUBLISH",
	} {
		l := storeLetter(t, kind, "ja")
		m, _ := fixedWriter(t).Write(l)
		_, parts := take(t, rawOf(t, m))
		file := parts[len(parts)-1]
		if file.file != "invite.ics" || file.params["name"] != "invite.ics" || m.Method != want {
			t.Errorf("%s: the file is %+v, the method %s", kind, file, m.Method)
		}
		if kind != store.KindMyLinks {
			if part := parts[2]; part.params["method"] != string(want) || part.body != file.body {
				t.Errorf("%s: the part is %v, or differs from the file", kind, part.params)
			}
		}
		cal, err := ics.ParseCalendar(strings.NewReader(file.body))
		if err != nil || len(cal.Events()) != 1 || cal.Events()[0].Id() != calendar.UID("22222222-2222-4222-8222-222222222222") {
			t.Fatalf("%s: %v", kind, err)
		}
		if starts, err := cal.Events()[0].GetStartAt(); err != nil || !starts.Equal(time.Date(2026, 10, 8, 9, 30, 0, 0, time.UTC)) {
			t.Errorf("%s starts at %v %v", kind, starts, err)
		}
		if strings.Contains(file.body, "proof") {
			t.Errorf("%s: a calendar, which people share, holds the proof of an address", kind)
		}
	}
	// What has moved on since is said by a later message, and not by this one.
	for name, l := range map[string]store.Letter{
		"cancelled, then restored":    storeLetter(t, store.KindCancelled, "ja"),
		"confirmed, then cancelled":   storeLetter(t, store.KindConfirmed, "ja"),
		"moved away since it was so":  storeLetter(t, store.KindMoved, "ja"),
		"a mail to another's address": storeLetter(t, store.KindConfirmEmail, "ja"),
	} {
		switch name {
		case "cancelled, then restored":
			l.Reservation.State = store.Confirmed
		case "confirmed, then cancelled":
			l.Reservation.State = store.Cancelled
		case "moved away since it was so":
			l.Reservation.SlotID = "44444444-4444-4444-8444-444444444444"
		}
		if m, _ := fixedWriter(t).Write(l); m.Calendar != "" {
			t.Errorf("%s: a calendar goes along\n%s", name, m.Calendar)
		}
	}
	waiting := storeLetter(t, store.KindSlotCancelled, "ja")
	waiting.Entry, waiting.Reservation = &store.Entry{Email: "guest@example.com"}, nil
	if m, _ := fixedWriter(t).Write(waiting); m.Calendar != "" {
		t.Error("somebody who waits is told that an appointment ends")
	}
}

var typedNames = []string{
	"髙橋 𠮷郎 👩‍👩‍👧", "Zoë <Z> & Co", `O'Neil "the \ Q"`, "محمد O’Neil", "", strings.Repeat("長い名前", 60), "a\r\nBcc: evil@example.com", "a\x00b\u2028c", "=?utf-8?q?tricky?=", "Doe, Jane; (x) <evil@example.com>", "\xff\xfe",
	strings.Repeat("x", 2000), "a\u202eb",
}

func TestNamesArriveInHeadersAndBreakNothing(t *testing.T) {
	t.Parallel()
	for _, typed := range typedNames {
		m := sample("guest@example.com")
		m.FromName, m.ToName, m.Subject, m.Text = typed, typed, "S "+typed, typed+"\r\n.\r\nx\n"
		if strings.ToValidUTF8(typed, "") != typed {
			m.Text = "x"
		}
		raw, err := m.raw()
		if err != nil {
			t.Errorf("%q: %v", typed, err)
			continue
		}
		header, _ := take(t, raw)
		clean := headerText(typed)
		if header.Get("Bcc") != "" {
			t.Errorf("%q made a header of its own", typed)
		}
		for _, name := range []string{"From", "To"} {
			list, err := header.AddressList(name)
			if err != nil || len(list) != 1 || list[0].Name != clean && !strings.HasPrefix(clean, "=?") {
				t.Errorf("%s of %q is %v %v", name, typed, list, err)
			}
		}
		if got := decoded(t, header.Get("Subject")); got != headerText("S "+typed) && !strings.HasPrefix(clean, "=?") {
			t.Errorf("the subject of %q is %q", typed, got)
		}
		for word := range strings.FieldsSeq(header.Get("Subject")) {
			if strings.HasPrefix(word, "=?") && len(word) > 75 {
				t.Errorf("an encoded word of %d bytes: %s", len(word), word)
			}
		}
	}
}

func TestADomainInOtherLettersIsReachedByItsASCIIForm(t *testing.T) {
	t.Parallel()
	server := startMail(t)
	for address, want := range map[string]string{
		"guest@日本語.example": "guest@xn--wgv71a119e.example", "guest@MÜNCHEN.example": "guest@xn--mnchen-3ya.example", "guest@xn--wgv71a119e.example": "guest@xn--wgv71a119e.example",
	} {
		m := sample(address)
		m.ReplyTo = address
		if err := server.transport(t).Send(t.Context(), m); err != nil {
			t.Fatalf("%s: %v", address, err)
		}
		got := server.all()
		last := got[len(got)-1]
		header, _ := take(t, last.raw)
		if last.to != want || header.Get("To") != "<"+want+">" || !strings.Contains(header.Get("Reply-To"), want) {
			t.Errorf("%s is reached as %s, %s", address, last.to, header.Get("To"))
		}
	}
	for _, wrong := range []string{"客@日本語.example", "a@日本\r\n語.example", "a@日本<語.example", "a@-語.example"} {
		if _, err := address(wrong); err == nil {
			t.Errorf("%q is an address", wrong)
		}
	}
}

func TestAReaderIsNamedWhereTheNameMayStand(t *testing.T) {
	t.Parallel()
	name := func(kind store.MessageKind, edit func(*store.Letter)) string {
		l := storeLetter(t, kind, "ja")
		edit(&l)
		m, _ := fixedWriter(t).Write(l)
		return m.ToName
	}
	if got := name(store.KindConfirmed, func(*store.Letter) {}); got != "髙橋 𠮷郎 👩‍👩‍👧" {
		t.Errorf("to %q", got)
	}
	if got := name(store.KindConfirmed, func(l *store.Letter) { l.Reservation.Name = "You won https://evil.example" }); got != "" {
		t.Errorf("a stranger's link stands in a header: %q", got)
	}
	if got := name(store.KindConfirmEmail, func(*store.Letter) {}); got != "" {
		t.Errorf("an address that may be a stranger's learns %q", got)
	}
}

func TestEveryLinkOfTheHTMLIsOneOfTheText(t *testing.T) {
	t.Parallel()
	links := regexp.MustCompile(`href="([^"]+)"`)
	for _, kind := range store.MessageKinds {
		m, _ := fixedWriter(t).Write(storeLetter(t, kind, "en"))
		for _, found := range links.FindAllStringSubmatch(m.HTML, -1) {
			if link := strings.ReplaceAll(found[1], "&amp;", "&"); !strings.Contains(m.Text, "\n"+link+"\n") {
				t.Errorf("%s: only the HTML leads to %s", kind, link)
			}
		}
		if m.HTML == "" || mail.Kind(kind) == "" {
			t.Errorf("%s has no HTML", kind)
		}
	}
}

func FuzzARawMessageStaysWhole(f *testing.F) {
	for _, name := range typedNames {
		f.Add(name, name)
	}
	f.Fuzz(func(t *testing.T, name, subject string) {
		m := sample("guest@example.com")
		m.FromName, m.ToName, m.Subject, m.Unsubscribe = name, name, subject, "https://reserve.example/x"
		raw, err := m.raw()
		if err != nil {
			t.Fatal(err)
		}
		msg, err := netmail.ReadMessage(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%v\n%s", err, raw)
		}
		for header := range msg.Header {
			if !slices.Contains([]string{
				"From", "To", "Reply-To", "Subject", "Message-Id", "Date", "Auto-Submitted", "Mime-Version", "Content-Type", "Content-Transfer-Encoding", "Content-Language", "List-Unsubscribe",
			}, header) {
				t.Fatalf("the header %s\n%s", header, raw)
			}
		}
	})
}
