package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
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

// SettingChange is one line of who changed what in the settings. It names
// fields, never what stood in them: no personal data.
type SettingChange struct {
	ID       string
	TenantID string
	At       time.Time
	StaffID  string // empty: not a person
	Area     string // small letters and _: "service", "venue", …
	Subject  string // the id of what was changed within the area; empty: the whole
	Fields   []string
	// Who is the name, else the address, of the person while they work for the tenant; only read.
	Who string
}

// The areas of this file.
const (
	AreaService  = "service"
	AreaResource = "resource"
	AreaClosed   = "closed_days"
	AreaVenue    = "venue"
)

const recordSettingChangeSQL = `-- record setting change
INSERT INTO setting_changes (tenant_id, at, staff_id, area, subject, fields)
VALUES (@tenant, (SELECT coalesce(@at::timestamptz, statement_timestamp())), NULLIF(@staff::text, '')::uuid, @area, @subject, @fields::text[])`

// RecordSettingChange notes a change that was made elsewhere. Without fields
// there is nothing to note.
func (s *Store) RecordSettingChange(ctx context.Context, c SettingChange) error {
	return classify(s.recordSettingChange(ctx, s.db, c))
}

// recordSettingChange is for steps that make the change in the same transaction.
func (s *Store) recordSettingChange(ctx context.Context, db querier, c SettingChange) error {
	if len(c.Fields) == 0 {
		return nil
	}
	_, err := db.Exec(ctx, recordSettingChangeSQL, pgx.StrictNamedArgs{
		"tenant": c.TenantID, "at": s.at, "staff": c.StaffID, "area": c.Area, "subject": c.Subject, "fields": c.Fields,
	})
	return err
}

const settingChangeSelect = `SELECT c.id::text, c.tenant_id::text, c.at, coalesce(c.staff_id::text, '') AS staff_id, c.area, c.subject, c.fields,
	coalesce((SELECT coalesce(NULLIF(p.name, ''), p.email) FROM memberships m JOIN staff p ON p.id = m.staff_id
		WHERE m.tenant_id = c.tenant_id AND m.staff_id = c.staff_id), '') AS who
FROM setting_changes c
WHERE c.tenant_id = @tenant`

const settingChangesSQL = `-- setting changes
` + settingChangeSelect + ` AND (@before::text = '' OR (c.at, c.id) < (SELECT b.at, b.id FROM setting_changes b WHERE b.tenant_id = @tenant AND b.id = NULLIF(@before, '')::uuid))
ORDER BY c.at DESC, c.id DESC LIMIT @limit`

// SettingChanges lists the changes of a tenant's settings, newest first; before
// is the id of the last one already seen, or empty.
func (s *Store) SettingChanges(ctx context.Context, tenant, before string, limit int) ([]SettingChange, error) {
	if before != "" && !ValidID(before) {
		return nil, NotFound
	}
	return list[SettingChange](ctx, s.db, settingChangesSQL, pgx.StrictNamedArgs{"tenant": tenant, "before": before, "limit": limit})
}

const lastSettingChangeSQL = `-- last setting change
` + settingChangeSelect + ` AND c.area = @area AND (@subject::text = '' OR c.subject = @subject) ORDER BY c.at DESC, c.id DESC LIMIT 1`

// LastSettingChange is the newest change of an area, and of a subject in it if
// one is named; NotFound if there is none.
func (s *Store) LastSettingChange(ctx context.Context, tenant, area, subject string) (SettingChange, error) {
	return one[SettingChange](ctx, s.db, lastSettingChangeSQL, pgx.StrictNamedArgs{"tenant": tenant, "area": area, "subject": subject})
}

// changeSetting runs f in a transaction, notes the fields that it returns, and
// gives a refusal its form. Nothing is noted where nothing changed.
func (s *Store) changeSetting(ctx context.Context, step string, c SettingChange, f func(context.Context, pgx.Tx) (subject string, fields []string, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, LongestWait)
	defer cancel()
	err := pgx.BeginFunc(ctx, s.db, func(tx pgx.Tx) error {
		subject, fields, err := f(ctx, tx)
		if err != nil {
			return err
		}
		c.Subject, c.Fields = subject, fields
		return s.recordSettingChange(ctx, tx, c)
	})
	var outcome Outcome
	if err = classify(err); err == nil || errors.As(err, &outcome) {
		return err
	}
	return fmt.Errorf("%s: %w", step, err)
}

