package web

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"io"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	encodings "golang.org/x/text/encoding/japanese"
	"golang.org/x/text/unicode/norm"

	"holdfast/store"
	"holdfast/views/i18n"
)

// What a file of slots or bookings may be like. Excel in Japan writes Shift_JIS
// or, as "Unicode text", UTF-16 with tabs; in much of Europe semicolons; what is
// copied out of a sheet has tabs.
const (
	mostImportBytes = 5 << 20
	// mostImportCell bounds one cell, in characters.
	mostImportCell = longestNote
)

// textCoding is how the bytes of a file stood for text.
type textCoding string

const (
	codingUTF8     textCoding = "UTF-8"
	codingUTF16    textCoding = "UTF-16"
	codingShiftJIS textCoding = "Shift_JIS"
)

// The faults of a file as a whole; each has the words import.file.X.
const (
	fileNoText    = "no_text"   // no coding that we know, or no text at all
	fileEmpty     = "empty"     // no line
	fileNoHeader  = "no_header" // the first line names no column that we know
	fileTwice     = "twice"     // two columns of one name
	fileMissing   = "missing"   // a column that is needed
	fileTooLong   = "too_long"  // more lines than MostImportLines
	fileTooLarge  = "too_large" // more bytes than mostImportBytes
	fileNothing   = "nothing"   // neither file nor text
	fileBoth      = "both"      // a file and text
	fileNoContent = "no_lines"  // a header and nothing else
)

// decodeText gives the text of a file with line breaks as \n, and says how it
// was written; false where it is no text.
func decodeText(raw []byte) (string, textCoding, bool) {
	text, coding, ok := "", codingUTF8, true
	switch {
	case bytes.HasPrefix(raw, []byte{0xff, 0xfe}), bytes.HasPrefix(raw, []byte{0xfe, 0xff}):
		coding = codingUTF16
		text, ok = decodeUTF16(raw[2:], raw[0] == 0xfe)
	case utf8.Valid(raw) && bytes.IndexByte(raw, 0) < 0:
		text = strings.TrimPrefix(string(raw), "\ufeff")
	case bytes.IndexByte(raw, 0) >= 0:
		// UTF-16 without its mark: among the first characters is a comma, a tab or
		// a letter of Latin, whose other half is zero.
		coding = codingUTF16
		text, ok = decodeUTF16(raw, bytes.IndexByte(raw, 0)%2 == 0)
	default:
		coding = codingShiftJIS
		decoded, err := encodings.ShiftJIS.NewDecoder().Bytes(raw)
		text, ok = string(decoded), err == nil && !bytes.ContainsRune(decoded, utf8.RuneError)
	}
	if !ok || strings.ContainsFunc(text, notText) {
		return "", coding, false
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), coding, true
}

// notText are the characters that nobody can have typed into a sheet.
func notText(c rune) bool {
	return unicode.IsControl(c) && c != '\n' && c != '\r' && c != '\t'
}

func decodeUTF16(raw []byte, bigEndian bool) (string, bool) {
	if len(raw)%2 != 0 {
		return "", false
	}
	units := make([]uint16, 0, len(raw)/2)
	for i := 0; i < len(raw); i += 2 {
		if bigEndian {
			units = append(units, binary.BigEndian.Uint16(raw[i:]))
		} else {
			units = append(units, binary.LittleEndian.Uint16(raw[i:]))
		}
	}
	text := string(utf16.Decode(units))
	return text, !strings.ContainsRune(text, utf8.RuneError)
}

// The columns of both kinds of file, as in the texts import.col.X.
const (
	colService  = "service"
	colResource = "resource"
	colDate     = "date"
	colStart    = "start"
	colEnd      = "end"
	colCapacity = "capacity"
	colName     = "name"
	colKana     = "kana"
	colEmail    = "email"
	colPhone    = "phone"
	colParty    = "party"
	colNote     = "note"
	colLanguage = "language"
	colNotify   = "notify"
)

// The kinds of file.
const (
	importSlots    = "slots"
	importBookings = "bookings"
)

// importColumns are the columns of each kind in the order of its template.
var importColumns = map[string][]string{
	importSlots:    {colService, colResource, colDate, colStart, colEnd, colCapacity},
	importBookings: {colDate, colStart, colService, colResource, colName, colKana, colEmail, colPhone, colParty, colNote, colLanguage, colNotify},
}

// importNeeds are the columns without which no line can be understood; service
// and resource too where the venue has several.
var importNeeds = map[string][]string{
	importSlots:    {colDate, colStart},
	importBookings: {colDate, colStart, colName},
}

