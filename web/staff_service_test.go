package web

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
	"holdfast/views/i18n"
)

var slugNumber atomic.Int64

// typedServiceForm is the form of a service, filled in well.
func typedServiceForm(version int) url.Values {
	v := url.Values{
		"name_ja": {"夜のヨガ"}, "name_en": {"Evening yoga"}, "description_ja": {"静かな時間\n月の光"}, "description_en": {"Quiet"}, "price_ja": {"3,000円"}, "price_en": {"¥3,000"},
		"place_ja": {"3階"}, "place_en": {"3rd floor"}, "bring_ja": {"タオル"}, "bring_en": {"A towel"}, "minutes": {"75"}, "capacity": {"12"},
		"slug": {fmt.Sprintf("evening-%d", slugNumber.Add(1))},
	}
	if version > 0 {
		v.Set(views.FieldVersion, strconv.Itoa(version))
	}
	return v
}

func textFields(longest int, names ...string) []badField {
	var out []badField
	for _, name := range names {
		out = append(out, badField{name: name, kind: textField, longest: longest})
	}
	return out
}

var badServiceFields = slices.Concat(
	textFields(longestLabel, "name_ja", "name_en", "price_ja", "price_en"), textFields(longestDetails, "description_ja", "description_en"),
	textFields(longestPlace, "place_ja", "place_en"), textFields(longestBring, "bring_ja", "bring_en"), textFields(longestSlug, "slug"),
	[]badField{{name: "minutes", kind: numberField}, {name: "capacity", kind: numberField}},
)