// fieldList are the names of the fields that a press changes.
type fieldList []string

func (c *fieldList) text(name string, was, is Text) {
	for _, lang := range []string{"ja", "en"} {
		if was[lang] != is[lang] {
			*c = append(*c, name+"_"+lang)
		}
	}
}

func noteIf[T comparable](c *fieldList, name string, was, is T) {
	if was != is {
		*c = append(*c, name)
	}
}

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

// MostServices and MostResources bound a tenant's catalog, which pages read whole.
const (
	MostServices  = 200
	MostResources = 200
)

// ServiceChange is what staff want a service to be. Of Service count the id
// (empty: a new one), tenant, slug, texts, duration and capacity.
type ServiceChange struct {
	Service Service
	Version int // that the form showed
	Staff   string
}

const lockServiceSQL = `-- lock service
SELECT ` + serviceColumns + ` FROM services WHERE tenant_id = @tenant AND id = @service FOR NO KEY UPDATE`

// lockService locks a service and holds its version against the one shown.
func (s *Store) lockService(ctx context.Context, tx pgx.Tx, tenant, id string, version int) (Service, error) {
	if !ValidID(id) {
		return Service{}, NotFound
	}
	sv, err := one[Service](ctx, tx, lockServiceSQL, pgx.StrictNamedArgs{"tenant": tenant, "service": id})
	if err == nil && sv.Version != version {
		return sv, Conflict
	}
	return sv, err
}

const saveServiceSQL = `-- save service
UPDATE services SET slug = @slug, name = @name::jsonb, description = @description::jsonb, price = @price::jsonb, place = @place::jsonb, bring = @bring::jsonb,
	duration = @duration, capacity = @capacity, version = version + 1
WHERE tenant_id = @tenant AND id = @service
RETURNING ` + serviceColumns

// AddNamedService stores a new service, in use, with an empty list of questions,
// the tenant's policies and the last place on the page. Errors: ErrSlug,
// ErrSlugTaken, ErrNoName, ErrCatalogFull.
func (s *Store) AddNamedService(ctx context.Context, c ServiceChange) (Service, error) {
	if err := checkNamed(c.Service.Slug, c.Service.Name); err != nil {
		return Service{}, err
	}
	all, err := s.Services(ctx, c.Service.TenantID)
	if err != nil {
		return Service{}, err
	}
	if len(all) >= MostServices {
		return Service{}, ErrCatalogFull
	}
	sv := c.Service
	sv.Active = true
	added, err := s.AddService(ctx, sv)
	if violated(err, "services_slug") {
		return Service{}, ErrSlugTaken
	}
	if err != nil {
		return Service{}, err
	}
	return added, s.RecordSettingChange(ctx, SettingChange{TenantID: added.TenantID, StaffID: c.Staff, Area: AreaService, Subject: added.ID, Fields: []string{"added"}})
}

func checkNamed(slug string, name Text) error {
	switch {
	case !ValidSlug(slug):
		return ErrSlug
	case name.In("") == "":
		return ErrNoName
	}
	return nil
}

// SaveService changes the slug, texts, duration and default capacity of a
// service. The last two count for slots made from then on. Errors: NotFound,
// Conflict, ErrSlug, ErrSlugTaken, ErrSlugFixed, ErrNoName.
func (s *Store) SaveService(ctx context.Context, c ServiceChange) (Service, error) {
	is := c.Service
	if err := checkNamed(is.Slug, is.Name); err != nil {
		return Service{}, err
	}
	var saved Service
	err := s.changeSetting(ctx, "save service", SettingChange{TenantID: is.TenantID, StaffID: c.Staff, Area: AreaService}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		was, err := s.lockService(ctx, tx, is.TenantID, is.ID, c.Version)
		if err != nil {
			return "", nil, err
		}
		var fields fieldList
		noteIf(&fields, "slug", was.Slug, is.Slug)
		fields.text("name", was.Name, is.Name)
		fields.text("description", was.Description, is.Description)
		fields.text("price", was.Price, is.Price)
		fields.text("place", was.Place, is.Place)
		fields.text("bring", was.Bring, is.Bring)
		noteIf(&fields, "duration", was.Duration, is.Duration)
		noteIf(&fields, "capacity", was.Capacity, is.Capacity)
		if saved = was; len(fields) == 0 {
			return "", nil, nil
		}
		if was.Slug != is.Slug {
			use, err := s.catalogUse(ctx, tx, is.TenantID, false, is.ID)
			if err != nil {
				return "", nil, err
			}
			if use[is.ID].Ever {
				return "", nil, ErrSlugFixed
			}
		}
		saved, err = one[Service](ctx, tx, saveServiceSQL, pgx.StrictNamedArgs{
			"tenant": is.TenantID, "service": is.ID, "slug": is.Slug, "name": jsonText(is.Name), "description": jsonText(is.Description), "price": jsonText(is.Price),
			"place": jsonText(is.Place), "bring": jsonText(is.Bring), "duration": is.Duration, "capacity": is.Capacity,
		})
		if violated(err, "services_slug") {
			return "", nil, ErrSlugTaken
		}
		return is.ID, fields, err
	})
	return saved, err
}

