package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"holdfast/store"
	"holdfast/web"
)

// staffAdd gives somebody a role in a tenant. A person who is new needs a
// password; one who is known keeps theirs, unless one is given.
func (p *program) staffAdd(ctx context.Context, args []string) error {
	var tenant, email, role, name, locale string
	var fromStdin bool
	if err := p.flags("staff add", args, func(f *flag.FlagSet) {
		f.StringVar(&tenant, "tenant", "", "slug of the tenant")
		f.StringVar(&email, "email", "", "with which they sign in")
		f.StringVar(&role, "role", "", "owner, manager or desk")
		f.StringVar(&name, "name", "", "how colleagues see them")
		f.StringVar(&locale, "locale", "", "ja or en; else the browser's")
		f.BoolVar(&fromStdin, "password-stdin", false, "read the password from the first line of the input")
	}); err != nil {
		return err
	}
	if err := needed("staff add", "tenant", tenant, "email", email, "role", role); err != nil {
		return err
	}
	switch store.Role(role) {
	case store.RoleOwner, store.RoleManager, store.RoleDesk:
	default:
		return misused("staff add: role %q: owner, manager or desk", role)
	}
	if locale != "" && locale != "ja" && locale != "en" {
		return misused("staff add: locale %q: ja or en", locale)
	}
	if _, err := store.NormalizeEmail(email); err != nil {
		return misused("staff add: %q is %v", email, err)
	}
	password := ""
	if fromStdin {
		line, err := bufio.NewReader(p.stdin).ReadString('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the password: %w", err)
		}
		password = strings.TrimRight(line, "\r\n")
		if fault := web.PasswordFault(password, email, name); fault != "" {
			return misused("staff add: password: %s", fault)
		}
	}
	return p.work(ctx, func(ctx context.Context, c config, d *database) error {
		t, err := tenantOf(ctx, d, tenant)
		if err != nil {
			return err
		}
		known, err := d.store.StaffByEmail(ctx, email)
		switch {
		case errors.Is(err, store.NotFound) && password == "":
			return misused("staff add: somebody new needs a password: --password-stdin")
		case err != nil && !errors.Is(err, store.NotFound):
			return outcome(err, "staff")
		}
		hash := known.PasswordHash
		if password != "" {
			if hash, err = web.HashPassword(ctx, password); err != nil {
				return err
			}
		}
		added, err := d.store.AddStaff(ctx, store.NewStaff{
			TenantID: t.ID, Email: email, Name: store.NormalizeName(name), Role: store.Role(role), Locale: locale, PasswordHash: hash,
		})
		if err != nil {
			return outcome(err, "tenant "+tenant)
		}
		if password != "" && added.PasswordHash != hash {
			// Somebody known keeps the password when added; here it was asked for.
			if err := d.store.SetPasswordHash(ctx, added.ID, hash); err != nil {
				return outcome(err, "staff")
			}
			if _, err := d.store.EndSessions(ctx, added.ID, ""); err != nil {
				return outcome(err, "staff")
			}
		}
		fmt.Fprintf(p.stdout, "%s is %s of %s and signs in at %s/staff\n", added.Email, role, t.Slug, c.PublicURL.url)
		return nil
	})
}
