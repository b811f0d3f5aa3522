package main

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strings"

	"holdfast/store"
)

// apikeyAdd makes an API key and prints it, and nothing else, so that a script
// can take it. It can't be read again.
func (p *program) apikeyAdd(ctx context.Context, args []string) error {
	var tenant, name, list string
	if err := p.flags("apikey add", args, func(f *flag.FlagSet) {
		f.StringVar(&tenant, "tenant", "", "slug of the tenant")
		f.StringVar(&name, "name", "", "what it is for")
		f.StringVar(&list, "scopes", "", "of read, book and manage, separated by commas")
	}); err != nil {
		return err
	}
	if err := needed("apikey add", "tenant", tenant, "name", name, "scopes", list); err != nil {
		return err
	}
	var scopes []string
	for scope := range strings.SplitSeq(list, ",") {
		scope = strings.TrimSpace(scope)
		if !slices.Contains(store.Scopes, scope) {
			return misused("apikey add: scope %q: %s", scope, strings.Join(store.Scopes, ", "))
		}
		if !slices.Contains(scopes, scope) {
			scopes = append(scopes, scope)
		}
	}
	return p.work(ctx, func(ctx context.Context, _ config, d *database) error {
		t, err := tenantOf(ctx, d, tenant)
		if err != nil {
			return err
		}
		key, err := d.store.AddAPIKey(ctx, t, store.NormalizeName(name), scopes)
		if err != nil {
			return outcome(err, "tenant "+tenant)
		}
		fmt.Fprintln(p.stdout, key)
		return nil
	})
}