const setServiceActiveSQL = `-- set service active
UPDATE services SET active = @active, version = version + 1 WHERE tenant_id = @tenant AND id = @service RETURNING ` + serviceColumns

// SetServiceActive retires a service, or takes it back into use. A retired one
// is not shown among the services of the venue's page; its slots are as they
// are, and can be booked, until they are closed or cancelled one by one.
// Errors: NotFound, Conflict.
func (s *Store) SetServiceActive(ctx context.Context, tenant, id string, version int, active bool, staff string) (Service, error) {
	var saved Service
	err := s.changeSetting(ctx, "set service active", SettingChange{TenantID: tenant, StaffID: staff, Area: AreaService}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		was, err := s.lockService(ctx, tx, tenant, id, version)
		if was.ID != "" && was.Active == active {
			saved = was
			return "", nil, nil // a second press
		}
		if err != nil {
			return "", nil, err
		}
		saved, err = one[Service](ctx, tx, setServiceActiveSQL, pgx.StrictNamedArgs{"tenant": tenant, "service": id, "active": active})
		return id, []string{useField(active)}, err
	})
	return saved, err
}

func useField(active bool) string {
	if active {
		return "restored"
	}
	return "retired"
}

const lockServiceOrderSQL = `-- lock order of services
SELECT id::text FROM services WHERE tenant_id = @tenant ORDER BY position, created_at, id FOR NO KEY UPDATE`

const setServiceOrderSQL = `-- set order of services
UPDATE services s SET position = o.n
FROM unnest(@ids::text[]::uuid[]) WITH ORDINALITY o(id, n) WHERE s.tenant_id = @tenant AND s.id = o.id AND s.position <> o.n`

// MoveService puts a service by some places later (negative: earlier) on the
// venue's page. from is its place, from 1, as the page showed it: if it is at
// another one by now, nothing is written: Conflict. A place before the first or
// after the last is the first or the last.
func (s *Store) MoveService(ctx context.Context, tenant, id string, from, by int, staff string) error {
	return s.changeSetting(ctx, "move service", SettingChange{TenantID: tenant, StaffID: staff, Area: AreaService}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		rows, err := tx.Query(ctx, lockServiceOrderSQL, pgx.StrictNamedArgs{"tenant": tenant})
		if err != nil {
			return "", nil, err
		}
		ids, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return "", nil, err
		}
		at := slices.Index(ids, id)
		switch {
		case at < 0:
			return "", nil, NotFound
		case at+1 != from:
			return "", nil, Conflict
		}
		to := min(max(at+by, 0), len(ids)-1)
		if to == at {
			return "", nil, nil
		}
		ids = slices.Insert(slices.Delete(ids, at, at+1), to, id)
		_, err = tx.Exec(ctx, setServiceOrderSQL, pgx.StrictNamedArgs{"tenant": tenant, "ids": ids})
		return id, []string{"order"}, err
	})
}

const setQuestionsSQL = `-- set questions
UPDATE services SET questions = @questions::jsonb, former_questions = @former::jsonb, version = version + 1
WHERE tenant_id = @tenant AND id = @service RETURNING ` + serviceColumns

