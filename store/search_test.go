package store_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"holdfast/store"
	"holdfast/store/storetest/seed"
	"holdfast/store/storetest/shop"
)

// booked makes a booking with a contact.
func bookedAs(t *testing.T, s *shop.Shop, slot store.Slot, c store.Contact) store.Reservation {
	t.Helper()
	req := s.ConfirmRequest(s.Hold(t, slot, 1))
	c.Locale = "ja"
	req.Contact = c
	r, err := s.Store.Confirm(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSearchFindsHalfTypedInAnyWritingAndWidth(t *testing.T) {
	t.Parallel()
	s := shop.New(t, func(p *store.Policies) { p.OnePerPerson, p.HoldsPerVisitor = false, 100 })
	slot := s.Slot(t, 20)
	sato := bookedAs(t, s, slot, store.Contact{Name: "佐藤 花子", Kana: "サトウ ハナコ", Email: "Hanako.Sato@example.com", Phone: "+819012345678"})
	tall := bookedAs(t, s, slot, store.Contact{Name: "髙橋 陽菜", Kana: "タカハシ ヒナ", Email: "hina@example.org", Phone: "+81312340987"})
	forest := bookedAs(t, s, slot, store.Contact{Name: "林 誠", Kana: "ハヤシ マコト", Phone: "+12125550123"})
	irish := bookedAs(t, s, slot, store.Contact{Name: "Zoë O’Neil-Smith", Email: "zoe@example.net"})
	wide := bookedAs(t, s, slot, store.Contact{Name: "ﾔﾏﾀﾞ 太郎", Email: "y5@example.net"})
	all := []store.Reservation{sato, tall, forest, irish, wide}
	for _, c := range []struct {
		typed string
		want  store.Reservation
	}{
		{"佐藤", sato},
		{"佐藤花子", sato},
		{"佐藤 花子", sato},
		{"佐藤　花子", sato},
		{"花子 佐藤", sato},
		{"藤花", sato},
		{"さとう", sato},
		{"ｻﾄｳ", sato},
		{"サトウハナ", sato},
		{"hanako", sato},
		{"HANAKO.S", sato},
		{"ｈａｎａｋｏ", sato},
		{"hanako.sato@example.com", sato},
		{"hanako.sato@exam", sato},
		{"5678", sato},
		{"５６７８", sato},
		{"090-1234-5678", sato},
		{"090 1234 5678", sato},
		{"09012345", sato},
		{"+81 (0)90-1234-5678", sato},
		{"0081 90 1234", sato},
		{"０９０ー１２３４ー５６７８", sato},
		{"佐藤 5678", sato},
		{"高橋", tall},
		{"髙橋陽", tall},
		{"03-1234", tall},
		{"0987", tall},
		{"(03) 1234-0987", tall},
		{"林", forest},
		{"はや", forest},
		{"(212) 555-0123", forest},
		{"0123", forest},
		{"oneil", irish},
		{"O'Neil", irish},
		{"neil smith", irish},
		{"zoe@", irish},
		{"山田", store.Reservation{}},
		{"ヤマダ", wide},
		{"やまだ太郎", wide},
		{"y5", wide},
	} {
		found, err := s.Store.Search(t.Context(), s.Tenant.ID, c.typed)
		switch {
		case err != nil:
			t.Errorf("%q: %v", c.typed, err)
		case c.want.ID == "" && len(found) > 0, c.want.ID != "" && (len(found) != 1 || found[0].ID != c.want.ID):
			var names []string
			for _, r := range found {
				names = append(names, r.Name)
			}
			t.Errorf("%q finds %q, want %q", c.typed, names, c.want.Name)
		}
	}
	for _, r := range all {
		for _, typed := range []string{r.Number, strings.ToLower(r.Number), r.Number[:4], " " + r.Number[:3] + "-" + r.Number[3:], strings.ReplaceAll(r.Number, "L", "1"), strings.ReplaceAll(r.Number, "Q", "0")} {
			found, err := s.Store.Search(t.Context(), s.Tenant.ID, typed)
			if err != nil || len(found) == 0 || found[0].Number[:3] != r.Number[:3] {
				t.Errorf("number %s by %q: %v %v", r.Number, typed, found, err)
			}
			if byNumber, err := s.Store.ReservationByNumber(t.Context(), s.Tenant.ID, typed); len(typed) >= 7 && (err != nil || byNumber.ID != r.ID) {
				t.Errorf("number %s by %q: %v %v", r.Number, typed, byNumber.Number, err)
			}
		}
	}
	for _, typed := range []string{"example.com", "@example.com", "%", "_", `\`, "'", "nobody", "", "   ", "9", "12345678901234567890", strings.Repeat("佐", 100), "\x00"} {
		if found, err := s.Store.Search(t.Context(), s.Tenant.ID, typed); err != nil || len(found) > 0 {
			t.Errorf("%q: %v %v", typed, found, err)
		}
	}
}

func TestSearchShowsTheNearestToComeFirstAndAllStates(t *testing.T) {
	t.Parallel()
	s := shop.New(t, func(p *store.Policies) { p.OnePerPerson = false })
	person := store.Contact{Name: "渡邉 恵", Kana: "ワタナベ メグミ", Email: "megumi@example.com"}
	late := bookedAs(t, s, s.SlotAt(t, 3, s.Start.Add(48*time.Hour)), person)
	soon := bookedAs(t, s, s.SlotAt(t, 3, s.Start), person)
	mid := bookedAs(t, s, s.SlotAt(t, 3, s.Start.Add(24*time.Hour)), person)
	gone := bookedAs(t, s, s.SlotAt(t, 3, s.Start.Add(2*time.Hour)), person)
	s.Cancel(t, gone)
	past := bookedAs(t, s, s.SlotAt(t, 3, s.Start.Add(4*time.Hour)), person)
	s.Exec(t, "UPDATE slots SET starts_at = now() - interval '3 hours', ends_at = now() - interval '2 hours' WHERE id = $1", past.SlotID)
	found, err := s.Store.Search(t.Context(), s.Tenant.ID, "渡辺")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range found {
		got = append(got, r.ID)
	}
	if want := []string{soon.ID, mid.ID, late.ID, gone.ID, past.ID}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found %v, want %v", got, want)
	}
	if other, err := s.Store.Search(t.Context(), s.AddTenant(t, "other", nil).ID, "渡辺"); err != nil || len(other) > 0 {
		t.Errorf("another tenant finds %v %v", other, err)
	}
	s.Exec(t, "UPDATE reservations SET name = '', kana = '', email = '', phone = '', erased_at = now() WHERE id = $1", soon.ID)
	if found, err = s.Store.Search(t.Context(), s.Tenant.ID, "渡辺"); err != nil || len(found) != 4 {
		t.Errorf("an erased contact is found: %d %v", len(found), err)
	}
}

func TestSearchFindsWhoWaits(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	slot := s.Slot(t, 1)
	s.Book(t, slot, 1)
	req := s.JoinRequest(slot, 1)
	req.Contact.Name, req.Contact.Kana = "林 葵", "ハヤシ アオイ"
	e, err := s.Store.Join(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	for _, typed := range []string{"林", "はやしあおい", "5678", e.Email} {
		found, err := s.Store.SearchEntries(t.Context(), s.Tenant.ID, typed)
		if err != nil || len(found) != 1 || found[0].ID != e.ID {
			t.Errorf("%q: %v %v", typed, found, err)
		}
	}
	if _, err := s.Store.Withdraw(t.Context(), store.Press{TenantID: e.TenantID, ID: e.ID, Actor: shop.Customer}); err != nil {
		t.Fatal(err)
	}
	if found, err := s.Store.SearchEntries(t.Context(), s.Tenant.ID, "林"); err != nil || len(found) > 0 {
		t.Errorf("who has left is found: %v %v", found, err)
	}
}

var scansWhole = regexp.MustCompile(`Seq Scan on (slots|reservations|waitlist_entries|outbox|events)\b`)

// TestHotStatementsReadNoTableAsAWhole: with the statistics of a busy business, no
// statement of the search, the check-in and the exports goes through a big table.
func TestHotStatementsReadNoTableAsAWhole(t *testing.T) {
	t.Parallel()
	s := shop.New(t, nil)
	seed.Fill(t, s, seed.Small, s.Start)
	conn := s.Conn(t)
	plan := func(sql string, args pgx.StrictNamedArgs) string {
		t.Helper()
		rows, err := conn.Query(t.Context(), "EXPLAIN "+sql, args)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(lines, "\n")
	}
	all := statements(t)
	none := []string{}
	for _, c := range []struct {
		name, constant string
		args           pgx.StrictNamedArgs
	}{
		{"a name", "searchSQL", pgx.StrictNamedArgs{"words": []string{"佐藤花子"}, "phones": none, "likes": none, "numbers": none, "length": 7}},
		{"four digits", "searchSQL", pgx.StrictNamedArgs{"words": none, "phones": []string{"5678"}, "likes": []string{"%5678"}, "numbers": none, "length": 7}},
		{"a number", "searchSQL", pgx.StrictNamedArgs{"words": none, "phones": none, "likes": none, "numbers": []string{"WX2345"}, "length": 7}},
		{"who waits", "searchEntriesSQL", pgx.StrictNamedArgs{"words": []string{"佐藤花子"}, "phones": none, "likes": none}},
		{"check-in", "byNumberSQL", pgx.StrictNamedArgs{"numbers": []string{"WX23456"}}},
		{"the others of a person", "samePersonSQL", pgx.StrictNamedArgs{"id": s.Tenant.ID, "from": s.Start, "to": s.Start.Add(24 * time.Hour), "email": "hanako.sato7@example.com", "group": ""}},
	} {
		sql := all[c.constant]
		args := pgx.StrictNamedArgs{}
		for _, match := range argument.FindAllStringSubmatch(sql, -1) {
			args[match[1]] = nil
		}
		args["tenant"] = s.Tenant.ID
		if _, has := args["limit"]; has {
			args["limit"] = 50
		}
		for name, value := range c.args {
			args[name] = value
		}
		if got := plan(sql, args); scansWhole.MatchString(got) {
			t.Errorf("%s:\n%s", c.name, got)
		}
	}
}
