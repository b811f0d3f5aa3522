package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"holdfast/migrations"
	"holdfast/store"
	"holdfast/web"
)

const (
	demoSlug  = "demo"
	demoOwner = "owner@demo.example"
	demoDesk  = "desk@demo.example"
	demoZone  = "Asia/Tokyo"
	// The demo shows two days that have been and three weeks to come.
	demoDaysBack, demoDaysAhead = 2, 21
	// On one of them, this many days from today, it is closed.
	demoClosedDay = 11
)

// demo fills the demo tenant, once; with --reset it is deleted first. It never
// touches another tenant.
func (p *program) demo(ctx context.Context, args []string) error {
	var reset bool
	if err := p.flags("demo", args, func(f *flag.FlagSet) {
		f.BoolVar(&reset, "reset", false, "delete the demo tenant first, with all that is in it")
	}); err != nil {
		return err
	}
	c, err := p.configure()
	if err != nil {
		return err
	}
	if c.DatabaseURL == "" {
		// On its own database the demo may be the first thing that anybody does.
		server, err := p.openPrivate(ctx, c)
		if err != nil {
			return err
		}
		_, err = migrations.Up(ctx, server.DSN(databaseName))
		if err = errors.Join(err, stopPrivate(server)); err != nil {
			return err
		}
	}
	return p.work(ctx, func(ctx context.Context, c config, d *database) error {
		password, err := p.fillDemo(ctx, c, d.store, reset)
		if err != nil {
			return outcome(err, "demo tenant")
		}
		fmt.Fprintf(p.stdout, "customer: %s/%s\nstaff: %s/staff\nsign-in: %s %s\n", c.PublicURL.url, demoSlug, c.PublicURL.url, demoOwner, password)
		return nil
	})
}

// fillDemo makes sure that the demo is there and gives the password of its
// staff. Where the demo stands, it is left as people have changed it.
func (p *program) fillDemo(ctx context.Context, c config, s *store.Store, reset bool) (string, error) {
	password, err := c.demoPassword()
	if err != nil {
		return "", err
	}
	unlock, err := lockFile(filepath.Join(c.DataDir, "demo-lock"))
	if err != nil {
		return "", fmt.Errorf("fill the demo: %w", err)
	}
	defer unlock()
	t, err := s.TenantBySlug(ctx, demoSlug)
	switch {
	case err == nil:
		whole, checked := demoIsWhole(ctx, s, t)
		if checked != nil {
			return "", checked
		}
		if whole && !reset {
			return password, setDemoPassword(ctx, s, password)
		}
		// Left half made by a process that was killed, or to be made anew.
		if err := s.DeleteTenant(ctx, t.ID); err != nil {
			return "", fmt.Errorf("delete the demo: %w", err)
		}
	case !errors.Is(err, store.NotFound):
		return "", err
	}
	began := time.Now()
	if err := makeDemo(ctx, s, password); err != nil {
		return "", fmt.Errorf("fill the demo: %w", err)
	}
	p.log.InfoContext(ctx, "the demo is filled", "took", time.Since(began).Round(time.Millisecond).String())
	return password, nil
}

// demoIsWhole reports whether the demo was made to its end: its staff come last.
func demoIsWhole(ctx context.Context, s *store.Store, t store.Tenant) (bool, error) {
	owner, err := s.StaffByEmail(ctx, demoOwner)
	if err == nil {
		_, err = s.Membership(ctx, t.ID, owner.ID)
	}
	if errors.Is(err, store.NotFound) {
		return false, nil
	}
	return err == nil, err
}

// setDemoPassword makes the kept password the one that opens the demo, also
// where the file was lost and made anew.
func setDemoPassword(ctx context.Context, s *store.Store, password string) error {
	for _, email := range []string{demoOwner, demoDesk} {
		staff, err := s.StaffByEmail(ctx, email)
		if errors.Is(err, store.NotFound) {
			continue
		}
		if err != nil {
			return err
		}
		same, err := matchesPassword(password, staff.PasswordHash)
		if err != nil || same {
			return err
		}
		hash, err := web.HashPassword(ctx, password)
		if err != nil {
			return err
		}
		if err := s.SetPasswordHash(ctx, staff.ID, hash); err != nil {
			return err
		}
	}
	return nil
}