// importNames are further names of a column, as squeezed leaves them.
var importNames = map[string][]string{
	colService:  {"サービス名", "メニュー", "コース", "クラス", "class", "menu", "course"},
	colResource: {"場所", "担当", "場所担当", "担当者", "スタジオ", "部屋", "リソース", "room", "place", "staff", "studio"},
	colDate:     {"日", "日にち", "開催日", "予約日", "day"},
	colStart:    {"開始時刻", "開始時間", "時刻", "時間", "starttime", "starts", "time", "from"},
	colEnd:      {"終了時刻", "終了時間", "endtime", "ends", "until", "to"},
	colCapacity: {"席数", "席", "seats", "places"},
	colName:     {"氏名", "お名前", "予約者", "お客様名", "customer", "fullname", "guest"},
	colKana:     {"フリガナ", "カナ", "かな", "よみがな", "読み", "セイメイ", "reading"},
	colEmail:    {"メール", "eメール", "mail", "email", "mailaddress", "emailaddress"},
	colPhone:    {"電話", "tel", "telephone", "phonenumber", "携帯"},
	colParty:    {"名数", "予約人数", "people", "guests", "partysize", "number", "pax"},
	colNote:     {"メモ", "ご要望", "notes", "comment", "comments", "remarks"},
	colLanguage: {"lang", "locale"},
	colNotify:   {"通知", "メール通知", "お知らせ", "notification", "sendmail"},
}

// squeezed is a name as names are compared: any width, any case, without
// blanks and what stands between words.
func squeezed(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || strings.ContainsRune("-_・･/*():.'’", c) || unicode.Is(unicode.Cf, c) {
			return -1
		}
		return unicode.ToLower(c)
	}, norm.NFKC.String(name))
}

var importNamed = func() map[string]string {
	out := map[string]string{}
	for col, names := range importNames {
		for _, name := range append([]string{col}, names...) {
			out[squeezed(name)] = col
		}
		for _, lang := range i18n.Languages {
			out[squeezed(i18n.For(lang).T(i18n.Key("import.col."+col)))] = col
		}
	}
	return out
}()

// sheetRow is one line of a file: its cells by column, and where it begins.
type sheetRow struct {
	line   int // of the file, the header is 1
	cells  map[string]string
	fault  string // of the line as a whole; empty: none
	excess string // what stands in a column without a name
}

// sheet is a file as read.
type sheet struct {
	comma   rune
	columns []string // that were found, in the order of the file
	ignored []string // names of columns that we do not know
	rows    []sheetRow
}

// The faults of a line as a whole; each has the words import.line.X.
const (
	lineQuotes  = "quotes"  // a quotation mark that is not closed, or in the middle
	lineTooMany = "columns" // more cells than the header has
)

// sheetFault is what is wrong with a file as a whole.
type sheetFault struct {
	kind  string
	names []string // columns, as the file writes them or by their code
}

// readSheet reads a text of lines with a header. What is wrong with a line
// stands at the line; only a file that can't be read as a whole is a fault.
func readSheet(text, kind string) (sheet, *sheetFault) {
	s := sheet{comma: separator(text)}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.FieldsPerRecord = s.comma, -1
	var header []string // column by position; "" for one that we do not know
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var wrong *csv.ParseError
		if err != nil && !errors.As(err, &wrong) {
			return s, &sheetFault{kind: fileNoText}
		}
		row := sheetRow{cells: map[string]string{}}
		if wrong != nil {
			row.line, row.fault = wrong.StartLine, lineQuotes
			if header == nil {
				return s, &sheetFault{kind: fileNoHeader}
			}
			record = nil
		} else {
			row.line, _ = r.FieldPos(0)
			if blank(record) {
				continue
			}
		}
		if header == nil {
			var fault *sheetFault
			if header, fault = s.readHeader(record, kind); fault != nil {
				return s, fault
			}
			continue
		}
		for i, value := range record {
			value = cellText(value)
			switch {
			case i >= len(header):
				if value != "" && row.fault == "" {
					row.fault, row.excess = lineTooMany, value
				}
			case header[i] != "":
				row.cells[header[i]] = value
			}
		}
		if len(s.rows) == store.MostImportLines {
			return s, &sheetFault{kind: fileTooLong}
		}
		s.rows = append(s.rows, row)
	}
	switch {
	case header == nil:
		return s, &sheetFault{kind: fileEmpty}
	case len(s.rows) == 0:
		return s, &sheetFault{kind: fileNoContent}
	}
	return s, nil
}