// ChangeQuestions makes the questions of a service what edit says. edit gets
// the service as it is and may call any order, number and wording; what is
// taken out of the list it puts with the former ones, so that stored answers
// stay readable. Errors: NotFound, Conflict, what edit returns, and questions
// that can't be asked.
func (s *Store) ChangeQuestions(ctx context.Context, tenant, id string, version int, staff string, edit func(*Service) error) (Service, error) {
	var saved Service
	err := s.changeSetting(ctx, "change questions", SettingChange{TenantID: tenant, StaffID: staff, Area: AreaService}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		was, err := s.lockService(ctx, tx, tenant, id, version)
		if err != nil {
			return "", nil, err
		}
		before, err := jsonQuestions(was.Questions)
		if err != nil {
			return "", nil, err
		}
		saved = was
		saved.Questions, saved.FormerQuestions = slices.Clone(was.Questions), slices.Clone(was.FormerQuestions)
		if err := edit(&saved); err != nil {
			return "", nil, err
		}
		if err := checkQuestions(saved.Questions); err != nil {
			return "", nil, err
		}
		after, err := jsonQuestions(saved.Questions)
		if err != nil || after == before {
			return "", nil, err
		}
		former, err := jsonQuestions(saved.FormerQuestions)
		if err != nil {
			return "", nil, err
		}
		saved, err = one[Service](ctx, tx, setQuestionsSQL, pgx.StrictNamedArgs{"tenant": tenant, "service": id, "questions": after, "former": former})
		return id, []string{"questions"}, err
	})
	return saved, err
}

const setPictureAltSQL = `-- set text of picture
UPDATE services SET picture_alt = @alt::jsonb, version = version + 1 WHERE tenant_id = @tenant AND id = @service RETURNING ` + serviceColumns

// ChangePicture stores what the picture of a service shows, in words, and with
// file another picture; nil leaves it, an empty one takes it away. Errors:
// NotFound, Conflict, ErrPicture.
func (s *Store) ChangePicture(ctx context.Context, tenant, id string, version int, staff string, alt Text, file []byte) (Service, error) {
	var saved Service
	err := s.changeSetting(ctx, "change picture", SettingChange{TenantID: tenant, StaffID: staff, Area: AreaService}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		was, err := s.lockService(ctx, tx, tenant, id, version)
		if err != nil {
			return "", nil, err
		}
		var fields fieldList
		fields.text("picture_alt", was.PictureAlt, alt)
		switch {
		case file == nil:
		case len(file) == 0:
			if was.Picture != nil {
				fields = append(fields, "picture")
			}
			if _, err := tx.Exec(ctx, removePictureSQL, pgx.StrictNamedArgs{"tenant": tenant, "service": id}); err != nil {
				return "", nil, err
			}
		default:
			info, err := setPicture(ctx, tx, tenant, id, file)
			if err != nil {
				return "", nil, err
			}
			if was.Picture == nil || was.Picture.Hash != info.Hash {
				fields = append(fields, "picture")
			}
		}
		if saved = was; len(fields) == 0 {
			return "", nil, nil
		}
		saved, err = one[Service](ctx, tx, setPictureAltSQL, pgx.StrictNamedArgs{"tenant": tenant, "service": id, "alt": jsonText(alt)})
		return id, fields, err
	})
	return saved, err
}

// Resource finds one resource; NotFound if there is none.
func (s *Store) Resource(ctx context.Context, tenant, id string) (Resource, error) {
	if !ValidID(id) {
		return Resource{}, NotFound
	}
	return s.resource(ctx, tenant, id)
}

// AddNamedResource stores a new resource. Errors: ErrSlug, ErrSlugTaken,
// ErrNoName, ErrCatalogFull.
func (s *Store) AddNamedResource(ctx context.Context, r Resource, staff string) (Resource, error) {
	if err := checkNamed(r.Slug, r.Name); err != nil {
		return Resource{}, err
	}
	all, err := s.Resources(ctx, r.TenantID)
	if err != nil {
		return Resource{}, err
	}
	if len(all) >= MostResources {
		return Resource{}, ErrCatalogFull
	}
	added, err := s.AddResource(ctx, r)
	if violated(err, "resources_slug") {
		return Resource{}, ErrSlugTaken
	}
	if err != nil {
		return Resource{}, err
	}
	return added, s.RecordSettingChange(ctx, SettingChange{TenantID: added.TenantID, StaffID: staff, Area: AreaResource, Subject: added.ID, Fields: []string{"added"}})
}

const lockResourceSQL = `-- lock resource
SELECT ` + resourceColumns + ` FROM resources WHERE tenant_id = @tenant AND id = @resource FOR NO KEY UPDATE`

