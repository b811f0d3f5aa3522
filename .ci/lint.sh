#!/bin/sh
# Everything that can be said about the code without running it. All complaints, then one verdict.
set -u
cd "$(dirname "$0")/.." || exit 1

tool() { go tool -modfile=.tools/go.mod "$@"; }

failed=0
fail() {
	echo "lint: $1" >&2
	failed=1
}

unformatted=$(tool gofumpt -l .) || fail "gofumpt did not run"
if [ -n "$unformatted" ]; then
	echo "$unformatted" >&2
	fail "not formatted; type: go tool -modfile=.tools/go.mod gofumpt -w ."
fi
go vet ./... || fail "go vet complains"
tool staticcheck ./... || fail "staticcheck complains"
go mod tidy -diff || fail "go.mod is not tidy; type: go mod tidy"
tool templ generate -check || fail "generated files are stale; type: make gen"
exit "$failed"