// demoMaker fills the demo through the steps that everybody uses, so that its
// history is a real one and the invariants hold.
type demoMaker struct {
	s      *store.Store
	tenant store.Tenant
	zone   *time.Location
	now    time.Time
	staff  store.Actor

	yoga, talk, fair store.Service
	studioA, studioB store.Resource
	room             store.Resource
	people           int // how many of demoPeople are given out
}

func makeDemo(ctx context.Context, s *store.Store, password string) error {
	zone, err := time.LoadLocation(demoZone)
	if err != nil {
		return err
	}
	d := &demoMaker{s: s, zone: zone, staff: store.Actor{Kind: store.Staff}}
	if d.now, err = s.Now(ctx); err != nil {
		return err
	}
	if d.tenant, err = s.AddTenant(ctx, store.Tenant{
		Slug: demoSlug, Name: "スタジオ つむぎ", TimeZone: demoZone, Locale: "ja", Email: "hello@tsumugi.example", Phone: "+81355550123",
		Address: "東京都港区見本町1-2-3 つむぎビル2階", Overrides: []byte(`{"quiet": null}`),
		PrivacyURL: "https://tsumugi.example/privacy", PrivacyVersion: "2026-04", LegalURL: "https://tsumugi.example/legal",
	}); err != nil {
		return err
	}
	// It has decided what a shop decides before its first booking: nothing asks for that.
	if _, err := s.SetPolicies(ctx, store.PolicyChange{
		TenantID: d.tenant.ID, Overrides: d.tenant.Overrides, Setup: &store.Setup{Trade: "studio", CallRule: store.CallWaitlist}, Actor: store.Actor{Kind: store.System},
	}); err != nil {
		return err
	}
	if err := d.offer(ctx); err != nil {
		return err
	}
	if err := d.hangPicture(ctx); err != nil {
		return err
	}
	if err := d.calendar(ctx); err != nil {
		return err
	}
	if _, err := s.AddClosedDay(ctx, store.ClosedDay{
		TenantID: d.tenant.ID, Day: d.at(demoClosedDay, 0, 0).Format(time.DateOnly),
		Note: store.Text{"ja": "設備の点検のため、お休みします。", "en": "We are closed for maintenance."},
	}); err != nil {
		return err
	}
	hash, err := web.HashPassword(ctx, password)
	if err != nil {
		return err
	}
	for _, n := range []store.NewStaff{
		{TenantID: d.tenant.ID, Email: demoDesk, Name: "受付 なぎさ", Role: store.RoleDesk, PasswordHash: hash},
		{TenantID: d.tenant.ID, Email: demoOwner, Name: "店長 はるか", Role: store.RoleOwner, PasswordHash: hash},
	} {
		if _, err := s.AddStaff(ctx, n); err != nil {
			return err
		}
	}
	// Somebody who stayed from a demo before keeps the old password otherwise.
	return setDemoPassword(ctx, s, password)
}