// readHeader finds the columns by their names, in any order.
func (s *sheet) readHeader(record []string, kind string) ([]string, *sheetFault) {
	known := map[string]bool{}
	for _, col := range importColumns[kind] {
		known[col] = true
	}
	header := make([]string, len(record))
	seen := map[string]bool{}
	for i, name := range record {
		name = cellText(name)
		col := importNamed[squeezed(name)]
		switch {
		case !known[col]:
			if name != "" {
				s.ignored = append(s.ignored, name)
			}
			continue
		case seen[col]:
			return nil, &sheetFault{kind: fileTwice, names: []string{col}}
		}
		seen[col], header[i] = true, col
		s.columns = append(s.columns, col)
	}
	if len(s.columns) == 0 {
		return nil, &sheetFault{kind: fileNoHeader}
	}
	var missing []string
	for _, col := range importNeeds[kind] {
		if !seen[col] {
			missing = append(missing, col)
		}
	}
	if len(missing) > 0 {
		return nil, &sheetFault{kind: fileMissing, names: missing}
	}
	return header, nil
}

// cellText is a cell without what stands around it. Our own exports put an
// apostrophe before what a spreadsheet would take for a formula; here it goes
// again, and the text stays a text.
func cellText(value string) string {
	value = strings.TrimSpace(value)
	if rest, marked := strings.CutPrefix(value, "'"); marked && strings.IndexAny(strings.TrimSpace(rest), "=+-@|＝＋－＠｜﹦﹢﹣﹫") == 0 {
		return strings.TrimSpace(rest)
	}
	return value
}

func blank(record []string) bool {
	for _, value := range record {
		if strings.TrimSpace(value) != "" {
			return false
		}
	}
	return true
}

// separator is what stands most often between the names of the columns.
func separator(text string) rune {
	counts := map[rune]int{}
	quoted, begun := false, false
	for _, c := range text {
		switch {
		case c == '"':
			quoted = !quoted
		case c == '\n' && !quoted && begun:
			return most(counts)
		case !quoted && (c == ',' || c == ';' || c == '\t'):
			counts[c]++
		case !unicode.IsSpace(c):
			begun = true
		}
	}
	return most(counts)
}

func most(counts map[rune]int) rune {
	best := ','
	for _, c := range []rune{'\t', ';'} {
		if counts[c] > counts[best] {
			best = c
		}
	}
	return best
}

// importDay reads 2027-03-14, 2027/3/14, 2027.3.14 or 2027年3月14日, in any width,
// as 2006-01-02. A weekday in brackets behind it is passed over.
func importDay(typed string) (string, bool) {
	text := store.NormalizeText(typed)
	if at := strings.IndexByte(text, '('); at > 0 {
		text = strings.TrimSpace(text[:at])
	}
	text = strings.NewReplacer("年", "-", "月", "-", "日", "", "/", "-", ".", "-").Replace(text)
	text = strings.Join(strings.Fields(text), "")
	at, err := time.Parse("2006-1-2", text)
	if err != nil || at.Year() < 2000 || at.Year() > 2199 {
		return "", false
	}
	return at.Format(time.DateOnly), true
}

// importClock reads 9:00, 09:00, 9時, 9時30分 or 24:00, in any width, also with the
// seconds that a spreadsheet may add, as minutes after midnight.
func importClock(typed string) (int, bool) {
	text := store.NormalizeText(typed)
	if hour, rest, kanji := strings.Cut(text, "時"); kanji {
		rest = strings.TrimSuffix(rest, "分")
		if rest == "半" {
			rest = "30"
		}
		if rest == "" {
			rest = "00"
		}
		if len(rest) == 1 {
			rest = "0" + rest
		}
		text = hour + ":" + rest
	}
	if strings.Count(text, ":") == 2 {
		text = strings.TrimSuffix(text, ":00")
	}
	if !strings.Contains(text, ":") {
		return 0, false // 930 is as well a number of seats in the wrong column
	}
	return store.ParseClock(text)
}

var saysYes, saysNo = []string{"yes", "y", "1", "true", "on", "はい", "する", "送る", "有", "あり", "有り", "○", "◯", "〇"},
	[]string{"", "no", "n", "0", "false", "off", "いいえ", "しない", "送らない", "無", "なし", "無し", "×", "✕", "-"}

// importYes reads yes or no; an empty cell is no.
func importYes(typed string) (yes, ok bool) {
	text := strings.ToLower(norm.NFKC.String(strings.TrimSpace(typed)))
	for _, word := range saysYes {
		if text == norm.NFKC.String(word) {
			return true, true
		}
	}
	for _, word := range saysNo {
		if text == norm.NFKC.String(word) {
			return false, true
		}
	}
	return false, false
}

// importLanguage reads a language; an empty cell is the venue's.
func importLanguage(typed, venues string) (string, bool) {
	switch squeezed(typed) {
	case "":
		return venues, true
	case "ja", "jp", "jajp", "japanese", "日本語", "日":
		return i18n.JA, true
	case "en", "enus", "engb", "english", "英語", "英":
		return i18n.EN, true
	}
	return "", false
}
