package store

import (
	"context"

	"github.com/jackc/pgx/v5"
)

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