// asked gives the shop's service two questions, the second a choice.
func (s *site) asks(t testing.TB) store.Service {
	t.Helper()
	sv := s.service(t)
	sv, err := s.Store.ChangeQuestions(t.Context(), s.Tenant.ID, sv.ID, sv.Version, "", func(sv *store.Service) error {
		sv.Questions = []store.Question{
			{ID: "level", Kind: store.QuestionText, Label: store.Text{"ja": "経験", "en": "Experience"}},
			{ID: "mat", Kind: store.QuestionChoice, Label: store.Text{"ja": "マット"}, Options: []store.QuestionOption{
				{ID: "own", Label: store.Text{"ja": "持参"}}, {ID: "rent", Label: store.Text{"ja": "借りる"}},
			}},
		}
		sv.FormerQuestions = []store.Question{{ID: "old", Kind: store.QuestionText, Label: store.Text{"ja": "以前の質問"}}}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sv
}

// service reads the shop's service as it is now.
func (s *site) service(t testing.TB) store.Service {
	t.Helper()
	sv, err := s.Store.Service(t.Context(), s.Tenant.ID, s.Service.ID)
	if err != nil {
		t.Fatal(err)
	}
	return sv
}

func (s *site) resource(t testing.TB) store.Resource {
	t.Helper()
	r, err := s.Store.Resource(t.Context(), s.Tenant.ID, s.Resource.ID)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (s *site) tenantNow(t testing.TB) store.Tenant {
	t.Helper()
	now, err := s.Store.TenantByID(t.Context(), s.Tenant.ID)
	if err != nil {
		t.Fatal(err)
	}
	return now
}

func versionOf(n int) string { return strconv.Itoa(n) }

func init() {
	onService := func(path func(tenant, service string) string, values func(*site, *testing.T) url.Values) func(*testing.T, *site) (string, url.Values) {
		return func(t *testing.T, s *site) (string, url.Values) {
			v := values(s, t)
			return path("shop", s.Service.ID), v
		}
	}
	onQuestion := func(path func(tenant, service, question string) string, question string, values ...string) func(*testing.T, *site) (string, url.Values) {
		return func(t *testing.T, s *site) (string, url.Values) {
			sv := s.asks(t)
			return path("shop", sv.ID, question), with(with(none(), values...), views.FieldVersion, versionOf(sv.Version))
		}
	}
	choiceForm := []string{
		"label_ja", "マット", "label_en", "Mat", "hint_ja", "どちらでも", "hint_en", "Either", "required", "1", "on_join", "1",
		"option_1_id", "own", "option_1_ja", "持参", "option_1_en", "Own", "option_2_ja", "借りる", "option_2_en", "Rented",
	}
	questionFields := slices.Concat(
		textFields(longestQuestion, "label_ja", "label_en", "hint_ja", "hint_en"), textFields(longestOption, "option_1_ja", "option_1_en"),
		[]badField{{name: "required", kind: quietField}, {name: "on_join", kind: quietField}, {name: "option_1_id", kind: quietField}, {name: "do", kind: choiceField}},
		hiddenFields(views.FieldVersion),
	)
	for pattern, form := range map[string]badForm{
		"/staff/{tenant}/services/new": {
			fields: badServiceFields, owner: true,
			fresh: func(*testing.T, *site) (string, url.Values) {
				return views.StaffNewServiceURL("shop"), typedServiceForm(0)
			},
		},
		"/staff/{tenant}/services/{service}": {
			fields: slices.Concat(badServiceFields, hiddenFields(views.FieldVersion)), owner: true,
			fresh: onService(views.StaffServiceURL, func(s *site, t *testing.T) url.Values { return typedServiceForm(s.service(t).Version) }),
		},
		"/staff/{tenant}/services/{service}/order": {
			fields: []badField{{name: views.FieldRank, kind: hiddenField}, {name: views.FieldBy, kind: choiceField}}, owner: true,
			fresh: onService(views.StaffServiceOrderURL, func(*site, *testing.T) url.Values {
				return with(none(), views.FieldRank, "1", views.FieldBy, "down")
			}),
		},
		"/staff/{tenant}/services/{service}/retire": {
			fields: hiddenFields(views.FieldVersion), owner: true,
			fresh: onService(views.StaffServiceRetireURL, func(s *site, t *testing.T) url.Values {
				s.Exec(t, "UPDATE services SET active = true")
				return with(none(), views.FieldVersion, versionOf(s.service(t).Version))
			}),
		},
		"/staff/{tenant}/services/{service}/restore": {
			fields: hiddenFields(views.FieldVersion), owner: true,
			fresh: onService(views.StaffServiceRestoreURL, func(s *site, t *testing.T) url.Values {
				s.Exec(t, "UPDATE services SET active = false")
				return with(none(), views.FieldVersion, versionOf(s.service(t).Version))
			}),
		},
		"/staff/{tenant}/services/{service}/picture": {
			fields: slices.Concat(textFields(longestAlt, "alt_ja", "alt_en"), []badField{{name: views.FieldDo, kind: quietField}}, hiddenFields(views.FieldVersion)), owner: true,
			lenient: true, // it takes several parts; see TestAPictureIsChosenShownAndTakenAway
			fresh: onService(views.StaffServicePictureURL, func(s *site, t *testing.T) url.Values {
				return with(none(), views.FieldDo, "remove", "alt_ja", "", "alt_en", "", views.FieldVersion, versionOf(s.service(t).Version))
			}),
		},
		"/staff/{tenant}/services/{service}/questions/new": {
			fields: slices.Concat(questionFields, []badField{{name: "kind", kind: choiceField}}), owner: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				sv := s.asks(t)
				return views.StaffNewQuestionURL("shop", sv.ID), with(with(none(), choiceForm...), "kind", "choice", "do", "save", views.FieldVersion, versionOf(sv.Version))
			},
		},
		"/staff/{tenant}/services/{service}/questions/{question}": {
			fields: questionFields, owner: true, fresh: onQuestion(views.StaffQuestionURL, "mat", choiceForm...),
		},
		"/staff/{tenant}/services/{service}/questions/{question}/order": {
			fields: slices.Concat([]badField{{name: views.FieldBy, kind: choiceField}}, hiddenFields(views.FieldVersion)), owner: true,
			fresh: onQuestion(views.StaffQuestionOrderURL, "level", views.FieldBy, "down"),
		},
		"/staff/{tenant}/services/{service}/questions/{question}/remove": {
			fields: hiddenFields(views.FieldVersion), owner: true, fresh: onQuestion(views.StaffQuestionRemoveURL, "level"),
		},
		"/staff/{tenant}/services/{service}/questions/{question}/restore": {
			fields: hiddenFields(views.FieldVersion), owner: true, fresh: onQuestion(views.StaffQuestionRestoreURL, "old"),
		},
		"/staff/{tenant}/resources/new": {
			fields: slices.Concat(textFields(longestLabel, "name_ja", "name_en"), textFields(longestSlug, "slug")), owner: true,
			fresh: func(*testing.T, *site) (string, url.Values) {
				return views.StaffNewResourceURL("shop"), url.Values{"name_ja": {"部屋"}, "name_en": {"Room"}, "slug": {fmt.Sprintf("room-%d", slugNumber.Add(1))}}
			},
		},
		"/staff/{tenant}/resources/{resource}": {
			fields: slices.Concat(textFields(longestLabel, "name_ja", "name_en"), textFields(longestSlug, "slug"), hiddenFields(views.FieldVersion)), owner: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				return views.StaffResourceURL("shop", s.Resource.ID), url.Values{
					"name_ja": {"部屋"}, "name_en": {"Room"}, "slug": {fmt.Sprintf("room-%d", slugNumber.Add(1))}, views.FieldVersion: {versionOf(s.resource(t).Version)},
				}
			},
		},
		"/staff/{tenant}/resources/{resource}/retire": {
			fields: hiddenFields(views.FieldVersion), owner: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				s.Exec(t, "UPDATE resources SET active = true")
				return views.StaffResourceRetireURL("shop", s.Resource.ID), with(none(), views.FieldVersion, versionOf(s.resource(t).Version))
			},
		},
		"/staff/{tenant}/resources/{resource}/restore": {
			fields: hiddenFields(views.FieldVersion), owner: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				s.Exec(t, "UPDATE resources SET active = false")
				return views.StaffResourceRestoreURL("shop", s.Resource.ID), with(none(), views.FieldVersion, versionOf(s.resource(t).Version))
			},
		},
		"/staff/{tenant}/closed-days": {
			fields: slices.Concat(textFields(0, "from", "until"), textFields(longestClosedNote, "note_ja", "note_en")), owner: true,
			fresh: func(_ *testing.T, s *site) (string, url.Values) {
				day := s.Start.Format(time.DateOnly)
				return views.StaffClosedURL("shop"), url.Values{"from": {day}, "until": {day}, "note_ja": {"お休み"}, "note_en": {"Closed"}}
			},
		},
		"/staff/{tenant}/closed-days/remove": {
			fields: []badField{{name: views.FieldDay, kind: choiceField}}, owner: true,
			fresh: func(*testing.T, *site) (string, url.Values) {
				return views.StaffClosedRemoveURL("shop"), url.Values{views.FieldDay: {"2027-01-01"}}
			},
		},
		"/staff/{tenant}/closed-days/holidays": {
			fields: []badField{{name: views.FieldYear, kind: choiceField}}, owner: true,
			fresh: func(_ *testing.T, s *site) (string, url.Values) {
				return views.StaffHolidaysURL("shop"), url.Values{views.FieldYear: {s.Start.Format("2006")}}
			},
		},
		"/staff/{tenant}/venue": {
			fields: slices.Concat(
				textFields(longestLabel, "name"), textFields(longestZone, "time_zone"), textFields(longestEmail, "email"), textFields(longestPhone, "phone"), textFields(longestAddress, "address"),
				textFields(longestURL, "map_url", "privacy_url", "legal_url"), textFields(longestPrivacyVersion, "privacy_version"), textFields(longestOrigins, "embed_origins"),
				[]badField{{name: "locale", kind: choiceField}}, hiddenFields(views.FieldVersion),
			), owner: true,
			fresh: func(t *testing.T, s *site) (string, url.Values) {
				return views.StaffVenueURL("shop"), typedVenueForm(s.tenantNow(t))
			},
		},
	} {
		forms[pattern] = form
	}
}

