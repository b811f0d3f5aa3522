package web

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	encodings "golang.org/x/text/encoding/japanese"

	"holdfast/store"
	"holdfast/store/storetest/shop"
	"holdfast/views"
)

func init() {
	// A line that has never been there.
	line := func(s *site) string {
		s.Start = s.Start.Add(2 * time.Hour)
		return "date,start,capacity\n" + s.Start.In(s.Tenant.Location()).Format("2006-01-02,15:04") + ",5\n"
	}
	for route, f := range map[string]badForm{
		"/staff/{tenant}/import": {
			owner: true, shown: true, lenient: true, // it takes several parts; see TestAFileOfSlotsIsCheckedAndThenImported
			fields: []badField{{name: views.FieldKind, kind: choiceField}, {name: views.FieldImportText, kind: textField}},
			fresh: func(_ *testing.T, s *site) (string, url.Values) {
				return views.StaffImportURL("shop"), url.Values{views.FieldKind: {importSlots}, views.FieldImportText: {line(s)}}
			},
		},
		"/staff/{tenant}/import/run": {
			owner: true, shown: true, lenient: true,
			fields: []badField{
				{name: views.FieldKind, kind: choiceField}, {name: views.FieldImportText, kind: hiddenField}, {name: views.FieldImportLines, kind: hiddenField},
			},
			fresh: func(_ *testing.T, s *site) (string, url.Values) {
				return views.StaffImportRunURL("shop"), url.Values{views.FieldKind: {importSlots}, views.FieldImportText: {line(s)}, views.FieldImportLines: {"2"}}
			},
		},
	} {
		forms[route] = f
	}
}