func (s *Store) lockResource(ctx context.Context, tx pgx.Tx, tenant, id string, version int) (Resource, error) {
	if !ValidID(id) {
		return Resource{}, NotFound
	}
	r, err := one[Resource](ctx, tx, lockResourceSQL, pgx.StrictNamedArgs{"tenant": tenant, "resource": id})
	if err == nil && r.Version != version {
		return r, Conflict
	}
	return r, err
}

const saveResourceSQL = `-- save resource
UPDATE resources SET slug = @slug, name = @name::jsonb, version = version + 1 WHERE tenant_id = @tenant AND id = @resource RETURNING ` + resourceColumns

// SaveResource changes the names and the slug of a resource. Errors: NotFound,
// Conflict, ErrSlug, ErrSlugTaken, ErrSlugFixed, ErrNoName.
func (s *Store) SaveResource(ctx context.Context, is Resource, version int, staff string) (Resource, error) {
	if err := checkNamed(is.Slug, is.Name); err != nil {
		return Resource{}, err
	}
	var saved Resource
	err := s.changeSetting(ctx, "save resource", SettingChange{TenantID: is.TenantID, StaffID: staff, Area: AreaResource}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		was, err := s.lockResource(ctx, tx, is.TenantID, is.ID, version)
		if err != nil {
			return "", nil, err
		}
		var fields fieldList
		noteIf(&fields, "slug", was.Slug, is.Slug)
		fields.text("name", was.Name, is.Name)
		if saved = was; len(fields) == 0 {
			return "", nil, nil
		}
		if was.Slug != is.Slug {
			use, err := s.catalogUse(ctx, tx, is.TenantID, true, is.ID)
			if err != nil {
				return "", nil, err
			}
			if use[is.ID].Ever {
				return "", nil, ErrSlugFixed
			}
		}
		saved, err = one[Resource](ctx, tx, saveResourceSQL, pgx.StrictNamedArgs{"tenant": is.TenantID, "resource": is.ID, "slug": is.Slug, "name": jsonText(is.Name)})
		if violated(err, "resources_slug") {
			return "", nil, ErrSlugTaken
		}
		return is.ID, fields, err
	})
	return saved, err
}

const setResourceActiveSQL = `-- set resource active
UPDATE resources SET active = @active, version = version + 1 WHERE tenant_id = @tenant AND id = @resource RETURNING ` + resourceColumns

// SetResourceActive retires a resource, or takes it back into use. One that a
// slot ahead or a running schedule needs can't be retired: ErrInUse. Other
// errors: NotFound, Conflict.
func (s *Store) SetResourceActive(ctx context.Context, tenant, id string, version int, active bool, staff string) (Resource, error) {
	var saved Resource
	err := s.changeSetting(ctx, "set resource active", SettingChange{TenantID: tenant, StaffID: staff, Area: AreaResource}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		was, err := s.lockResource(ctx, tx, tenant, id, version)
		if was.ID != "" && was.Active == active {
			saved = was
			return "", nil, nil // a second press
		}
		if err != nil {
			return "", nil, err
		}
		if !active {
			use, err := s.catalogUse(ctx, tx, tenant, true, id)
			if err != nil {
				return "", nil, err
			}
			if use[id].Slots > 0 || use[id].Schedules > 0 {
				return "", nil, ErrInUse
			}
		}
		saved, err = one[Resource](ctx, tx, setResourceActiveSQL, pgx.StrictNamedArgs{"tenant": tenant, "resource": id, "active": active})
		return id, []string{useField(active)}, err
	})
	return saved, err
}

// MostClosedSpan is how many days can be closed in one press.
const MostClosedSpan = 62

// CloseDays closes each of the days, as 2006-01-02, with one note; days that
// are closed already get it too. It decides nothing about seats. Errors:
// ErrDayRange for no day, too many of them, or what is no day.
func (s *Store) CloseDays(ctx context.Context, tenant string, days []ClosedDay, staff string) error {
	if len(days) == 0 || len(days) > MostClosedSpan {
		return ErrDayRange
	}
	var names, notes []string
	for _, d := range days {
		if _, err := time.Parse(time.DateOnly, d.Day); err != nil {
			return ErrDayRange
		}
		names, notes = append(names, d.Day), append(notes, jsonText(d.Note))
	}
	return s.changeSetting(ctx, "close days", SettingChange{TenantID: tenant, StaffID: staff, Area: AreaClosed}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		tag, err := tx.Exec(ctx, closeDaysSQL, pgx.StrictNamedArgs{"tenant": tenant, "days": names, "notes": notes})
		if err != nil || tag.RowsAffected() == 0 {
			return "", nil, err
		}
		subject := names[0]
		if len(names) > 1 {
			subject += "/" + names[len(names)-1]
		}
		return subject, []string{"added"}, nil
	})
}