func typedVenueForm(t store.Tenant) url.Values {
	return url.Values{
		"name": {"青空スタジオ"}, "locale": {"ja"}, "time_zone": {t.TimeZone}, "email": {"hello@example.com"}, "phone": {"03-1234-5678"}, "address": {"東京都\n渋谷区1-2"},
		"map_url": {"https://maps.example.com/?q=1&z=2"}, "privacy_url": {"https://example.com/privacy"}, "legal_url": {""}, "privacy_version": {"2026-04"},
		"embed_origins": {"https://www.example.com\nhttps://blog.example.com"}, views.FieldVersion: {versionOf(t.Version)},
	}
}

// changesOf are the fields of the settings' history, newest first, as "area:field,field".
func (s *site) changesOf(t testing.TB) []string {
	t.Helper()
	changes, err := s.Store.SettingChanges(t.Context(), s.Tenant.ID, "", 100)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range changes {
		out = append(out, c.Area+":"+strings.Join(c.Fields, ","))
	}
	return out
}

func TestAServiceIsAddedChangedAndSeenByCustomers(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	shown := b.get("/staff/shop/services").is(http.StatusOK).says("朝のヨガ").says("Morning yoga")
	if !shown.has("href", views.StaffNewServiceURL("shop")) {
		t.Error("no way to add a service")
	}
	name := "髙橋 𠮷郎の👩‍👩‍👧教室 <b>&"
	send := typedServiceForm(0)
	send.Del("slug")
	send.Set("name_ja", name)
	send.Set("description_en", "مرحبا بكم\nWelcome")
	done := b.post(views.StaffNewServiceURL("shop"), send).is(http.StatusSeeOther)
	p := b.follow(done).is(http.StatusOK).says(name).says("追加しました")
	action, fields := p.form(done.location())
	if fields.Get("slug") != "evening-yoga" || fields.Get("name_ja") != name || fields.Get("description_en") != "مرحبا بكم\nWelcome" || fields.Get("minutes") != "75" {
		t.Errorf("the form shows %v", fields)
	}
	// The same name once more gets another slug.
	send.Set("name_ja", "もう一つ")
	b.follow(b.post(views.StaffNewServiceURL("shop"), send).is(http.StatusSeeOther))
	customer := s.browser(t).get("/shop?service=evening-yoga").is(http.StatusOK).says(name).says("もう一つ")
	if strings.Contains(customer.body, "<b>&") {
		t.Error("a name is markup")
	}
	fields.Set("price_ja", "4,000円")
	fields.Set("minutes", "90")
	b.post(action, fields).is(http.StatusSeeOther)
	b.get(action).says("最終更新").says("受付 一郎")
	if got := s.changesOf(t); !slices.Equal(got, []string{"service:price_ja,duration", "service:added", "service:added"}) {
		t.Errorf("history: %v", got)
	}
	b.get("/staff/shop/changes").is(http.StatusOK).says(name).says("料金（日本語）").says("所要時間").says("受付 一郎")
	// Nothing changed: nothing is written.
	again := b.get(action)
	_, fields = again.form(action)
	b.post(action, fields).is(http.StatusSeeOther)
	if n := len(s.changesOf(t)); n != 3 {
		t.Errorf("%d changes after a press that changed nothing", n)
	}
}

func TestAStaleFormOfAServiceWritesNothingAndAsksAgain(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	path := views.StaffServiceURL("shop", s.Service.ID)
	_, mine := b.get(path).form(path)
	_, theirs := b.get(path).form(path)
	theirs.Set("price_ja", "5,500円")
	b.post(path, theirs).is(http.StatusSeeOther)
	mine.Set("price_ja", "1,100円")
	stale := b.post(path, mine).is(http.StatusConflict).need("data-state", "changed").says("5,500円").says("受付 一郎")
	if got := s.service(t).Price["ja"]; got != "5,500円" {
		t.Errorf("a stale form has written %q", got)
	}
	_, again := stale.form(path)
	if again.Get("price_ja") != "1,100円" || again.Get("version") == mine.Get("version") {
		t.Errorf("the form that asks again: %v", again)
	}
	b.post(path, again).is(http.StatusSeeOther)
	if got := s.service(t).Price["ja"]; got != "1,100円" {
		t.Errorf("the second press has written %q", got)
	}
	// A form that names no version is stale too.
	again.Del("version")
	b.post(path, again).is(http.StatusConflict)
}

