package main

import (
	"context"
	"flag"
	"fmt"

	"holdfast/store"
)

// tenantEmbed says which sites may show a tenant's calendar in a frame. Without
// an origin none may, which is also how it begins.
func (p *program) tenantEmbed(ctx context.Context, args []string) error {
	var slug string
	var origins []string
	if err := p.flags("tenant embed", args, func(f *flag.FlagSet) {
		f.StringVar(&slug, "tenant", "", "slug of the tenant")
		f.Func("origin", "a site that may show the calendar, such as https://www.example.com; may repeat; none: no site may", func(text string) error {
			origin, err := store.NormalizeOrigin(text)
			origins = append(origins, origin)
			return err
		})
	}); err != nil {
		return err
	}
	if err := needed("tenant embed", "tenant", slug); err != nil {
		return err
	}
	return p.work(ctx, func(ctx context.Context, c config, d *database) error {
		t, err := tenantOf(ctx, d, slug)
		if err != nil {
			return err
		}
		if t, err = d.store.SetEmbedOrigins(ctx, t.ID, origins); err != nil {
			return outcome(err, "tenant "+slug)
		}
		if len(t.EmbedOrigins) == 0 {
			fmt.Fprintf(p.stdout, "no site may show the calendar of %s\n", t.Slug)
			return nil
		}
		for _, origin := range t.EmbedOrigins {
			fmt.Fprintf(p.stdout, "%s may show the calendar of %s\n", origin, t.Slug)
		}
		fmt.Fprintf(p.stdout, "the text to paste: %s/%s/poster\n", c.PublicURL.url, t.Slug)
		return nil
	})
}