const closeDaysSQL = `-- close days
INSERT INTO closed_days AS c (tenant_id, day, note) SELECT @tenant, d.day::date, d.note::jsonb FROM unnest(@days::text[], @notes::text[]) d(day, note)
ON CONFLICT (tenant_id, day) DO UPDATE SET note = excluded.note WHERE c.note IS DISTINCT FROM excluded.note`

const openDaySQL = `-- open day
DELETE FROM closed_days WHERE tenant_id = @tenant AND day = @day::date`

// OpenDay takes a closed day off the list, if it is there. ErrDayRange for what
// is no day.
func (s *Store) OpenDay(ctx context.Context, tenant, day, staff string) error {
	if _, err := time.Parse(time.DateOnly, day); err != nil {
		return ErrDayRange
	}
	return s.changeSetting(ctx, "open day", SettingChange{TenantID: tenant, StaffID: staff, Area: AreaClosed}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		tag, err := tx.Exec(ctx, openDaySQL, pgx.StrictNamedArgs{"tenant": tenant, "day": day})
		if err != nil || tag.RowsAffected() == 0 {
			return "", nil, err
		}
		return day, []string{"removed"}, nil
	})
}

// DayUse is what stands on a day.
type DayUse struct {
	Day   string // 2006-01-02 at the venue
	Slots int    // not cancelled
	Seats int    // taken in them
}

const dayUseSQL = `-- slots of days
SELECT to_char(d.day, 'YYYY-MM-DD') AS day, count(s.id)::int AS slots, coalesce(sum(s.taken), 0)::int AS seats
FROM unnest(@days::text[]::date[]) d(day)
JOIN slots s ON s.tenant_id = @tenant AND s.status <> 'cancelled'
	AND s.starts_at >= (d.day::timestamp AT TIME ZONE @zone::text) AND s.starts_at < ((d.day + 1)::timestamp AT TIME ZONE @zone::text)
GROUP BY 1 ORDER BY 1`

// DaysInUse tells which of the days, as 2006-01-02 in the zone loc, have slots
// that are not cancelled. At most 400 days are looked at.
func (s *Store) DaysInUse(ctx context.Context, tenant string, days []string, loc *time.Location) (map[string]DayUse, error) {
	found, err := list[DayUse](ctx, s.db, dayUseSQL, pgx.StrictNamedArgs{"tenant": tenant, "days": days[:min(len(days), 400)], "zone": loc.String()})
	if err != nil {
		return nil, err
	}
	use := make(map[string]DayUse, len(found))
	for _, d := range found {
		use[d.Day] = d
	}
	return use, nil
}

// VenueChange is what staff want the venue's own details to be. Policies and
// slug of Tenant don't count here.
type VenueChange struct {
	Tenant  Tenant
	Version int // that the form showed
	Staff   string
}

const lockTenantSQL = `-- lock tenant
SELECT ` + tenantColumns + ` FROM tenants WHERE id = @tenant FOR NO KEY UPDATE`

const slotsAheadSQL = `-- slots ahead
SELECT count(*)::int FROM slots WHERE tenant_id = @tenant AND status <> 'cancelled'
	AND starts_at > (SELECT coalesce(@at::timestamptz, statement_timestamp())) - interval '2 days' AND ends_at > (SELECT coalesce(@at::timestamptz, statement_timestamp()))`

// SlotsAhead counts a tenant's slots that are neither over nor cancelled.
func (s *Store) SlotsAhead(ctx context.Context, tenant string) (int, error) {
	return s.slotsAhead(ctx, s.db, tenant)
}

func (s *Store) slotsAhead(ctx context.Context, db querier, tenant string) (int, error) {
	var n int
	err := db.QueryRow(ctx, slotsAheadSQL, pgx.StrictNamedArgs{"at": s.at, "tenant": tenant}).Scan(&n)
	return n, readError(db, err)
}

const zoneHereSQL = `-- zone here
SELECT (now() AT TIME ZONE @zone::text) IS NOT NULL`