// offer makes the services and the resources.
func (d *demoMaker) offer(ctx context.Context) (err error) {
	for _, sv := range []struct {
		into *store.Service
		made store.Service
	}{
		{&d.yoga, store.Service{
			Slug: "yoga", Duration: time.Hour, Capacity: 8,
			Name:        store.Text{"ja": "やさしいヨガ", "en": "Gentle yoga"},
			Description: store.Text{"ja": "呼吸に合わせて、ゆっくり体をほぐします。初めての方もどうぞ。", "en": "Slow stretches in time with your breath. Beginners are welcome."},
			Price:       store.Text{"ja": "2,200円（税込・当日払い）", "en": "2,200 yen, tax included, paid on the day"},
			Place:       store.Text{"ja": "つむぎビル2階。入口でスリッパにお履き替えください。", "en": "2nd floor of the Tsumugi building. Please change into slippers at the door."},
			Bring:       store.Text{"ja": "動きやすい服、飲み物。マットはお貸しします。", "en": "Clothes you can move in and something to drink. We lend you a mat."},
		}},
		{&d.talk, store.Service{
			Slug: "soudan", Duration: 45 * time.Minute, Capacity: 1,
			Name:        store.Text{"ja": "からだの相談室", "en": "One-to-one consultation"},
			Description: store.Text{"ja": "肩や腰の悩みを、指導員が一人ずつ伺います。", "en": "Tell an instructor about your shoulders or your back, just the two of you."},
			Price:       store.Text{"ja": "無料", "en": "Free of charge"},
			Place:       store.Text{"ja": "つむぎビル2階 相談室", "en": "Consultation room, 2nd floor of the Tsumugi building"},
			Bring:       store.Text{"ja": "お薬手帳をお持ちの方はご持参ください。", "en": "If you keep a record of your medicines, please bring it."},
			Overrides:   []byte(`{"partyMax": 1, "slotsTogether": 2}`),
		}},
		{&d.fair, store.Service{
			Slug: "fair", Duration: 2 * time.Hour, Capacity: 12,
			Name:        store.Text{"ja": "小さな結婚式 見学と試食の会", "en": "Small weddings: a look around and a tasting"},
			Description: store.Text{"ja": "会場の見学、料理の試食、見積もりの相談まで、まとめてご案内します。", "en": "See the room, taste the menu and talk about costs, all in one visit."},
			Price:       store.Text{"ja": "お一人 1,000円（試食代）", "en": "1,000 yen a person, for the tasting"},
			Place:       store.Text{"ja": "つむぎビル3階 ホール", "en": "The hall, 3rd floor of the Tsumugi building"},
			Bring:       store.Text{"ja": "筆記用具", "en": "Something to write with"},
			Overrides:   []byte(`{"bookingOpens": "240h", "cancelBefore": "48h", "fit": "strict"}`),
			Questions: []store.Question{
				{
					ID: "guests", Kind: store.QuestionChoice, Required: true, OnJoin: true,
					Label: store.Text{"ja": "お考えの人数", "en": "How many guests do you have in mind?"},
					Options: []store.QuestionOption{
						{ID: "up_to_10", Label: store.Text{"ja": "10名まで", "en": "Up to 10"}},
						{ID: "up_to_30", Label: store.Text{"ja": "11〜30名", "en": "11 to 30"}},
						{ID: "undecided", Label: store.Text{"ja": "まだ決めていない", "en": "Not decided yet"}},
					},
				},
				{
					ID: "photographs", Kind: store.QuestionConsent,
					Label: store.Text{"ja": "当日の写真に写ってもかまいません", "en": "I may be seen in photographs of the day"},
					Hint:  store.Text{"ja": "お店の紹介に使うことがあります。お断りになっても、ご予約に差し支えはありません。", "en": "We may use them to present the venue. You are just as welcome if you would rather not."},
				},
			},
		}},
	} {
		sv.made.TenantID, sv.made.Active = d.tenant.ID, true
		if *sv.into, err = d.s.AddService(ctx, sv.made); err != nil {
			return err
		}
	}
	for _, r := range []struct {
		into *store.Resource
		made store.Resource
	}{
		{&d.studioA, store.Resource{Slug: "studio-a", Name: store.Text{"ja": "スタジオA", "en": "Studio A"}}},
		{&d.studioB, store.Resource{Slug: "hall", Name: store.Text{"ja": "3階ホール", "en": "The hall"}}},
		{&d.room, store.Resource{Slug: "room", Name: store.Text{"ja": "相談室", "en": "Consultation room"}}},
	} {
		r.made.TenantID = d.tenant.ID
		if *r.into, err = d.s.AddResource(ctx, r.made); err != nil {
			return err
		}
	}
	return nil
}

// at is a time of day at the venue, so many days from today.
func (d *demoMaker) at(day, hour, minute int) time.Time {
	y, m, today := d.now.In(d.zone).Date()
	return time.Date(y, m, today+day, hour, minute, 0, 0, d.zone)
}

// demoScene is a slot with what has happened in it.
type demoScene struct {
	slot    store.NewSlot
	parties []int // booked
	waiting []int // on the waitlist, in order
	after   func(context.Context, store.Slot) error
}

