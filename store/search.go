package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// SearchMost is how many of a kind a search finds at most.
const SearchMost = 50

// The most words of a search that are looked at, and the shortest piece of a
// reference number and of a telephone number.
const (
	searchWords  = 5
	searchNumber = 3
	searchPhone  = 4
)

// searched is what somebody typed, taken apart.
type searched struct {
	words   []string // each a piece of the name, its reading or the e-mail
	phones  []string // digits, each a piece of the telephone number
	numbers []string // what a reference number may begin with, as it is stored
}

func (q searched) empty() bool { return len(q.words)+len(q.phones)+len(q.numbers) == 0 }

func (q searched) args(at *time.Time, tenant string) pgx.StrictNamedArgs {
	likes := make([]string, len(q.phones))
	for i, digits := range q.phones {
		likes[i] = "%" + digits
		if len(digits) > searchPhone { // four digits are the last four
			likes[i] += "%"
		}
	}
	// A nil slice would be NULL, with which nothing compares.
	return pgx.StrictNamedArgs{
		"at": at, "tenant": tenant, "words": append([]string{}, q.words...), "phones": append([]string{}, q.phones...), "likes": likes, "limit": SearchMost,
	}
}

// parseSearch takes apart what was typed. A telephone number may be written in
// any way, also in pieces; its 0, or 00 and country, give way to what all ways of
// writing it share with the stored one.
func parseSearch(typed string) searched {
	q := searched{numbers: numbersLike(typed, searchNumber)}
	text := strings.ReplaceAll(NormalizeText(typed), "(0)", "")
	run := ""
	endRun := func() {
		digits := keepDigits(run)
		if strings.HasPrefix(run, "+") || len(digits) > searchPhone {
			if trimmed := strings.TrimLeft(digits, "0"); len(trimmed) >= searchPhone {
				digits = trimmed
			}
		}
		switch {
		case len(digits) >= searchPhone:
			q.phones = append(q.phones, digits)
		case run != "":
			q.words = append(q.words, run)
		}
		run = ""
	}
	for _, token := range strings.Fields(text) {
		if strings.Trim(token, "0123456789+()-‐‑–—−ー./") == "" {
			run += token
			continue
		}
		endRun()
		q.words = append(q.words, token)
	}
	endRun()
	q.words, q.phones = q.words[:min(len(q.words), searchWords)], q.phones[:min(len(q.phones), searchWords)]
	return q
}

// numbersLike gives what a reference number, typed wholly or only begun, may be
// as it is stored: capitals, without what stands between, and with the signs
// that numberAlphabet avoids read as those they are mistaken for. None where it
// can't be one.
func numbersLike(typed string, least int) []string {
	all := []string{""}
	for _, c := range strings.ToUpper(NormalizeText(typed)) {
		may := string(c)
		switch {
		case strings.ContainsRune(" -‐‑–—−ー._#", c):
			continue
		case strings.ContainsRune(numberAlphabet, c):
		case c == '1' || c == 'I':
			may = "L"
		case c == '0' || c == 'O':
			may = "QD"
		default:
			return nil
		}
		var next []string
		for _, begun := range all {
			for _, sign := range may {
				next = append(next, begun+string(sign))
			}
		}
		if all = next; len(all) > 16 || len(all[0]) > numberLength {
			return nil
		}
	}
	if len(all[0]) < least {
		return nil
	}
	return all
}

// Which words are looked up once more as a whole: a word of two characters is
// one piece, so the index has said all there is to say about it, and a common one
// finds very many rows.
const searchWhole = `whole AS MATERIALIZED (
	SELECT ARRAY(SELECT '%' || f.folded || '%' FROM (SELECT w, search_fold(w) AS folded FROM unnest(@words::text[]) w) f
		WHERE length(f.folded) <> 2 OR strpos(f.w, '@') > 0) AS likes
)`

// searchSQL finds by the index of pieces, and looks the whole up once more in
// what that finds; numbers are a range of their unique index. What is to come
// stands in front, the nearest first; then what is over, the newest first.
const searchSQL = `-- search reservations
WITH n AS (
	SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now
), ` + searchWhole + `, hit AS (
	SELECT r.id, r.slot_id, r.state FROM reservations r
	WHERE r.tenant_id = @tenant AND r.name || r.kana || r.email || r.phone <> ''
		AND cardinality(search_query(@tenant::uuid, @words::text[], @phones::text[])) > 0
		AND search_grams(r.tenant_id, r.name, r.kana, r.email, r.phone) COLLATE "C" @> search_query(@tenant::uuid, @words::text[], @phones::text[])
		AND r.phone LIKE ALL (@likes::text[])
		AND ((SELECT cardinality(likes) FROM whole) = 0 OR search_text(r.name, r.kana, r.email) LIKE ALL ((SELECT likes FROM whole)::text[]))
	UNION
	SELECT r.id, r.slot_id, r.state FROM unnest(@numbers::text[]) AS begun
	JOIN reservations r ON r.tenant_id = @tenant AND r.number BETWEEN begun AND rpad(begun, @length::int, 'Z') AND starts_with(r.number, begun)
), best AS (
	SELECT hit.id, s.starts_at, hit.state NOT IN ('held', 'confirmed') OR s.ends_at <= n.now AS over, n.now
	FROM hit CROSS JOIN n JOIN slots s ON s.tenant_id = @tenant AND s.id = hit.slot_id
	ORDER BY over, CASE WHEN hit.state IN ('held', 'confirmed') AND s.ends_at > n.now THEN s.starts_at END, s.starts_at DESC, hit.id LIMIT @limit
)
SELECT ` + reservationColumns + `, best.now FROM best JOIN reservations r ON r.tenant_id = @tenant AND r.id = best.id
ORDER BY best.over, CASE WHEN NOT best.over THEN best.starts_at END, best.starts_at DESC, r.id`

