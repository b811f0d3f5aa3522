package worker

import (
	"slices"
	"strings"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
	"holdfast/views/mail"
)

func TestEachKindOfMessageHasAText(t *testing.T) {
	t.Parallel()
	var kinds []mail.Kind
	for _, kind := range store.MessageKinds {
		kinds = append(kinds, mail.Kind(kind))
	}
	slices.Sort(kinds)
	if texts := slices.Sorted(slices.Values(mail.Kinds)); !slices.Equal(kinds, texts) {
		t.Errorf("the store writes %v\nthere are texts for %v", kinds, texts)
	}
}

// Every step that tells somebody, through the real store: each message is
// written in the words of its kind, and its links open what they speak of.
func TestWhatTheStepsWriteBecomesALetter(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	now, err := s.Store.Now(ctx)
	must(err)
	links := 0
	soon := func(in time.Duration) store.Slot { return s.SlotAt(t, 1, now.Add(in).Truncate(time.Second)) }

	byStaff := func(r store.Reservation) {
		t.Helper()
		_, err := s.Store.Cancel(ctx, store.CancelRequest{TenantID: r.TenantID, IDs: []string{r.ID}, Actor: shop.Staff, Reason: "電話でのご依頼"})
		must(err)
	}
	member, err := s.Store.AddStaff(ctx, store.NewStaff{TenantID: s.Tenant.ID, Email: "owner@example.com", Role: store.RoleOwner, Locale: "ja", PasswordHash: "old"})
	must(err)
	_, err = s.Store.Invite(ctx, store.NewInvitation{TenantID: s.Tenant.ID, Email: "new@example.com", Role: store.RoleDesk, Locale: "en", InvitedBy: "店長"})
	must(err)
	must(s.Store.ChangePassword(ctx, store.PasswordChange{StaffID: member.ID, Was: "old", Hash: "new", Locale: "ja"}))
	must(s.Store.RequestReset(ctx, "owner@example.com", "ja"))

	lapsing := s.Slot(t, 1)
	first := s.Book(t, lapsing, 1)
	late := s.Join(t, lapsing, 1)
	byStaff(first)
	s.Exec(t, "UPDATE waitlist_entries SET shown_until = now() - interval '6 minutes', expires_at = now() - interval '1 minute' WHERE tenant_id = $1 AND id = $2", late.TenantID, late.ID)

	revoked := s.Slot(t, 1)
	second := s.Book(t, revoked, 1)
	entry := s.Join(t, revoked, 1)
	s.Cancel(t, second)
	_, err = s.Store.Revoke(ctx, store.EntryRequest{TenantID: entry.TenantID, ID: entry.ID, Reason: "設備の点検", Actor: shop.Staff})
	must(err)
	removed := s.Slot(t, 1)
	s.Book(t, removed, 1)
	off := s.Join(t, removed, 1)
	_, err = s.Store.RemoveEntry(ctx, store.EntryRequest{TenantID: off.TenantID, ID: off.ID, Reason: "ご本人のご希望", Actor: shop.Staff})
	must(err)

	from, to := s.Slot(t, 1), s.Slot(t, 1)
	moved := s.Book(t, from, 1)
	_, err = s.Store.Move(ctx, store.MoveRequest{TenantID: moved.TenantID, ID: moved.ID, TargetSlot: to.ID, TargetTerms: to.TermsVersion, Actor: shop.Customer})
	must(err)
	changing := s.Slot(t, 1)
	s.Book(t, changing, 1)
	_, err = s.Store.ChangeTerms(ctx, store.TermsRequest{
		TenantID: changing.TenantID, SlotID: changing.ID, StartsAt: changing.StartsAt.Add(24 * time.Hour), EndsAt: changing.EndsAt.Add(24 * time.Hour),
		ServiceID: changing.ServiceID, ResourceID: changing.ResourceID, Reason: "講師の都合", Actor: shop.Staff,
	})
	must(err)
	called := s.Slot(t, 1)
	s.Book(t, called, 1)
	s.Join(t, called, 1)
	_, err = s.Store.CancelSlot(ctx, store.SlotRequest{TenantID: called.TenantID, SlotID: called.ID, Reason: "台風のため", Actor: shop.Staff})
	must(err)

	broadcast := soon(2 * time.Hour)
	third := s.Book(t, broadcast, 1)
	s.Join(t, broadcast, 1)
	byStaff(third)
	reminded := s.Book(t, soon(20*time.Hour), 1)
	// Booked before the reminder was due.
	s.Exec(t, "UPDATE reservations SET confirmed_at = now() - interval '10 days' WHERE tenant_id = $1 AND id = $2", reminded.TenantID, reminded.ID)
	_, err = s.Store.Sweep(ctx)
	must(err)
	offering := s.Slot(t, 1)
	fourth := s.Book(t, offering, 1)
	s.Join(t, offering, 1)
	s.Cancel(t, fourth)
	renamed := s.Book(t, s.Slot(t, 2), 1)
	for _, to := range []string{"new@example.com", "newer@example.com"} {
		contact := s.Person()
		contact.Email = to
		asked, err := s.Store.CorrectContact(ctx, store.ContactRequest{TenantID: renamed.TenantID, ID: renamed.ID, Contact: contact, Actor: shop.Customer})
		must(err)
		if to == "new@example.com" {
			_, err = s.Store.ConfirmEmail(ctx, renamed.TenantID, s.Store.EmailToken(asked), shop.Customer)
			must(err)
		}
	}
	must(s.Store.SendMyLinks(ctx, s.Tenant.ID, reminded.Email, "en"))
	noticed := s.Slot(t, 1)
	s.Book(t, noticed, 1)
	_, err = s.Store.SendNotice(ctx, store.NoticeRequest{
		TenantID: noticed.TenantID, SlotID: noticed.ID, Booked: true, Fallback: "ja", Key: "k", Actor: shop.Staff,
		Texts: map[string]store.NoticeText{"ja": {Subject: "駐車場について", Text: "当日は駐車場をご利用いただけません。"}},
	})
	must(err)

	writer := writerOf(t, s.Store)
	all, err := s.Store.Messages(ctx, store.MessageQuery{TenantID: s.Tenant.ID, Limit: 500})
	must(err)
	seen := map[store.MessageKind]int{}
	for _, m := range all {
		l, err := s.Store.Letter(ctx, m)
		must(err)
		mail, ok := writer.Write(l)
		if !ok {
			t.Errorf("%s has no text", m.Kind)
			continue
		}
		if l.Pointless {
			continue
		}
		seen[m.Kind]++
		whole := mail.Subject + "\n" + mail.Text
		for _, fault := range []string{"[[", "{", "0001", "http://", "<nil>"} {
			if strings.Contains(whole, fault) {
				t.Errorf("%s: %q stands in\n%s", m.Kind, fault, whole)
			}
		}
		if m.Kind != store.KindMyLinks && !m.Kind.ToStaff() && (!strings.Contains(mail.Text, "朝のヨガ") || !strings.Contains(mail.Text, "03-1234-5678")) {
			t.Errorf("%s does not say what it is about, or whom to call:\n%s", m.Kind, mail.Text)
		}
		owns := l.Reservation == nil && l.Entry == nil || l.Reservation != nil && store.PersonKey(l.Reservation.Email) == store.PersonKey(m.Recipient) ||
			l.Entry != nil && store.PersonKey(l.Entry.Email) == store.PersonKey(m.Recipient)
		links += opens(t, s, mail.Text, owns)
	}
	for _, kind := range store.MessageKinds {
		if seen[kind] == 0 {
			t.Errorf("no step wrote %s", kind)
		}
	}
	if links == 0 {
		t.Error("no link was found")
	}
	for _, reason := range []string{"電話でのご依頼", "設備の点検", "ご本人のご希望", "講師の都合", "台風のため"} {
		found := false
		for _, m := range all {
			l, err := s.Store.Letter(ctx, m)
			must(err)
			mail, _ := writer.Write(l)
			found = found || strings.Contains(mail.Text, "理由："+reason)
		}
		if !found {
			t.Errorf("nobody is told the reason %s", reason)
		}
	}
}