func utf16Of(text string, bigEndian, mark bool) []byte {
	if mark {
		text = "\ufeff" + text
	}
	var out []byte
	for _, u := range utf16.Encode([]rune(text)) {
		if bigEndian {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

func TestAFileIsReadHoweverItWasSaved(t *testing.T) {
	t.Parallel()
	const text = "日付,開始,定員\n2027-03-14,9:00,8\n"
	sjis, err := encodings.ShiftJIS.NewEncoder().Bytes([]byte("日付,開始,定員,備考\r\n2027-03-14,9:00,8,髙橋①～\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		raw    []byte
		coding textCoding
		want   string
	}{
		"UTF-8":                       {[]byte(text), codingUTF8, text},
		"UTF-8 with its mark":         {[]byte("\ufeff" + text), codingUTF8, text},
		"CR alone":                    {[]byte(strings.ReplaceAll(text, "\n", "\r")), codingUTF8, text},
		"UTF-16 as Excel writes it":   {utf16Of(text, false, true), codingUTF16, text},
		"UTF-16, the other way round": {utf16Of(text, true, true), codingUTF16, text},
		"UTF-16 without its mark":     {utf16Of("date,start\n", false, false), codingUTF16, "date,start\n"},
		"big UTF-16 without its mark": {utf16Of("date,start\n", true, false), codingUTF16, "date,start\n"},
		"Shift_JIS as Excel in Japan": {sjis, codingShiftJIS, "日付,開始,定員,備考\n2027-03-14,9:00,8,髙橋①～\n"},
	} {
		got, coding, ok := decodeText(c.raw)
		if !ok || got != c.want || coding != c.coding {
			t.Errorf("%s: %q as %s, %v", name, got, coding, ok)
		}
	}
	for name, raw := range map[string][]byte{
		"a workbook":           []byte("PK\x03\x04\x14\x00\x06\x00\x08\x00"),
		"a picture":            []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"),
		"half a character":     {0xff, 0xfe, 'a'},
		"neither of the two":   {0x81, 0x20, 0xff, 0xfd, 0x80},
		"a lone surrogate":     {0xff, 0xfe, 0x00, 0xd8, 'a', 0},
		"control characters":   []byte("date\x01,start\n"),
		"NUL in ordinary text": []byte("date,st\x00rt\n"),
	} {
		if text, coding, ok := decodeText(raw); ok {
			t.Errorf("%s is taken for %q in %s", name, text, coding)
		}
	}
}

func TestColumnsAreFoundByTheirNames(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"日付,開始,終了,定員,サービス,場所・担当\n2027年3月14日,9:00,10:00,8,朝のヨガ,A\n",
		"Capacity;Resource;Service;END;Start time;Day\n8;A;朝のヨガ;10:00;9:00;2027年3月14日\n",
		"\n\n開始時刻\t開催日\t ＣＡＰＡＣＩＴＹ \t終了時間\tメニュー\tスタジオ\n9:00\t2027年3月14日\t8\t10:00\t朝のヨガ\tA\n\t\t\t\t\t\n",
		"\"date\",\"start\",\"end\",\"seats\",\"class\",\"room\",\"何か\"\n\"2027年3月14日\",\"9:00\",\"10:00\",\"8\",\"朝のヨガ\",\"A\",\"x\"\n",
	} {
		s, fault := readSheet(text, importSlots)
		if fault != nil || len(s.rows) != 1 {
			t.Errorf("%q: %v, %d rows", text, fault, len(s.rows))
			continue
		}
		for col, want := range map[string]string{colDate: "2027年3月14日", colStart: "9:00", colEnd: "10:00", colCapacity: "8", colService: "朝のヨガ", colResource: "A"} {
			if got := s.rows[0].cells[col]; got != want {
				t.Errorf("%q: %s is %q", text, col, got)
			}
		}
	}
	for text, want := range map[string]string{
		"": fileEmpty, " \n": fileEmpty, "date,start\n": fileNoContent, "x,y\n1,2\n": fileNoHeader, "date,日付,start\n1,2,3\n": fileTwice, "date,capacity\n1,2\n": fileMissing,
		"date,\"start\n1,2": fileNoHeader, "date,start\n" + strings.Repeat("1,2\n", store.MostImportLines+1): fileTooLong,
	} {
		if _, fault := readSheet(text, importSlots); fault == nil || fault.kind != want {
			t.Errorf("%.30q: %v, want %s", text, fault, want)
		}
	}
	// Lines are counted as a text editor does, and a broken one stops no other.
	s, fault := readSheet("name,date,start,note\nA,1,2,\"two\nlines\"\nB,1,2,x\"y\nC,1,2,'=1+1\nD,1,2,=1+1,more\n", importBookings)
	if fault != nil || len(s.rows) != 4 {
		t.Fatal(fault, s.rows)
	}
	if s.rows[0].line != 2 || s.rows[1].line != 4 || s.rows[1].fault != lineQuotes || s.rows[2].line != 5 || s.rows[2].cells[colNote] != "=1+1" || s.rows[3].fault != lineTooMany {
		t.Errorf("%+v", s.rows)
	}
}

func TestDaysAndTimesAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for _, day := range []string{"2027-03-14", "2027-3-14", "2027/3/14", "2027/03/14", "2027.3.14", "2027年3月14日", "２０２７年３月１４日", "２０２７／０３／１４", "2027年 3月 14日", "2027年3月14日(日)", "2027年3月14日（日）"} {
		if got, ok := importDay(day); !ok || got != "2027-03-14" {
			t.Errorf("%s: %q, %v", day, got, ok)
		}
	}
	for _, day := range []string{"", "3/14", "14/3/2027", "3/14/2027", "2027-02-29", "2027-13-01", "45000", "2027-03", "0027-03-14", "tomorrow", "2027-03-14-1"} {
		if got, ok := importDay(day); ok {
			t.Errorf("%s is taken for %s", day, got)
		}
	}
	for text, want := range map[string]int{"9:00": 540, "09:00": 540, "９：００": 540, "24:00": 1440, "0:00": 0, "9時": 540, "9時5分": 545, "18時半": 1110, "9:00:00": 540, "23:59": 1439} {
		if got, ok := importClock(text); !ok || got != want {
			t.Errorf("%s: %d, %v", text, got, ok)
		}
	}
	for _, text := range []string{"", "9", "900", "25:00", "24:01", "9:60", "9:5", "-1:00", "9:00 pm", "9:00:30", "0.375"} {
		if got, ok := importClock(text); ok {
			t.Errorf("%s is taken for %d", text, got)
		}
	}
}

// dayOf is the shop's start as a file says it.
func (s *site) dayOf(at time.Time) string { return at.In(s.Tenant.Location()).Format(time.DateOnly) }

func (s *site) clockOf(at time.Time) string { return at.In(s.Tenant.Location()).Format("15:04") }

func TestAFileOfSlotsIsCheckedAndThenImported(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	s.AddService(t, s.Tenant, "dance", nil)
	s.AddResource(t, s.Tenant, "studio-b")
	s.Exec(t, "UPDATE services SET name = '{\"ja\":\"ダンス\",\"en\":\"Dance\"}' WHERE slug = 'dance'")
	there := s.Slot(t, 10)
	day := s.dayOf(s.Start.AddDate(0, 0, 3))
	text := "サービス,場所・担当,日付,開始,終了,定員,ひとこと\r\n" +
		"朝のヨガ,studio-b," + day + ",9:00,,7,x\r\n" + // 2: good, after the service's duration
		"ダンス,studio-b," + day + ",23:00,24:00,,\r\n" + // 3: good, up to midnight, with the service's seats
		"ダンス,studio-b," + day + ",9:30,10:30,3,\r\n" + // 4: over line 2
		"class,studio-a," + s.dayOf(there.StartsAt) + "," + s.clockOf(there.StartsAt) + ",,10,\r\n" + // 5: there
		"dance,studio-a," + s.dayOf(there.StartsAt) + "," + s.clockOf(there.StartsAt) + ",,10,\r\n" + // 6: in the way
		"なし,studio-b,2027-02-30,25:00,,0,\r\n" + // 7: nothing right
		"ダンス,studio-b,2020-01-01,9:00,8:00,,\r\n" + // 8: the end
		"ダンス,studio-b,2020-01-01,9:00,,,\r\n" // 9: long ago
	raw, err := encodings.ShiftJIS.NewEncoder().Bytes([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	before := dump(t, s.Shop)
	kind := map[string]string{views.FieldKind: importSlots}
	checked := b.upload(views.StaffImportURL("shop"), kind, views.FieldImportFile, "枠.csv", raw).is(http.StatusOK).need("data-state", "checked").need("data-good", "2").need("data-there", "1").need("data-bad", "5")
	if dump(t, s.Shop) != before {
		t.Fatal("checking has written something")
	}
	checked.says("Shift_JIS").says("ひとこと").says(ja("import.err.overlap_line", "line", "2")).says(ja("import.unknown.service")).says("2027-02-30").says(ja("import.err.date")).
		says("25:00").says(ja("import.err.time")).says(ja("import.err.end")).says(ja("import.err.past")).says("〜24:00").says(ja("import.press", "n", 2))
	for _, no := range []string{"4", "6", "7", "8", "9"} {
		if rows := checked.all("data-line", no); len(rows) == 0 || !strings.Contains(attr(rows[0], "class"), "import-problem") {
			t.Errorf("line %s has no problem", no)
		}
	}
	action, fields := checked.form("/import/run")
	done := b.post(action, fields).is(http.StatusOK).need("data-state", "done").says(ja("import.done.slots", "n", 2))
	if got := len(done.all("data-import", "made")); got != 2 {
		t.Errorf("%d lines are told", got)
	}
	slots, err := s.Store.Slots(t.Context(), store.SlotQuery{TenantID: s.Tenant.ID, From: there.EndsAt, To: there.EndsAt.AddDate(0, 1, 0)})
	if err != nil || len(slots) != 2 || slots[0].Capacity != 7 || slots[0].EndsAt.Sub(slots[0].StartsAt) != time.Hour || s.clockOf(slots[1].EndsAt) != "00:00" || slots[1].Capacity != 10 || !slots[0].OrderRules {
		t.Fatalf("%+v, %v", slots, err)
	}
	// Once more, also after one has been cancelled: nothing is made twice.
	if _, err := s.Store.CancelSlot(t.Context(), store.SlotRequest{TenantID: s.Tenant.ID, SlotID: slots[0].ID, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	before = dump(t, s.Shop)
	b.post(action, fields).is(http.StatusOK).says(ja("import.done.slots", "n", 0))
	if dump(t, s.Shop) != before {
		t.Error("the second press has written something")
	}
	b.upload(views.StaffImportURL("shop"), kind, views.FieldImportFile, "枠.csv", raw).is(http.StatusOK).need("data-good", "1").need("data-there", "3").need("data-state", "before") // line 4: the slot of line 2 is cancelled
	if got := s.changesOf(t)[0]; got != "import:slots" {
		t.Errorf("history: %s", got)
	}
}

// Local to the venue, by the rule for clock changes.
func TestImportedSlotsKeepToTheVenuesClock(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	s.Exec(t, "UPDATE tenants SET time_zone = 'America/New_York'")
	b := asOwner(t, s)
	year := time.Now().Year() + 1
	first := time.Date(year, time.March, 1, 0, 0, 0, 0, time.UTC)
	spring := first.AddDate(0, 0, (7-int(first.Weekday()))%7+7) // the second Sunday
	day := spring.Format(time.DateOnly)
	checked := b.post(views.StaffImportURL("shop"), url.Values{views.FieldKind: {importSlots}, views.FieldImportText: {"date\tstart\n" + day + "\t2:30\n" + day + "\t15:00\n"}}).is(http.StatusOK).need("data-good", "2").
		says(ja("import.note.gap", "typed", "02:30", "time", "03:30"))
	action, fields := checked.form("/import/run")
	b.post(action, fields).is(http.StatusOK).need("data-state", "done")
	slots, err := s.Store.Slots(t.Context(), store.SlotQuery{TenantID: s.Tenant.ID, From: spring, To: spring.AddDate(0, 0, 2)})
	if err != nil || len(slots) != 2 || slots[0].StartsAt.UTC().Format("15:04") != "07:30" || slots[1].StartsAt.UTC().Format("15:04") != "19:00" {
		t.Errorf("%+v, %v", slots, err)
	}
}

func TestAFileOfBookingsIsCheckedAndThenImported(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	slot, full, small := s.Slot(t, 5), s.Slot(t, 1), s.Slot(t, 3)
	s.Book(t, full, 1)
	known := s.Book(t, slot, 1)
	when := func(o store.Slot) string { return s.dayOf(o.StartsAt) + "," + s.clockOf(o.StartsAt) + "," }
	text := "date,start,name,kana,email,phone,party,note,language,notify\n" +
		when(slot) + "=HYPERLINK(\"\"),さとう,sato@example.com,090-1234-5678,2,x,en,yes\n" + // 2: broken quotation marks
		when(slot) + "'=cmd|' /C calc'!A0,さとう,Sato@EXAMPLE.com,０９０－１２３４－５６７８,２名,\"two\nlines\",英語,はい\n" + // 3: good, with mail
		when(slot) + "鈴木 次郎,,,,,,,\n" + // 5: good, told to nobody
		when(slot) + "佐藤,,sato@example.com,,1,,,\n" + // 6: as line 3
		when(full) + "満席 さん,,,,1,,,\n" + // 7: full
		when(small) + "三人 さん,,,,2,,,\n" + // 8: good
		when(small) + "二人 さん,,,,2,,,\n" + // 9: one seat is left by line 8
		when(slot) + "既に さん,," + known.Email + ",,1,,,\n" + // 10: booked already
		when(slot) + ",漢字,a@,12,0,,de,maybe\n" + // 11: nothing right
		"2027-03-14,3:33,だれか,,,,1,,,\n" + // 12: no slot
		when(slot) + "連絡 なし,,,,1,,,yes\n" // 13: notify whom?
	before := dump(t, s.Shop)
	checked := b.post(views.StaffImportURL("shop"), url.Values{views.FieldKind: {importBookings}, views.FieldImportText: {text}}).is(http.StatusOK).need("data-good", "3").need("data-bad", "8")
	if dump(t, s.Shop) != before {
		t.Fatal("checking has written something")
	}
	checked.says(ja("import.line.quotes")).says(ja("import.err.same_line", "line", "3")).says(ja("import.err.seats", "n", 0)).says(ja("import.err.seats", "n", 1)).says(ja("import.err.already")).
		says(ja("form.err.name")).says(ja("form.err.kana")).says(ja("form.err.email")).says(ja("form.err.phone")).says(ja("import.err.number", "most", mostParty)).says(ja("import.err.language")).
		says(ja("import.err.notify")).says(ja("import.err.no_slot")).says(ja("import.err.no_address")).says(ja("import.would.mail", "n", 1)).says(ja("import.would.silent", "n", 2)).says("=cmd|' /C calc'!A0様")
	action, fields := checked.form("/import/run")
	// Somebody is faster in one of the slots.
	s.Book(t, small, 2)
	done := b.post(action, fields).is(http.StatusOK).need("data-state", "partly").says(ja("import.done.bookings", "n", 2)).says(ja("import.err.seats", "n", 1))
	if got := done.all("data-line", "8"); len(got) != 1 || !strings.Contains(attr(got[0], "class"), "import-problem") {
		t.Errorf("the line that lost its seats is not told:\n%s", done.text())
	}
	roster, err := s.Store.Roster(t.Context(), slot.TenantID, slot.ID)
	if err != nil || len(roster) != 3 {
		t.Fatal(roster, err)
	}
	var sato, suzuki store.Reservation
	for _, r := range roster {
		switch r.Name {
		case "=cmd|' /C calc'!A0":
			sato = r
		case "鈴木 次郎":
			suzuki = r
		}
	}
	if sato.Kana != "サトウ" || sato.Email != "Sato@example.com" || sato.Phone != "+819012345678" || sato.PartySize != 2 || sato.Note != "two\nlines" || sato.Locale != "en" || sato.Source != store.SourceStaff {
		t.Errorf("%+v", sato)
	}
	if suzuki.PartySize != 1 || suzuki.Locale != "ja" || suzuki.Email != "" {
		t.Errorf("%+v", suzuki)
	}
	for _, c := range []struct {
		r     store.Reservation
		mails int
	}{{sato, 1}, {suzuki, 0}} {
		if mails, err := s.Store.Messages(t.Context(), store.MessageQuery{TenantID: slot.TenantID, SubjectID: c.r.ID}); err != nil || len(mails) != c.mails {
			t.Errorf("%s: %d mails, %v", c.r.Name, len(mails), err)
		}
	}
	// Once more: one has been cancelled, one has moved. Nothing is booked twice.
	if _, err := s.Store.Cancel(t.Context(), store.CancelRequest{TenantID: slot.TenantID, SlotID: slot.ID, IDs: []string{sato.ID}, Actor: shop.Staff, Silent: true}); err != nil {
		t.Fatal(err)
	}
	target := s.Slot(t, 5)
	if _, err := s.Store.Move(t.Context(), store.MoveRequest{TenantID: slot.TenantID, ID: suzuki.ID, TargetSlot: target.ID, TargetTerms: target.TermsVersion, Actor: shop.Staff}); err != nil {
		t.Fatal(err)
	}
	before = dump(t, s.Shop)
	b.post(action, fields).is(http.StatusOK).says(ja("import.done.bookings", "n", 0)).says(ja("import.note.moved"))
	if dump(t, s.Shop) != before {
		t.Error("the second press has written something")
	}
	for _, secret := range []string{"鈴木", "Sato@", "sato@", "calc"} {
		if strings.Contains(s.logs.String(), secret) {
			t.Errorf("the log has %q", secret)
		}
	}
}

// The second press does what was checked: a line that was at fault then is not done now.
func TestOnlyWhatWasCheckedIsImported(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	at := s.Start.AddDate(0, 0, 2)
	text := "date,start,resource\n" + s.dayOf(at) + ",9:00,studio-a\n" + s.dayOf(at) + ",11:00,studio-c\n"
	action, fields := b.post(views.StaffImportURL("shop"), url.Values{views.FieldKind: {importSlots}, views.FieldImportText: {text}}).is(http.StatusOK).need("data-good", "1").form("/import/run")
	s.AddResource(t, s.Tenant, "studio-c")
	b.post(action, fields).is(http.StatusOK).need("data-state", "done").says(ja("import.done.slots", "n", 1))
	for _, lines := range []string{"", "x", "3-2", "0", "1-999999", "9", "-", "2,,3"} {
		b.post(action, with(clone(fields), views.FieldImportLines, lines)).is(http.StatusUnprocessableEntity).need("role", "alert")
	}
	b.post(action, with(clone(fields), views.FieldKind, "x")).is(http.StatusBadRequest)
}

func TestAFileThatIsNoneIsSaidBesideIt(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	path, kind := views.StaffImportURL("shop"), map[string]string{views.FieldKind: importSlots}
	page := b.get(path).is(http.StatusOK)
	if form := page.all("enctype", "multipart/form-data"); len(form) != 1 {
		t.Fatal("the form sends no file")
	}
	for name, c := range map[string]struct {
		file []byte
		says string
	}{
		"nothing":    {nil, ja("import.file.nothing")},
		"no bytes":   {[]byte{}, ja("import.file.empty")},
		"a workbook": {[]byte("PK\x03\x04\x14\x00\x06\x00"), ja("import.file.no_text")},
		"no header":  {[]byte("a,b\n1,2\n"), ja("import.file.no_header")},
		"no column":  {[]byte("date\n2027-03-14\n"), ja("import.file.missing", "names", "開始")},
		"too large":  {make([]byte, mostImportBytes+1), ja("import.file.too_large", "most", 5)},
	} {
		b.upload(path, kind, views.FieldImportFile, "x.csv", c.file).is(http.StatusUnprocessableEntity).need("data-error", views.FieldImportFile).says(c.says)
		_ = name
	}
	b.upload(path, map[string]string{views.FieldKind: importSlots, views.FieldImportText: "date"}, views.FieldImportFile, "x.csv", []byte("date")).is(http.StatusUnprocessableEntity).says(ja("import.file.both"))
	b.upload(path, kind, views.FieldImportFile, "x.csv", make([]byte, mostImportBody+1)).is(http.StatusRequestEntityTooLarge)
	// Text that was pasted comes back as it was.
	kept := b.post(path, url.Values{views.FieldKind: {importBookings}, views.FieldImportText: {"\nname\tx\n<b>\t\"&\n"}}).is(http.StatusUnprocessableEntity).need("data-error", views.FieldImportText)
	if _, fields := kept.form("/import"); fields.Get(views.FieldImportText) != "\nname\tx\n<b>\t\"&\n" || fields.Get(views.FieldKind) != importBookings {
		t.Errorf("came back as %q", fields)
	}
}

func TestTheTemplatesAreFilesThatCanBeImported(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	for _, lang := range []string{"ja", "en"} {
		b.post("/staff/language", url.Values{views.FieldLang: {lang}}).is(http.StatusSeeOther)
		for _, kind := range importKinds {
			file := b.get(views.StaffImportTemplateURL("shop", kind)).is(http.StatusOK)
			if got := file.header.Get("Content-Type"); !strings.HasPrefix(got, "text/csv") || !strings.HasPrefix(file.body, "\ufeff") {
				t.Errorf("%s in %s: %s", kind, lang, got)
			}
			rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(file.body, "\ufeff"))).ReadAll()
			if err != nil || len(rows) != 2 {
				t.Errorf("%s in %s: %v, %v", kind, lang, rows, err)
			}
			good := "1"
			if kind == importBookings {
				good = "0" // there is no such slot
			}
			b.upload(views.StaffImportURL("shop"), map[string]string{views.FieldKind: kind}, views.FieldImportFile, "x.csv", []byte(file.body)).is(http.StatusOK).need("data-good", good)
		}
	}
}

// The statements of a check don't grow with the lines of the file.
func TestACheckKeepsToItsBudgetOfStatements(t *testing.T) {
	t.Parallel()
	s := openSite(t, shop.New(t, nil))
	b := asOwner(t, s)
	slot := s.Slot(t, 900)
	for _, kind := range importKinds {
		var counts []int
		for _, n := range []int{1, 400} {
			var text strings.Builder
			text.WriteString("date,start,name\n")
			for i := range n {
				at := slot.StartsAt
				if kind == importSlots {
					at = at.AddDate(0, 0, 1+i)
				}
				fmt.Fprintf(&text, "%s,%s,客 %d\n", s.dayOf(at), s.clockOf(at), i)
			}
			fields := url.Values{views.FieldKind: {kind}, views.FieldImportText: {text.String()}}
			counts = append(counts, s.Count(func() {
				b.post(views.StaffImportURL("shop"), fields).is(http.StatusOK).need("data-good", fmt.Sprint(n))
			}))
		}
		if counts[0] != counts[1] || counts[1] > 15 {
			t.Errorf("%s: %v statements", kind, counts)
		}
	}
}

func FuzzReadSheet(f *testing.F) {
	f.Add([]byte("日付,開始\n2027-03-14,9:00\n"), true)
	f.Add([]byte("\ufeffdate;start;name\n\"a\n\"\"b\";9時半;'=1\n"), false)
	f.Add([]byte{0xff, 0xfe, 'd', 0, '\t', 0}, true)
	f.Add([]byte("\x93\xfa\x95t,\x8aJ\x8en\r2027/3/14,24:00\r"), true)
	f.Fuzz(func(t *testing.T, raw []byte, slots bool) {
		text, _, ok := decodeText(raw)
		if !ok {
			return
		}
		if !utf8.ValidString(text) || strings.Contains(text, "\r") || strings.ContainsRune(text, 0) {
			t.Fatalf("%q is no text for a page", text)
		}
		// As it travels through a form.
		again := &form{values: url.Values{views.FieldImportText: {strings.ReplaceAll(text, "\n", "\r\n")}}, errs: formErrors{}}
		if got := again.sheetText(); got != strings.TrimPrefix(text, "\ufeff") || again.bad() {
			t.Fatalf("%q comes back as %q", text, got)
		}
		kind := importBookings
		if slots {
			kind = importSlots
		}
		s, fault := readSheet(text, kind)
		if fault != nil {
			return
		}
		last := 1
		var lines []int
		for _, row := range s.rows {
			if row.line <= last {
				t.Fatalf("line %d after %d", row.line, last)
			}
			last = row.line
			lines = append(lines, row.line)
			if day, ok := importDay(row.cells[colDate]); ok {
				if _, err := time.Parse(time.DateOnly, day); err != nil {
					t.Fatal(err)
				}
			}
			if minute, ok := importClock(row.cells[colStart]); ok && (minute < 0 || minute > 24*60) {
				t.Fatalf("%q is minute %d", row.cells[colStart], minute)
			}
		}
		got, ok := readLines(writeLines(lines))
		if !ok || len(got) != len(lines) {
			t.Fatalf("%v travels as %q", lines, writeLines(lines))
		}
	})
}
