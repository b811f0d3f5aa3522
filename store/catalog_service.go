package store

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

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

// NewQuestionID makes an id for a question or an option that no other has.
func NewQuestionID() string { return "q" + strings.ToLower(rand.Text()[:12]) }