// calendar makes the slots and lets people book.
func (d *demoMaker) calendar(ctx context.Context) error {
	random := rand.New(rand.NewPCG(1, 2)) // the same demo everywhere
	var scenes []demoScene
	for day := -demoDaysBack; day <= demoDaysAhead; day++ {
		if day == demoClosedDay {
			continue
		}
		weekday := d.at(day, 12, 0).Weekday()
		for _, clock := range [][2]int{{7, 30}, {10, 0}, {18, 30}} {
			scenes = append(scenes, d.yogaScene(random, day, clock[0], clock[1]))
		}
		if day >= 1 && weekday != time.Saturday && weekday != time.Sunday {
			// One after the other without a gap: two of them can be taken together.
			for _, clock := range [][2]int{{13, 0}, {13, 45}, {14, 30}} {
				sc := demoScene{slot: store.NewSlot{ServiceID: d.talk.ID, ResourceID: d.room.ID, StartsAt: d.at(day, clock[0], clock[1])}}
				if random.IntN(3) == 0 {
					sc.parties = []int{1}
				}
				scenes = append(scenes, sc)
			}
		}
		if day >= 1 && (weekday == time.Saturday || weekday == time.Sunday) {
			sc := demoScene{slot: store.NewSlot{ServiceID: d.fair.ID, ResourceID: d.studioB.ID, StartsAt: d.at(day, 13, 0)}}
			if day < 9 { // later ones have not opened yet
				sc.parties = []int{2, 2, 3}
			}
			scenes = append(scenes, sc)
		}
	}
	// Starts soon, is full, and somebody waits: seats go to whoever is first.
	soon := d.now.Add(100 * time.Minute).Truncate(15 * time.Minute)
	scenes = append(scenes, demoScene{
		slot: store.NewSlot{ServiceID: d.talk.ID, ResourceID: d.room.ID, StartsAt: soon}, parties: []int{1}, waiting: []int{1},
	})

	wanted := make([]store.NewSlot, 0, len(scenes))
	for _, sc := range scenes {
		wanted = append(wanted, sc.slot)
	}
	made, err := d.s.AddSlots(ctx, d.tenant.ID, wanted)
	if err != nil {
		return err
	}
	type place struct {
		resource string
		start    int64
	}
	byPlace := map[place]store.Slot{}
	for _, slot := range made {
		byPlace[place{slot.ResourceID, slot.StartsAt.Unix()}] = slot
	}
	// Slots know nothing of each other, so they fill side by side.
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(6)
	for _, sc := range scenes {
		slot, ok := byPlace[place{sc.slot.ResourceID, sc.slot.StartsAt.Unix()}]
		if !ok {
			return fmt.Errorf("slot at %s was not made", sc.slot.StartsAt)
		}
		first := d.people
		d.people += len(sc.parties) + len(sc.waiting)
		group.Go(func() error { return d.play(ctx, slot, sc, first) })
	}
	return group.Wait()
}

// yogaScene is a class; some are the ones that the demo is there to show.
func (d *demoMaker) yogaScene(random *rand.Rand, day, hour, minute int) demoScene {
	sc := demoScene{slot: store.NewSlot{ServiceID: d.yoga.ID, ResourceID: d.studioA.ID, StartsAt: d.at(day, hour, minute)}}
	step := func(do func(context.Context, store.SlotRequest) (store.Change, error), reason string) func(context.Context, store.Slot) error {
		return func(ctx context.Context, slot store.Slot) error {
			_, err := do(ctx, store.SlotRequest{TenantID: d.tenant.ID, SlotID: slot.ID, Reason: reason, Actor: d.staff})
			return err
		}
	}
	switch [3]int{day, hour, minute} {
	case [3]int{1, 18, 30}: // full, three parties wait
		sc.parties, sc.waiting = []int{2, 2, 2, 2}, []int{1, 2, 1}
	case [3]int{2, 10, 0}: // full, nobody waits
		sc.slot.Capacity, sc.parties = 1, []int{1}
	case [3]int{2, 18, 30}: // almost full
		sc.parties = []int{2, 1, 2, 1, 1}
	case [3]int{3, 7, 30}: // empty
	case [3]int{3, 10, 0}:
		sc.after = step(d.s.CloseSlot, "講師の調整中")
	case [3]int{4, 18, 30}:
		sc.parties, sc.after = []int{1, 2}, step(d.s.CancelSlot, "設備の点検のため")
	default:
		most := 5
		if day > 7 {
			most = 2 // the further away, the emptier
		}
		for range random.IntN(most) {
			sc.parties = append(sc.parties, 1+random.IntN(2))
		}
	}
	return sc
}