// KnownZone tells whether a time zone is known to this program and to the
// database, which both reckon with it.
func (s *Store) KnownZone(ctx context.Context, zone string) (bool, error) {
	if !knownZone(zone) {
		return false, nil
	}
	var known bool
	err := s.db.QueryRow(ctx, zoneHereSQL, pgx.StrictNamedArgs{"zone": zone}).Scan(&known)
	if code(err) == "22023" { // invalid_parameter_value
		return false, nil
	}
	return known, classify(err)
}

const saveVenueSQL = `-- save venue
UPDATE tenants SET name = @name, time_zone = @time_zone, locale = @locale, email = @email, phone = @phone, address = @address, map_url = @map_url,
	privacy_url = @privacy_url, legal_url = @legal_url, privacy_version = @privacy_version, embed_origins = @embed_origins, version = version + 1
WHERE id = @tenant RETURNING ` + tenantColumns

// SaveVenue changes a venue's own details. URLs are checked here once more,
// since they will stand in links. Errors: NotFound, Conflict, ErrNoName, ErrURL,
// ErrZone, ErrZoneFixed.
func (s *Store) SaveVenue(ctx context.Context, c VenueChange) (Tenant, error) {
	is := c.Tenant
	if is.Name == "" {
		return Tenant{}, ErrNoName
	}
	if is.Locale != "ja" && is.Locale != "en" {
		return Tenant{}, errNoLanguage
	}
	for _, u := range []string{is.MapURL, is.PrivacyURL, is.LegalURL} {
		if clean, err := NormalizeURL(u); err != nil || clean != u {
			return Tenant{}, ErrURL
		}
	}
	origins, err := normalizeOrigins(is.EmbedOrigins)
	if err != nil {
		return Tenant{}, err
	}
	known, err := s.KnownZone(ctx, is.TimeZone)
	if err != nil {
		return Tenant{}, err
	}
	if !known {
		return Tenant{}, ErrZone
	}
	var saved Tenant
	err = s.changeSetting(ctx, "save venue", SettingChange{TenantID: is.ID, StaffID: c.Staff, Area: AreaVenue}, func(ctx context.Context, tx pgx.Tx) (string, []string, error) {
		was, err := one[Tenant](ctx, tx, lockTenantSQL, pgx.StrictNamedArgs{"tenant": is.ID})
		if err != nil {
			return "", nil, err
		}
		if was.Version != c.Version {
			return "", nil, Conflict
		}
		var fields fieldList
		noteIf(&fields, "name", was.Name, is.Name)
		noteIf(&fields, "time_zone", was.TimeZone, is.TimeZone)
		noteIf(&fields, "locale", was.Locale, is.Locale)
		noteIf(&fields, "email", was.Email, is.Email)
		noteIf(&fields, "phone", was.Phone, is.Phone)
		noteIf(&fields, "address", was.Address, is.Address)
		noteIf(&fields, "map_url", was.MapURL, is.MapURL)
		noteIf(&fields, "privacy_url", was.PrivacyURL, is.PrivacyURL)
		noteIf(&fields, "legal_url", was.LegalURL, is.LegalURL)
		noteIf(&fields, "privacy_version", was.PrivacyVersion, is.PrivacyVersion)
		if !slices.Equal(was.EmbedOrigins, origins) {
			fields = append(fields, "embed_origins")
		}
		if saved = was; len(fields) == 0 {
			return "", nil, nil
		}
		if was.TimeZone != is.TimeZone {
			ahead, err := s.slotsAhead(ctx, tx, is.ID)
			if err != nil {
				return "", nil, err
			}
			if ahead > 0 {
				return "", nil, ErrZoneFixed
			}
		}
		saved, err = one[Tenant](ctx, tx, saveVenueSQL, pgx.StrictNamedArgs{
			"tenant": is.ID, "name": is.Name, "time_zone": is.TimeZone, "locale": is.Locale, "email": is.Email, "phone": is.Phone, "address": is.Address,
			"map_url": is.MapURL, "privacy_url": is.PrivacyURL, "legal_url": is.LegalURL, "privacy_version": is.PrivacyVersion, "embed_origins": origins,
		})
		return "", fields, err
	})
	return saved, err
}

// NewQuestionID makes an id for a question or an option that no other has.
func NewQuestionID() string { return "q" + strings.ToLower(rand.Text()[:12]) }
