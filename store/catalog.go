package store

import (
	"context"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"time"
	"unicode"

	"github.com/jackc/pgx/v5"
	"golang.org/x/text/unicode/norm"
)

// What staff set up: services, resources, closed days, the venue itself. Each
// change is one transaction that locks its one row, compares the version that
// the form showed (Conflict, and nothing is written), writes, and notes in
// setting_changes who changed which fields. A press that changes nothing writes
// nothing. None of it touches seats.
//
// Two rules stand here because nothing can undo a breach of them. A slug stands
// in addresses and in the API: it can be changed until a slot names it. And the
// time zone of a venue can be changed only while no slot lies ahead: instants
// are stored, so all times on the wall would move.

// The faults of a setting, apart from Conflict and NotFound; callers compare
// them with errors.Is.
var (
	ErrSlug        = errors.New("a slug has small letters, digits and - between them, at most 63")
	ErrSlugTaken   = errors.New("the slug is another's")
	ErrSlugFixed   = errors.New("the slug is in use by slots")
	ErrURL         = errors.New("not an address that begins with https:// or http://")
	ErrZone        = errors.New("unknown time zone")
	ErrZoneFixed   = errors.New("slots lie ahead: their times on the wall would move")
	ErrNoName      = errors.New("no name in any language")
	ErrInUse       = errors.New("slots or schedules need it")
	ErrCatalogFull = errors.New("as many as there may be")
	ErrDayRange    = errors.New("not a span of days, or too long a one")
	errNoLanguage  = errors.New("no language that Holdfast speaks")
)

var slugForm = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// ValidSlug reports whether a text can be the slug of a service or a resource.
func ValidSlug(slug string) bool { return slugForm.MatchString(slug) }

// ProposeSlug makes a slug of a name: its Latin letters and digits, small, with
// - for all between. Empty where the name has none.
func ProposeSlug(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(name) {
		switch {
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r + 'a' - 'A')
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r): // the accent of the letter before
		default:
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
				b.WriteByte('-')
			}
		}
	}
	slug := b.String()
	if len(slug) > 40 {
		slug = slug[:40]
	}
	return strings.Trim(slug, "-")
}

// NormalizeLines trims a text of several lines that a shop writes about itself.
// Its characters stay as typed; what can't be seen and what turns the direction
// of the text around it goes.
func NormalizeLines(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' || turns(r) {
			return -1
		}
		return r
	}, norm.NFC.String(strings.ReplaceAll(strings.ToValidUTF8(text, ""), "\r\n", "\n")))
	return strings.TrimSpace(text)
}

// NormalizeURL checks the address of a page elsewhere, which will stand in a
// link: http or https and a host, nothing else before the path. Empty stays
// empty. Else ErrURL.
func NormalizeURL(typed string) (string, error) {
	typed = strings.TrimSpace(typed)
	if typed == "" {
		return "", nil
	}
	u, err := url.Parse(typed)
	if err != nil || u.User != nil || u.Hostname() == "" || u.Opaque != "" || strings.ContainsFunc(u.Hostname(), func(r rune) bool { return r <= ' ' || strings.ContainsRune(`"'<>\^{|}`+"`", r) }) {
		return "", ErrURL
	}
	if u.Scheme = strings.ToLower(u.Scheme); u.Scheme != "http" && u.Scheme != "https" {
		return "", ErrURL
	}
	if !strings.Contains(u.Hostname(), ".") && u.Hostname() != "localhost" {
		return "", ErrURL
	}
	return u.String(), nil
}

// knownZone reports whether a name is one of the time zone database. Local is
// that of the machine, which means another on each.
func knownZone(name string) bool {
	if name == "" || name == "Local" {
		return false
	}
	_, err := time.LoadLocation(name)
	return err == nil
}

// CatalogUse is what lies ahead for a service or a resource.
type CatalogUse struct {
	ID        string
	Slots     int // not over and not cancelled
	Booked    int // of those, how many have seats taken
	Seats     int // that are taken in them
	Schedules int // that make more
	Ever      bool
}

const catalogUseSQL = `-- use of services and resources
SELECT c.id::text, coalesce(u.slots, 0) AS slots, coalesce(u.booked, 0) AS booked, coalesce(u.seats, 0) AS seats,
	(SELECT count(*)::int FROM schedules d WHERE d.tenant_id = @tenant AND d.state = 'active' AND CASE WHEN @by_resource THEN d.resource_id ELSE d.service_id END = c.id) AS schedules,
	EXISTS (SELECT 1 FROM slots e WHERE e.tenant_id = @tenant AND CASE WHEN @by_resource THEN e.resource_id ELSE e.service_id END = c.id) AS ever
FROM (
	SELECT id FROM services WHERE tenant_id = @tenant AND NOT @by_resource::boolean
	UNION ALL SELECT id FROM resources WHERE tenant_id = @tenant AND @by_resource
) c LEFT JOIN (
	SELECT CASE WHEN @by_resource THEN s.resource_id ELSE s.service_id END AS id, count(*)::int AS slots, (count(*) FILTER (WHERE s.taken > 0))::int AS booked, sum(s.taken)::int AS seats
	FROM slots s WHERE s.tenant_id = @tenant AND s.status <> 'cancelled'
		AND s.starts_at > (SELECT coalesce(@at::timestamptz, statement_timestamp())) - interval '2 days'
		AND s.ends_at > (SELECT coalesce(@at::timestamptz, statement_timestamp()))
	GROUP BY 1
) u ON u.id = c.id
WHERE @only::text = '' OR c.id = NULLIF(@only, '')::uuid
LIMIT 1000`

// ServiceUse tells what lies ahead for each service of a tenant, by id.
func (s *Store) ServiceUse(ctx context.Context, tenant string) (map[string]CatalogUse, error) {
	return s.catalogUse(ctx, s.db, tenant, false, "")
}

// ResourceUse tells what lies ahead for each resource of a tenant, by id.
func (s *Store) ResourceUse(ctx context.Context, tenant string) (map[string]CatalogUse, error) {
	return s.catalogUse(ctx, s.db, tenant, true, "")
}

func (s *Store) catalogUse(ctx context.Context, db querier, tenant string, byResource bool, only string) (map[string]CatalogUse, error) {
	all, err := list[CatalogUse](ctx, db, catalogUseSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant, "by_resource": byResource, "only": only})
	if err != nil {
		return nil, err
	}
	use := make(map[string]CatalogUse, len(all))
	for _, u := range all {
		use[u.ID] = u
	}
	return use, nil
}
