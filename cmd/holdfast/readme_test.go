package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"holdfast/store"
)

// The examples of the README run as they stand, but for the two lines that name
// the address and make the key.
func TestTheExamplesOfTheREADMERun(t *testing.T) {
	t.Parallel()
	p := serveProduct(t, nil)
	p.Slot(t, 3)
	key, err := p.Store.AddAPIKey(t.Context(), p.Tenant, "website", store.Scopes)
	check(t, err)
	raw, err := os.ReadFile(filepath.Join(root(t), "README.md"))
	check(t, err)
	_, section, _ := strings.Cut(string(raw), "## API\n")
	_, block, found := strings.Cut(section, "```sh\n")
	block, _, closed := strings.Cut(block, "```")
	_, rest, split := strings.Cut(block, "\n\n")
	if !found || !closed || !split || !strings.HasPrefix(block, "API=") {
		t.Fatalf("the README has no example of the API:\n%.300s", section)
	}
	cmd := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", rest)
	cmd.Env = append(os.Environ(), "API="+p.base+"/api/v1", "KEY="+key)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, rest, out)
	}
	for _, want := range []string{`"state":"confirmed"`, `"capacity":12`, `"state":"cancelled"`, `"cancelReason":"moved away"`, `"rrule":"FREQ=WEEKLY;BYDAY=SA"`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the examples do not show %s:\n%s", want, out)
		}
	}
	// Events follow within the time of a sweep: the last example, until they do.
	_, last, _ := strings.Cut(rest, "moved away")
	_, last, _ = strings.Cut(last, "\n")
	head, _, _ := strings.Cut(rest, "\n")
	p.Until(t, func() bool {
		again := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", head+"\n"+last)
		again.Env = cmd.Env
		out, err = again.CombinedOutput()
		return err == nil && strings.Contains(string(out), `"kind":"cancelled"`)
	}, func() string { return "the feed does not tell of it: " + string(out) })
}