// play lets people come to a slot.
func (d *demoMaker) play(ctx context.Context, slot store.Slot, sc demoScene, person int) error {
	s, past := d.s, false
	if slot.StartsAt.Before(d.now) {
		// What has begun was booked the days before.
		s, past = d.s.At(slot.StartsAt.Add(-30*time.Hour)), true
	}
	for i, party := range sc.parties {
		contact := demoPerson(person)
		person++
		var booked store.Reservation
		var err error
		// Few, so that the mailbox of a newcomer is not full from the start.
		if i == 0 && !past && slot.StartsAt.Before(d.at(3, 0, 0)) {
			booked, err = d.throughTheWeb(ctx, slot, party, contact)
		} else {
			booked, _, err = s.Book(ctx, store.BookRequest{
				TenantID: d.tenant.ID, SlotID: slot.ID, PartySize: party, Contact: contact, Silent: true, Actor: d.staff,
			})
		}
		if err != nil {
			return fmt.Errorf("slot at %s: %w", slot.StartsAt.In(d.zone), err)
		}
		if slot.EndsAt.Before(d.now) {
			attendance := "arrived"
			if person%7 == 0 {
				attendance = "no_show"
			}
			if _, err := d.s.SetAttendance(ctx, store.AttendanceRequest{TenantID: d.tenant.ID, ID: booked.ID, Attendance: attendance, Actor: d.staff}); err != nil {
				return err
			}
		}
	}
	for _, party := range sc.waiting {
		contact := demoPerson(person)
		person++
		if _, err := s.Join(ctx, store.JoinRequest{
			TenantID: d.tenant.ID, SlotID: slot.ID, PartySize: party, Contact: contact, Source: store.SourceWeb, Actor: store.Actor{Kind: store.Customer},
		}); err != nil {
			return fmt.Errorf("waitlist at %s: %w", slot.StartsAt.In(d.zone), err)
		}
	}
	if sc.after != nil {
		return sc.after(ctx, slot)
	}
	return nil
}

// throughTheWeb books as customers do: hold, then confirm.
func (d *demoMaker) throughTheWeb(ctx context.Context, slot store.Slot, party int, contact store.Contact) (store.Reservation, error) {
	customer := store.Actor{Kind: store.Customer}
	owner := "demo " + contact.Email + slot.ID
	held, err := d.s.Hold(ctx, store.HoldRequest{
		TenantID: d.tenant.ID, Slots: []store.HoldSlot{{ID: slot.ID, TermsVersion: slot.TermsVersion}}, PartySize: party, Owner: owner,
		Source: store.SourceWeb, Locale: contact.Locale, Actor: customer,
	})
	if err != nil {
		return store.Reservation{}, err
	}
	return d.s.Confirm(ctx, store.ConfirmRequest{
		TenantID: d.tenant.ID, ID: held[0].ID, Owner: owner, TermsVersion: held[0].TermsVersion, Contact: contact, Actor: customer,
	})
}

// demoPerson makes up the n-th person: nobody's name on purpose, and an address
// that reaches nobody.
func demoPerson(n int) store.Contact {
	type part struct{ name, kana, roman string }
	families := []part{
		{"佐藤", "サトウ", "sato"},
		{"髙橋", "タカハシ", "takahashi"},
		{"渡辺", "ワタナベ", "watanabe"},
		{"小林", "コバヤシ", "kobayashi"},
		{"吉田", "ヨシダ", "yoshida"},
		{"山口", "ヤマグチ", "yamaguchi"},
		{"森", "モリ", "mori"},
		{"池田", "イケダ", "ikeda"},
		{"長谷川", "ハセガワ", "hasegawa"},
		{"藤井", "フジイ", "fujii"},
		{"岡本", "オカモト", "okamoto"},
	}
	given := []part{
		{"美咲", "ミサキ", "misaki"},
		{"蓮", "レン", "ren"},
		{"陽菜", "ヒナ", "hina"},
		{"大輔", "ダイスケ", "daisuke"},
		{"さくら", "サクラ", "sakura"},
		{"健太", "ケンタ", "kenta"},
		{"葵", "アオイ", "aoi"},
		{"翔", "ショウ", "sho"},
		{"結衣", "ユイ", "yui"},
		{"直樹", "ナオキ", "naoki"},
	}
	f, g := families[n%len(families)], given[n/2%len(given)]
	return store.Contact{
		Name: f.name + " " + g.name, Kana: f.kana + " " + g.kana, Email: fmt.Sprintf("%s.%s%d@example.com", g.roman, f.roman, n),
		Phone: fmt.Sprintf("+81905550%04d", n), Locale: "ja",
	}
}