func TestASlugIsFixedOnceASlotExists(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	path, resource := views.StaffServiceURL("shop", s.Service.ID), views.StaffResourceURL("shop", s.Resource.ID)
	_, open := b.get(path).form(path)
	open.Set("slug", "yoga-class")
	b.post(path, open).is(http.StatusSeeOther)
	s.Slot(t, 3)
	fixed := b.get(path)
	if _, fields := fixed.form(path); fields.Has("slug") {
		t.Error("the slug can still be typed")
	}
	open.Set("slug", "other")
	open.Set("version", versionOf(s.service(t).Version))
	b.post(path, open).is(http.StatusUnprocessableEntity).need("role", "alert")
	_, fields := b.get(resource).form(resource)
	fields.Set("slug", "other")
	b.post(resource, fields).is(http.StatusUnprocessableEntity)
	if got := s.service(t).Slug; got != "yoga-class" {
		t.Errorf("the slug is %q", got)
	}
	// Without it the form is taken.
	_, fields = fixed.form(path)
	fields.Set("name_en", "Yoga")
	b.post(path, fields).is(http.StatusSeeOther)
}

func TestRetiringAServiceIsToldBeforeAndLeavesItsSlots(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	other := s.AddService(t, s.Tenant, "other", nil)
	s.Exec(t, `UPDATE services SET name = '{"ja":"夜のピラティス"}' WHERE id = $1`, other.ID)
	b := asOwner(t, s)
	slot := s.Slot(t, 3)
	s.Book(t, slot, 2)
	step := b.get(views.StaffServiceRetireURL("shop", s.Service.ID)).is(http.StatusOK).says("これからの枠1件").says("2席")
	if !step.has("href", views.StaffSlotURL("shop", slot.ID)) {
		t.Error("the slot ahead is not linked")
	}
	customer := s.browser(t)
	if !customer.get("/shop").has("href", "/shop?service=class") {
		t.Fatal("customers don't see the service")
	}
	b.follow(b.press(step, "/retire", nil).is(http.StatusSeeOther)).says("使用を終了したサービス")
	if customer.get("/shop").has("href", "/shop?service=class") {
		t.Error("customers still see the retired service")
	}
	// Its slot is as it was: it can be booked, and says what it is.
	page := customer.get(views.SlotURL("shop", slot.ID)).is(http.StatusOK).says("朝のヨガ")
	customer.press(page, "/hold", url.Values{views.FieldPartySize: {"1"}}).is(http.StatusSeeOther)
	// A second press is the same; a stale one of before changes nothing.
	b.press(step, "/retire", nil).is(http.StatusSeeOther)
	list := b.get("/staff/shop/services")
	b.press(list, "/restore", nil).is(http.StatusSeeOther)
	if !customer.get("/shop").has("href", "/shop?service=class") {
		t.Error("the service did not come back")
	}
	b.press(step, "/retire", nil).is(http.StatusConflict).says("まだ何も変えていません")
	if !s.service(t).Active {
		t.Error("a stale press has retired it")
	}
}

func TestTheOrderOfServicesIsTheVenuePagesOrder(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	for i, name := range []string{"B教室", "C教室"} {
		sv := s.AddService(t, s.Tenant, fmt.Sprintf("s%d", i), nil)
		s.Exec(t, "UPDATE services SET name = jsonb_build_object('ja', $2::text), active = $3 WHERE id = $1", sv.ID, name, i == 1)
	}
	b := asOwner(t, s)
	order := func() string {
		t.Helper()
		services, err := s.Store.Services(t.Context(), s.Tenant.ID)
		if err != nil {
			t.Fatal(err)
		}
		var slugs []string
		for _, sv := range services {
			slugs = append(slugs, sv.Slug)
		}
		return strings.Join(slugs, " ")
	}
	if order() != "class s0 s1" {
		t.Fatal(order())
	}
	before := b.get("/staff/shop/services")
	// Down, past the retired one in the middle.
	b.press(before, "/services/"+s.Service.ID+"/order", url.Values{"by": {"down"}}).is(http.StatusSeeOther)
	if order() != "s0 s1 class" {
		t.Errorf("order: %s", order())
	}
	text := s.browser(t).get("/shop").text()
	if strings.Index(text, "C教室") > strings.Index(text, "朝のヨガ") {
		t.Error("the venue page has another order")
	}
	// The page from before names another place: nothing moves.
	b.press(before, "/services/"+s.Service.ID+"/order", url.Values{"by": {"down"}}).is(http.StatusConflict).says("並び順が変わりました")
	if order() != "s0 s1 class" {
		t.Errorf("a stale press has moved it: %s", order())
	}
}

func TestADeskSeesServicesAndChangesNone(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := atTheDesk(t, s)
	p := b.get("/staff/shop/services").is(http.StatusOK).says("朝のヨガ")
	if p.has("href", views.StaffNewServiceURL("shop")) || p.hasForm("/order") || p.has("href", views.StaffServiceURL("shop", s.Service.ID)) {
		t.Error("the desk is offered changes")
	}
	for _, path := range []string{
		views.StaffServiceURL("shop", s.Service.ID), views.StaffResourcesURL("shop"), views.StaffClosedURL("shop"), views.StaffVenueURL("shop"), views.StaffChangesURL("shop"),
		views.StaffQuestionsURL("shop", s.Service.ID),
	} {
		b.get(path).is(http.StatusForbidden)
	}
	b.post(views.StaffServiceURL("shop", s.Service.ID), typedServiceForm(1)).is(http.StatusForbidden)
	s.hire(t, s.Tenant, "manager@example.com", store.RoleManager)
	m := s.browser(t)
	m.post("/staff/sign-in", signIn("manager@example.com", staffPassword))
	m.get(views.StaffServiceURL("shop", s.Service.ID)).is(http.StatusOK)
	m.get(views.StaffVenueURL("shop")).is(http.StatusForbidden)
	m.post(views.StaffVenueURL("shop"), typedVenueForm(s.Tenant)).is(http.StatusForbidden)
}