// opens opens every secret link of a text, and counts them. In a mail to the
// address of its subject each carries the proof of it, and nowhere else.
func opens(t *testing.T, s *shop.Shop, text string, recipientOwns bool) int {
	t.Helper()
	opened := 0
	for line := range strings.SplitSeq(text, "\n") {
		path, isLink := strings.CutPrefix(line, "https://reserve.example/shop/")
		if !isLink {
			continue
		}
		where, token, _ := strings.Cut(path, "/")
		token, proof, proven := strings.Cut(token, "?"+views.FieldProof+"=")
		var err error
		holds := true
		switch where {
		case "reservations":
			var r store.Reservation
			r, err = s.Store.ReservationByToken(t.Context(), s.Tenant.ID, token)
			holds = s.Store.ReservationProven(r, proof)
		case "waitlist":
			var e store.Entry
			e, err = s.Store.EntryByToken(t.Context(), s.Tenant.ID, token)
			holds = s.Store.EntryProven(e, proof)
		case "offers":
			var e store.Entry
			e, err = s.Store.OfferByToken(t.Context(), s.Tenant.ID, token)
			holds = s.Store.EntryProven(e, proof)
		case "email-changes":
			_, err = s.Store.ReservationByEmailToken(t.Context(), s.Tenant.ID, token)
		case "my-reservations":
			continue
		default:
			t.Errorf("an unknown link: %s", line)
		}
		if err != nil {
			t.Errorf("%s opens nothing: %v", line, err)
		}
		// What a mail to another address than the booking's own says is no proof of that one.
		if proven && !holds || !proven && where != "email-changes" && recipientOwns {
			t.Errorf("%s: proof of the address: %v, holds: %v", line, proven, holds)
		}
		opened++
	}
	return opened
}
