package main

import (
	"context"
	"flag"
	"fmt"

	"holdfast/store"
)

// tenantAdd adds a business.
func (p *program) tenantAdd(ctx context.Context, args []string) error {
	var t store.Tenant
	if err := p.flags("tenant add", args, func(f *flag.FlagSet) {
		f.StringVar(&t.Slug, "slug", "", "its name in addresses: a-z, 0-9 and -")
		f.StringVar(&t.Name, "name", "", "its name for people")
		f.StringVar(&t.TimeZone, "zone", "Asia/Tokyo", "its time zone, such as Europe/Paris")
		f.StringVar(&t.Locale, "locale", "ja", "its language: ja or en")
		f.StringVar(&t.Email, "email", "", "where customers write to")
		f.StringVar(&t.Phone, "phone", "", "where customers call")
		f.StringVar(&t.Address, "address", "", "where it is")
	}); err != nil {
		return err
	}
	if err := needed("tenant add", "slug", t.Slug, "name", t.Name, "zone", t.TimeZone, "locale", t.Locale); err != nil {
		return err
	}
	if !validSlug(t.Slug) {
		return misused("tenant add: slug %q: use a-z, 0-9 and -, at most 63 of them", t.Slug)
	}
	if t.Locale != "ja" && t.Locale != "en" {
		return misused("tenant add: locale %q: ja or en", t.Locale)
	}
	if t.Name = store.NormalizeName(t.Name); t.Name == "" {
		return misused("tenant add: the name has no letters")
	}
	if t.Phone != "" {
		region := ""
		if t.TimeZone == "Asia/Tokyo" {
			region = "JP"
		}
		number, err := store.NormalizePhone(t.Phone, region)
		if err != nil {
			return misused("tenant add: %q is %v; begin with the code of the country, such as +33", t.Phone, err)
		}
		t.Phone = number
	}
	if t.Email != "" {
		email, err := store.NormalizeEmail(t.Email)
		if err != nil {
			return misused("tenant add: %q is %v", t.Email, err)
		}
		t.Email = email
	}
	return p.work(ctx, func(ctx context.Context, c config, d *database) error {
		added, err := d.store.AddTenant(ctx, t)
		if err != nil {
			return outcome(err, "tenant")
		}
		fmt.Fprintf(p.stdout, "tenant %s added: %s/%s\n", added.Slug, c.PublicURL.url, added.Slug)
		return nil
	})
}

func validSlug(slug string) bool {
	for i, c := range []byte(slug) {
		edge := i == 0 || i == len(slug)-1
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '-' || edge) {
			return false
		}
	}
	return slug != "" && len(slug) <= 63
}

// tenantOf finds the tenant that a flag names.
func tenantOf(ctx context.Context, d *database, slug string) (store.Tenant, error) {
	t, err := d.store.TenantBySlug(ctx, slug)
	return t, outcome(err, "tenant "+slug)
}