func TestQuestionsKeepTheirAnswersWhateverBecomesOfThem(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	path := views.StaffNewQuestionURL("shop", s.Service.ID)
	form := b.get(path).is(http.StatusOK)
	action, fields := form.form(path)
	fields.Set("kind", "choice")
	fields.Set("label_ja", "<script>alert(1)</script>マット 𠮷")
	fields.Set("option_1_ja", "持参")
	// Another row: nothing is stored, everything typed stays.
	fields.Set("do", "add")
	more := b.post(action, fields).is(http.StatusOK)
	_, fields = more.form(path)
	if fields.Get("label_ja") != "<script>alert(1)</script>マット 𠮷" || fields.Get("option_1_ja") != "持参" || !fields.Has("option_3_ja") || fields.Get("kind") != "choice" {
		t.Fatalf("the form with another row: %v", fields)
	}
	if len(s.service(t).Questions) != 0 {
		t.Error("a row has stored something")
	}
	fields.Set("option_2_ja", "借りる")
	fields.Set("option_3_ja", "いらない")
	fields.Set("do", "up_3")
	_, fields = b.post(action, fields).is(http.StatusOK).form(path)
	if fields.Get("option_2_ja") != "いらない" {
		t.Errorf("rows: %v", fields)
	}
	fields.Set("do", "remove_2")
	_, fields = b.post(action, fields).is(http.StatusOK).form(path)
	fields.Del("do")
	b.post(action, fields).is(http.StatusSeeOther)
	q := s.service(t).Questions[0]
	if len(q.Options) != 2 || q.Options[1].Label["ja"] != "借りる" {
		t.Fatalf("stored: %+v", q)
	}

	// Somebody answers. Then the words change, and an option goes.
	slot := s.Slot(t, 3)
	request := s.ConfirmRequest(s.Hold(t, slot, 1))
	request.Contact.Answers = map[string]string{q.ID: q.Options[1].ID}
	if _, err := s.Store.Confirm(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	edit := views.StaffQuestionURL("shop", s.Service.ID, q.ID)
	_, fields = b.get(edit).form(edit)
	if fields.Has("kind") {
		t.Error("the kind can be changed")
	}
	fields.Set("label_ja", "マットはどうされますか")
	fields.Set("option_3_ja", "新品を買う")
	fields.Del("option_2_ja")
	fields.Del("option_2_en")
	fields.Del("option_2_id")
	b.post(edit, fields).is(http.StatusSeeOther)
	now := s.service(t).Questions[0]
	if now.ID != q.ID || now.Options[0].ID != q.Options[0].ID || len(now.Options) != 2 || len(now.Former) != 1 {
		t.Errorf("now: %+v", now)
	}
	b.get(views.StaffSlotURL("shop", slot.ID)).says("マットはどうされますか").says("借りる")
	// What was taken out can't be chosen; what was put in can.
	if _, err := now.Answer(q.Options[1].ID); err == nil {
		t.Error("a former option can be chosen")
	}

	// Removed, it is asked no more, and comes back with its id.
	remove := b.get(views.StaffQuestionRemoveURL("shop", s.Service.ID, q.ID)).is(http.StatusOK).says("これまでの答えは残り")
	list := b.follow(b.press(remove, "/remove", nil).is(http.StatusSeeOther)).says("やめた質問")
	if sv := s.service(t); len(sv.Questions) != 0 || sv.EverAsked()[0].Say(q.Options[1].ID, "ja") != "借りる" {
		t.Errorf("removed: %+v", sv)
	}
	b.press(list, "/restore", nil).is(http.StatusSeeOther)
	if s.service(t).Questions[0].ID != q.ID {
		t.Error("it came back as another")
	}
	b.get(edit).is(http.StatusOK)
	if strings.Contains(b.get(views.StaffQuestionsURL("shop", s.Service.ID)).body, "<script>alert") {
		t.Error("a label is markup")
	}
	_, fields = b.get(edit).form(edit)
	stale := fields.Get("version")
	fields.Set("label_ja", "その間に")
	b.post(edit, fields).is(http.StatusSeeOther)
	fields.Set("label_ja", "遅れて")
	fields.Set("version", stale)
	b.post(edit, fields).is(http.StatusConflict).need("data-state", "changed").says("その間に")
	if s.service(t).Questions[0].Label["ja"] != "その間に" {
		t.Error("a stale form has written")
	}
}

func TestFaultsOfAQuestionStandBesideTheirFields(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	path := views.StaffNewQuestionURL("shop", s.Service.ID)
	_, fields := b.get(path).form(path)
	fields.Set("kind", "choice")
	fields.Set("option_1_ja", "一つだけ")
	p := b.post(path, fields).is(http.StatusUnprocessableEntity).need("data-error", "label_ja").need("data-error", "option")
	if _, kept := p.form(path); kept.Get("option_1_ja") != "一つだけ" {
		t.Error("what was typed is lost")
	}
	fields.Set("kind", "text")
	fields.Set("label_en", "Why?")
	fields.Set("max_length", "5000")
	b.post(path, fields).is(http.StatusUnprocessableEntity).need("data-error", "max_length")
	fields.Set("max_length", "")
	for range store.MostQuestions {
		fields.Set("version", versionOf(s.service(t).Version))
		b.post(path, fields).is(http.StatusSeeOther)
	}
	fields.Set("version", versionOf(s.service(t).Version))
	b.post(path, fields).is(http.StatusUnprocessableEntity).says("質問は10個まで")
}

// upload sends a form of several parts.
func (b *browser) upload(path string, values map[string]string, field, name string, file []byte) page {
	b.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for k, v := range values {
		if err := w.WriteField(k, v); err != nil {
			b.t.Fatal(err)
		}
	}
	if file != nil {
		part, err := w.CreateFormFile(field, name)
		if err != nil {
			b.t.Fatal(err)
		}
		if _, err := part.Write(file); err != nil {
			b.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.t.Fatal(err)
	}
	return b.do(http.MethodPost, path, w.FormDataContentType(), body.String())
}

func aPicture(t testing.TB, width, height int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestAPictureIsChosenShownAndTakenAway(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	path := views.StaffServicePictureURL("shop", s.Service.ID)
	values := func(more ...string) map[string]string {
		out := map[string]string{"version": versionOf(s.service(t).Version)}
		for i := 0; i < len(more); i += 2 {
			out[more[i]] = more[i+1]
		}
		return out
	}
	form := b.get(path).is(http.StatusOK)
	if len(form.all("enctype", "multipart/form-data")) != 1 {
		t.Fatal("the form sends no file")
	}
	b.upload(path, values(), "picture", "", nil).is(http.StatusUnprocessableEntity).need("data-error", "picture").says("ファイルを選んでください")
	b.upload(path, values(), "picture", "x.png", []byte{}).is(http.StatusUnprocessableEntity).need("data-error", "picture")
	b.upload(path, values("alt_ja", "朝の光"), "picture", "x.svg", []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`)).is(http.StatusUnprocessableEntity).need("data-error", "picture").
		need("value", "朝の光")
	b.upload(path, values(), "picture", "x.png", make([]byte, store.MostPictureBytes+1)).is(http.StatusUnprocessableEntity).need("data-error", "picture").says("大きすぎます")
	b.upload(path, values(), "picture", "x.png", make([]byte, 3<<20)).is(http.StatusUnprocessableEntity).says("大きすぎます")
	b.upload(path, values(), "picture", "x.png", make([]byte, mostUpload+1)).is(http.StatusRequestEntityTooLarge)
	if s.service(t).Picture != nil {
		t.Fatal("a refused file is stored")
	}
	stale := values("alt_ja", "遅れて")
	b.upload(path, values("alt_ja", "朝の光 <i>"), "picture", "../../x.png", aPicture(t, 60, 20)).is(http.StatusSeeOther)
	sv := s.service(t)
	if sv.Picture == nil || sv.Picture.Width != 60 || sv.PictureAlt["ja"] != "朝の光 <i>" {
		t.Fatalf("stored: %+v %v", sv.Picture, sv.PictureAlt)
	}
	b.upload(path, stale, "picture", "x.png", aPicture(t, 10, 10)).is(http.StatusConflict).need("data-state", "changed").says("朝の光")
	if s.service(t).Picture.Hash != sv.Picture.Hash {
		t.Error("a stale form has stored a picture")
	}
	// The words alone; the file stays.
	b.upload(path, values("alt_ja", "光", "alt_en", "Light"), "picture", "", nil).is(http.StatusSeeOther)
	if now := s.service(t); now.Picture.Hash != sv.Picture.Hash || now.PictureAlt["en"] != "Light" {
		t.Errorf("now: %+v", now)
	}
	s.browser(t).get("/shop?service=class").need("alt", "光")
	with := b.get(path).need("src", views.PictureURL("shop", "class", sv.Picture.Hash))
	for _, form := range []int{0, 1} {
		if len(with.all("action", path)) != 2 {
			t.Fatal("no form to take it away", form)
		}
	}
	b.post(path, url.Values{"version": {versionOf(s.service(t).Version)}, "do": {"remove"}}).is(http.StatusSeeOther)
	if now := s.service(t); now.Picture != nil || len(now.PictureAlt) != 0 {
		t.Error("the picture is still there")
	}
	if got := s.changesOf(t)[0]; got != "service:picture_alt_ja,picture_alt_en,picture" {
		t.Errorf("history: %s", got)
	}
}

func TestAResourceIsRetiredOnlyWhenNothingNeedsIt(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	b.follow(b.post(views.StaffNewResourceURL("shop"), url.Values{"name_ja": {"第2 スタジオ 𠮷"}, "name_en": {"Studio Two"}}).is(http.StatusSeeOther)).says("第2 スタジオ 𠮷")
	slot := s.Slot(t, 2)
	path := views.StaffResourceRetireURL("shop", s.Resource.ID)
	step := b.get(path).is(http.StatusOK).says("これからの枠が1件")
	if step.hasForm("/retire") || !step.has("href", views.StaffSlotURL("shop", slot.ID)) {
		t.Error("a resource in use can be retired, or its slot is not named")
	}
	press := url.Values{"version": {versionOf(s.resource(t).Version)}}
	b.post(path, press).is(http.StatusConflict).says("終了できません")
	if !s.resource(t).Active {
		t.Fatal("it is retired")
	}
	s.Exec(t, "UPDATE slots SET status = 'cancelled'")
	if !s.browser(t).get("/shop").has("href", "/shop?resource=studio-a") {
		t.Fatal("customers can't choose the resource")
	}
	b.press(b.get(path), "/retire", nil).is(http.StatusSeeOther)
	if s.browser(t).get("/shop").has("href", "/shop?resource=studio-a") {
		t.Error("customers can choose a retired resource")
	}
	b.press(b.get("/staff/shop/resources").says("使用を終了したもの"), "/restore", nil).is(http.StatusSeeOther)
	if !s.resource(t).Active {
		t.Error("it is not back")
	}
	edit := views.StaffResourceURL("shop", s.Resource.ID)
	_, fields := b.get(edit).form(edit)
	old := fields.Get("version")
	fields.Set("name_en", "Studio One")
	b.post(edit, fields).is(http.StatusSeeOther)
	fields.Set("name_en", "Late")
	fields.Set("version", old)
	b.post(edit, fields).is(http.StatusConflict).says("Studio One")
	fields.Set("name_ja", "")
	fields.Set("name_en", "")
	b.post(edit, fields).is(http.StatusUnprocessableEntity).need("data-error", "name_ja")
}

func TestClosedDaysAreAddedTakenFromTheHolidaysAndRemoved(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	loc := s.Tenant.Location()
	slot := s.Slot(t, 2)
	s.Book(t, slot, 2)
	day := slot.StartsAt.In(loc)
	text, last := day.Format(time.DateOnly), day.AddDate(0, 0, 2).Format(time.DateOnly)
	year := views.StaffClosedYearURL("shop", day.Format("2006"))
	done := b.follow(b.post(views.StaffClosedURL("shop"), url.Values{"from": {text}, "until": {last}, "note_ja": {"棚卸し <b>"}, "note_en": {"Stocktaking"}}).is(http.StatusSeeOther))
	done.says("3日を休業日にしました").says("棚卸し <b>").says("枠が1件残っています（予約 2席）").need("href", views.StaffDayURL("shop", text)).need("data-day", last)
	if s.Read(t, slot).Status != store.SlotOpen || s.Read(t, slot).Taken != 2 {
		t.Error("a closed day has done something to a slot")
	}
	s.browser(t).get("/shop?date=" + last).says("棚卸し")
	// The same day once more gets the new note.
	b.post(views.StaffClosedURL("shop"), url.Values{"from": {text}, "note_ja": {"改装"}}).is(http.StatusSeeOther)
	b.get(year).says("改装")
	for _, wrong := range []url.Values{
		{"from": {""}},
		{"from": {"2027-02-30"}},
		{"from": {"1999-01-01"}},
		{"from": {text}, "until": {"x"}},
		{"from": {last}, "until": {text}},
		{"from": {text}, "until": {day.AddDate(0, 0, store.MostClosedSpan).Format(time.DateOnly)}},
	} {
		wrong.Set("note_ja", "そのまま")
		p := b.post(views.StaffClosedURL("shop"), wrong).is(http.StatusUnprocessableEntity)
		field := "from"
		if wrong.Has("until") {
			field = "until"
		}
		p.need("data-error", field).need("value", "そのまま")
	}
	b.post(views.StaffClosedRemoveURL("shop"), url.Values{"day": {last}}).is(http.StatusSeeOther)
	if p := b.get(year); p.has("data-day", last) && strings.Contains(p.text(), "Stocktaking") && len(p.all("data-day", last)) > 1 {
		t.Error("it is still closed")
	}
	b.post(views.StaffClosedRemoveURL("shop"), url.Values{"day": {last}}).is(http.StatusSeeOther) // once more is the same

	// The public holidays of next year, in one press.
	next := strconv.Itoa(day.Year() + 1)
	step := b.get(views.StaffHolidaysYearURL("shop", next)).is(http.StatusOK).says("元日").says("文化の日")
	b.follow(b.press(step, "/holidays", nil).is(http.StatusSeeOther)).says("元日").says("すべて休業日")
	before := len(s.changesOf(t))
	b.press(step, "/holidays", nil).is(http.StatusSeeOther)
	if len(s.changesOf(t)) != before {
		t.Error("a second press has written")
	}
	closed, err := s.Store.ClosedDays(t.Context(), s.Tenant.ID, next+"-01-01", next+"-12-31")
	if err != nil || len(closed) < 16 || closed[0].Note["en"] != "New Year's Day" {
		t.Errorf("%d closed days, %v", len(closed), err)
	}
	// Elsewhere there are no Japanese holidays.
	s.Exec(t, "UPDATE tenants SET time_zone = 'America/New_York'")
	b.get(views.StaffClosedYearURL("shop", next)).is(http.StatusOK).says("この地域の祝日は登録されていません")
}

func TestTheVenuesDetailsAreCheckedAndFollowed(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	path := views.StaffVenueURL("shop")
	form := b.get(path).is(http.StatusOK).need("href", views.PosterURL("shop"))
	_, fields := form.form(path)
	for name, values := range typedVenueForm(s.Tenant) {
		fields[name] = values
	}
	fields.Set("name", "青空 <i>スタジオ</i> 𠮷")
	p := b.follow(b.post(path, fields).is(http.StatusSeeOther)).says("青空 <i>スタジオ</i> 𠮷").says("<iframe")
	if strings.Contains(p.body, "<iframe") {
		t.Error("the snippet is markup")
	}
	now := s.tenantNow(t)
	if now.Phone != "+81312345678" || now.EmbedOrigins[1] != "https://blog.example.com" || now.Address != "東京都\n渋谷区1-2" || now.MapURL != "https://maps.example.com/?q=1&z=2" {
		t.Errorf("stored: %+v", now)
	}
	s.browser(t).get("/shop").says("青空 <i>スタジオ</i> 𠮷").need("href", "https://maps.example.com/?q=1&z=2")
	fields.Set("version", versionOf(now.Version))
	for field, wrong := range map[string][]string{
		"map_url":     {"javascript:alert(1)", "JaVaScRiPt://x.example/%0aalert(1)", "data:text/html,x", "//evil.example", "https://", "http://user:pw@x.example", "ftp://x.example", `https://x.example"onload=`, "example.com"},
		"privacy_url": {"javascript:alert(1)"}, "legal_url": {" \tjavascript:alert(1)"}, "email": {"a@", "a b@example.com"}, "phone": {"12", "<b>"}, "name": {"", "\u200b"},
		"embed_origins": {"https://*.example.com", "https://x.example/path", "javascript:alert(1)", "https://x.example; script-src *"}, "time_zone": {"Local", "Mars/Base", "../etc/passwd", "", "asia/tokyo"},
		"locale": {"fr", ""},
	} {
		for _, value := range wrong {
			send := url.Values{}
			for name, values := range fields {
				send[name] = values
			}
			send[field] = []string{value}
			p := b.post(path, send)
			if p.status != http.StatusUnprocessableEntity || !p.has("data-error", field) {
				t.Errorf("%s %q: %d", field, value, p.status)
				continue
			}
			if _, kept := p.form(path); kept.Get("address") == "" || kept.Get(field) != strings.TrimSpace(value) && field != "locale" && value != "\u200b" {
				t.Errorf("%s %q came back as %q", field, value, kept.Get(field))
			}
		}
	}
	if after := s.tenantNow(t); after.Version != now.Version {
		t.Error("a refused form has written")
	}
	old := fields.Get("version")
	fields.Set("privacy_version", "2027-01")
	b.post(path, fields).is(http.StatusSeeOther)
	fields.Set("privacy_version", "2020-01")
	fields.Set("version", old)
	b.post(path, fields).is(http.StatusConflict).need("data-state", "changed").says("2027-01")
	if got := s.changesOf(t); got[0] != "venue:privacy_version" {
		t.Errorf("history: %v", got)
	}
	for _, c := range s.changesOf(t) {
		if strings.Contains(c, "example.com") || strings.Contains(c, "青空") {
			t.Errorf("the history holds what was typed: %s", c)
		}
	}
}

func TestTheTimeZoneCannotChangeWhileSlotsLieAhead(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	path := views.StaffVenueURL("shop")
	slot := s.Slot(t, 2)
	_, fields := b.get(path).says("これからの枠が1件").form(path)
	fields.Set("time_zone", "America/New_York")
	b.post(path, fields).is(http.StatusUnprocessableEntity).need("data-error", "time_zone").says("これからの枠")
	if s.tenantNow(t).TimeZone != "Asia/Tokyo" {
		t.Fatal("the zone has changed")
	}
	s.Exec(t, "UPDATE slots SET status = 'cancelled' WHERE id = $1", slot.ID)
	b.post(path, fields).is(http.StatusSeeOther)
	// The number that the form showed without its country is the same number still.
	if now := s.tenantNow(t); now.TimeZone != "America/New_York" || now.Phone != s.Tenant.Phone {
		t.Errorf("now: %s, %s", now.TimeZone, now.Phone)
	}
}

// The statements of the settings' pages don't grow with what they show.
func TestSettingsKeepToTheirBudgetOfStatements(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	s.asks(t)
	paths := map[string]int{
		views.StaffServicesURL("shop"): 9, views.StaffServiceURL("shop", s.Service.ID): 9, views.StaffServiceRetireURL("shop", s.Service.ID): 10, views.StaffServicePictureURL("shop", s.Service.ID): 8,
		views.StaffQuestionsURL("shop", s.Service.ID): 8, views.StaffQuestionURL("shop", s.Service.ID, "mat"): 8, views.StaffResourcesURL("shop"): 9,
		views.StaffResourceURL("shop", s.Resource.ID): 9, views.StaffClosedURL("shop"): 9, views.StaffHolidaysURL("shop"): 10, views.StaffVenueURL("shop"): 8, views.StaffChangesURL("shop"): 9,
	}
	count := func() map[string]int {
		out := map[string]int{}
		for path := range paths {
			out[path] = s.Count(func() { b.get(path).is(http.StatusOK) })
		}
		return out
	}
	few := count()
	for i := range 12 {
		s.AddService(t, s.Tenant, fmt.Sprintf("more-%d", i), nil)
		s.AddResource(t, s.Tenant, fmt.Sprintf("room-%d", i))
		s.Slot(t, 2)
		if err := s.Store.CloseDays(t.Context(), s.Tenant.ID, []store.ClosedDay{{Day: s.Start.AddDate(0, 0, i).Format(time.DateOnly)}}, ""); err != nil {
			t.Fatal(err)
		}
	}
	many := count()
	for path, most := range paths {
		if many[path] > most || many[path] > few[path]+1 {
			t.Errorf("%s: %d statements with little, %d with much, at most %d", path, few[path], many[path], most)
		}
	}
}

func TestSettingsSpeakEnglish(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	b.post("/staff/language", url.Values{views.FieldLang: {i18n.EN}}).is(http.StatusSeeOther)
	for _, path := range []string{
		views.StaffServicesURL("shop"), views.StaffNewServiceURL("shop"), views.StaffServiceRetireURL("shop", s.Service.ID), views.StaffNewQuestionURL("shop", s.Service.ID), views.StaffResourcesURL("shop"),
		views.StaffClosedURL("shop"), views.StaffHolidaysURL("shop"), views.StaffVenueURL("shop"), views.StaffChangesURL("shop"), views.StaffServicePictureURL("shop", s.Service.ID),
	} {
		p := b.get(path).is(http.StatusOK)
		for _, word := range []string{"保存", "設定", "サービス", "を", "月"} {
			if strings.Contains(strings.NewReplacer("朝のヨガ", "", "受付 一郎", "").Replace(p.text()), word) {
				t.Errorf("%s says %q", path, word)
			}
		}
	}
}
