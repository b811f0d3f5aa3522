package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-chi/chi/v5/middleware"

	"holdfast/store"
	"holdfast/views/i18n"
)

// csvFile is a list on its way to a file that Excel opens, in Japanese too:
// UTF-8 with its mark, RFC 4180. It is sent while it is read, so that its length
// costs no memory. Every list goes through here: what is written is neutral to
// spreadsheets whoever wrote the text.
type csvFile struct {
	s     *Server
	w     http.ResponseWriter
	r     *http.Request
	about csvAbout
	buf   []byte
	sent  bool
	rows  int
}

// csvAbout names a file.
type csvAbout struct {
	what  string // which list, for the log
	name  string // of the file, in the reader's language, without .csv
	plain string // the same in ASCII
	head  []string
	log   []any // what else the log may say: no personal data
}

const (
	csvChunk = 32 << 10
	// csvLimit is the longest that an export may take as a whole.
	csvLimit = 15 * time.Minute
)

// sendCSV answers with a file. Rows are written by write; what it returns before
// anything was sent becomes an ordinary answer, later the file breaks off, so
// that nobody takes half of it for the whole. Who took what stands in the log.
func (s *Server) sendCSV(w http.ResponseWriter, r *http.Request, about csvAbout, write func(context.Context, *csvFile) error) error {
	f := &csvFile{s: s, w: w, r: r, about: about, buf: []byte("\ufeff")}
	if r.Method == http.MethodHead {
		f.headers()
		w.WriteHeader(http.StatusOK)
		return nil
	}
	cells := make([]cell, len(about.head))
	for i, title := range about.head {
		cells[i] = textCell(title)
	}
	f.line(cells)
	// The deadline of usual requests is not one for a long list; the visitor who leaves is.
	ctx, cancel := context.WithTimeout(whole(r), csvLimit)
	defer cancel()
	// Reading too: past the server's limit for a request its context would end.
	if err := http.NewResponseController(w).SetReadDeadline(time.Time{}); err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	err := write(ctx, f)
	if err == nil {
		err = f.flush()
	}
	if err != nil && !f.sent {
		return err
	}
	s.log.InfoContext(r.Context(), "exported", append([]any{
		"request", middleware.GetReqID(r.Context()), "tenant", venue(r).ID, "staff", me(r).ID, "what", about.what, "rows", f.rows, "whole", err == nil,
	}, about.log...)...)
	if err != nil {
		if ctx.Err() == nil {
			s.log.ErrorContext(r.Context(), "an export broke off", "request", middleware.GetReqID(r.Context()), "route", pattern(r), "error", err)
		}
		panic(http.ErrAbortHandler)
	}
	return nil
}

func (f *csvFile) headers() {
	h := f.w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="%s.csv"; filename*=UTF-8''%s.csv`, f.about.plain, url.PathEscape(f.about.name)))
	h.Set("Cache-Control", cacheNever)
	h.Set("X-Accel-Buffering", "no")
}

// row writes one line of the list.
func (f *csvFile) row(cells ...cell) error {
	f.line(cells)
	f.rows++
	if len(f.buf) < csvChunk {
		return nil
	}
	return f.flush()
}

func (f *csvFile) line(cells []cell) {
	for i, c := range cells {
		if i > 0 {
			f.buf = append(f.buf, ',')
		}
		if c.bare {
			f.buf = append(f.buf, c.text...)
			continue
		}
		// Always in quotes: a spreadsheet that separates by semicolons finds none outside of them.
		f.buf = append(f.buf, '"')
		f.buf = append(f.buf, strings.ReplaceAll(c.text, `"`, `""`)...)
		f.buf = append(f.buf, '"')
	}
	f.buf = append(f.buf, '\r', '\n')
}

func (f *csvFile) flush() error {
	if !f.sent {
		f.headers()
	}
	f.sent = true
	c := http.NewResponseController(f.w)
	if err := c.SetWriteDeadline(time.Now().Add(writeLimit)); err != nil {
		return err
	}
	if _, err := f.w.Write(f.buf); err != nil {
		return err
	}
	f.buf = f.buf[:0]
	return c.Flush()
}

// cell is one field of a line.
type cell struct {
	text string
	bare bool // a number of ours: not in quotes
}

// countCell is a cell that is to be counted with.
func countCell(n int) cell { return cell{strconv.Itoa(n), true} }

// textCell is a cell of what somebody typed, or of words. A spreadsheet takes a text
// that begins like a formula for one, also behind blanks or in full width; an
// apostrophe in front makes it text again, and it can still be read.
func textCell(typed string) cell {
	clean := strings.Map(func(c rune) rune {
		if c == '\t' || c == '\n' || c == '\r' || !unicode.IsControl(c) {
			return c
		}
		return -1
	}, strings.ToValidUTF8(typed, ""))
	clean = strings.ReplaceAll(clean, "\r\n", "\n")
	first := strings.TrimLeftFunc(clean, func(c rune) bool { return unicode.IsSpace(c) || unicode.Is(unicode.Cf, c) })
	if strings.IndexAny(clean, "\t\r\n") == 0 || strings.IndexAny(first, "=+-@|＝＋－＠｜﹦﹢﹣﹫") == 0 {
		clean = "'" + clean
	}
	return cell{text: clean}
}

// phoneCell is a telephone number as people at the venue dial it. Of 090… a
// spreadsheet would drop the 0 and of +81… make a sum: with hyphens it stays a
// text, and the country of a foreign one stands in brackets.
func phoneCell(t store.Tenant, e164 string) cell {
	if e164 == "" {
		return textCell("")
	}
	written := store.FormatPhone(e164, region(t))
	if country, rest, found := strings.Cut(written, " "); found && strings.HasPrefix(country, "+") {
		written = "(" + country + ") " + rest
	}
	return textCell(written)
}

// Reference numbers that a spreadsheet would read as 2 × 10³⁴ or as a month.
var numberMisread = regexp.MustCompile(`^[0-9]+[ED][0-9]+$|^[0-9]*(JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|DEC)[0-9]*$`)

// numberCell is a reference number. Where a spreadsheet would make something else
// of it, a # stands in front, which the search and the check-in read past.
func numberCell(n string) cell {
	if numberMisread.MatchString(n) {
		return textCell("#" + n)
	}
	return textCell(n)
}

// dayCell and timeCell are at the venue, in the one way of writing that
// spreadsheets of all languages read.
func dayCell(t store.Tenant, at time.Time) cell {
	return textCell(at.In(t.Location()).Format(time.DateOnly))
}

func timeCell(t store.Tenant, at time.Time) cell {
	return textCell(at.In(t.Location()).Format("15:04"))
}

func momentCell(t store.Tenant, at *time.Time) cell {
	if at == nil {
		return textCell("")
	}
	return textCell(at.In(t.Location()).Format("2006-01-02 15:04"))
}

// codeCell is a cell with the word for a code; an empty code has none.
func codeCell(ctx context.Context, code string, key i18n.Key) cell {
	if code == "" {
		return textCell("")
	}
	return textCell(i18n.T(ctx, key))
}

// csvColumns are the titles of a list.
func csvColumns(ctx context.Context, keys ...string) []string {
	out := make([]string, len(keys))
	for i, key := range keys {
		out[i] = i18n.T(ctx, i18n.Key("find.col."+key))
	}
	return out
}