// Search finds reservations in all states by pieces of the name, the reading and
// the e-mail, by four or more digits of the telephone number, or by the number or
// how it begins; in any width and kana. Several words must all be found. What is
// to come stands first, the nearest in front; at most SearchMost.
func (s *Store) Search(ctx context.Context, tenant, typed string) ([]Reservation, error) {
	q := parseSearch(typed)
	if q.empty() {
		return nil, nil
	}
	args := q.args(s.at, tenant)
	args["numbers"], args["length"] = append([]string{}, q.numbers...), numberLength
	return list[Reservation](ctx, s.db, searchSQL, args)
}

const searchEntriesSQL = `-- search entries
WITH n AS (
	SELECT coalesce(@at::timestamptz, statement_timestamp()) AS now
), ` + searchWhole + `, hit AS (
	SELECT e.id, s.starts_at FROM waitlist_entries e JOIN slots s ON s.tenant_id = e.tenant_id AND s.id = e.slot_id
	WHERE e.tenant_id = @tenant AND e.state IN ('waiting', 'offered')
		AND cardinality(search_query(@tenant::uuid, @words::text[], @phones::text[])) > 0
		AND search_grams(e.tenant_id, e.name, e.kana, e.email, e.phone) COLLATE "C" @> search_query(@tenant::uuid, @words::text[], @phones::text[])
		AND e.phone LIKE ALL (@likes::text[])
		AND ((SELECT cardinality(likes) FROM whole) = 0 OR search_text(e.name, e.kana, e.email) LIKE ALL ((SELECT likes FROM whole)::text[]))
	ORDER BY s.starts_at, e.id LIMIT @limit
)
SELECT ` + entryColumns + `, 0 AS place, 0 AS of, n.now
FROM hit CROSS JOIN n JOIN waitlist_entries e ON e.tenant_id = @tenant AND e.id = hit.id
ORDER BY hit.starts_at, e.id`

// SearchEntries finds the live entries of waitlists by what Search finds
// reservations by, but the number; the nearest slot first, at most SearchMost.
func (s *Store) SearchEntries(ctx context.Context, tenant, typed string) ([]Entry, error) {
	q := parseSearch(typed)
	if len(q.words)+len(q.phones) == 0 {
		return nil, nil
	}
	return list[Entry](ctx, s.db, searchEntriesSQL, q.args(s.at, tenant))
}

const byNumberSQL = `-- reservation by number
SELECT ` + reservationColumns + `, coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM reservations r WHERE r.tenant_id = @tenant AND r.number = ANY (@numbers::text[]) ORDER BY r.number LIMIT 2`

// ReservationByNumber finds the reservation of a number as people type or read
// it: any case and width, spaces and hyphens, signs that are mistaken for others.
// NotFound if there is none, or if it could be two.
func (s *Store) ReservationByNumber(ctx context.Context, tenant, typed string) (Reservation, error) {
	numbers := numbersLike(typed, numberLength)
	if len(numbers) == 0 {
		return Reservation{}, NotFound
	}
	found, err := list[Reservation](ctx, s.db, byNumberSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "numbers": numbers})
	if err != nil {
		return Reservation{}, err
	}
	if len(found) != 1 {
		return Reservation{}, NotFound
	}
	return found[0], nil
}

const samePersonSQL = `-- bookings of the same person
SELECT ` + reservationColumns + `, coalesce(@at::timestamptz, statement_timestamp()) AS now
FROM reservations r JOIN slots s ON s.tenant_id = r.tenant_id AND s.id = r.slot_id
WHERE r.tenant_id = @tenant AND r.id <> @id AND r.state = 'confirmed' AND s.status <> 'cancelled' AND s.starts_at >= @from AND s.starts_at < @to
	AND ((@email::text <> '' AND r.email <> '' AND lower(r.email) = lower(@email::text)) OR r.group_id = NULLIF(@group::text, '')::uuid)
ORDER BY s.starts_at, r.id LIMIT 20`

// OthersOf lists the other bookings of the person of r, by e-mail or because they
// were made together, in slots that begin in the given time, the earliest first.
func (s *Store) OthersOf(ctx context.Context, r Reservation, from, to time.Time) ([]Reservation, error) {
	group := ""
	if r.GroupID != nil {
		group = *r.GroupID
	}
	if r.Email == "" && group == "" {
		return nil, nil
	}
	return list[Reservation](ctx, s.db, samePersonSQL, pgx.StrictNamedArgs{
		"at": s.at, "tenant": r.TenantID, "id": r.ID, "from": from, "to": to, "email": r.Email, "group": group,
	})
}

// ValidNumber reports whether a text could be a reference number as typed.
func ValidNumber(typed string) bool {
	return slices.ContainsFunc(numbersLike(typed, numberLength), func(n string) bool { return n != "" })
}
