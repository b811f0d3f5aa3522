#!/bin/sh
# Is Go here, and new enough? One line if not.
set -eu

if ! command -v go >/dev/null; then
	echo "Go 1.26 or newer is needed and was not found on PATH; see https://go.dev/doc/install" >&2
	exit 1
fi
# Outside of the module and without fetching: the version of the program itself.
have=$(cd / && GOTOOLCHAIN=local go env GOVERSION)
number=${have#go}
major=${number%%.*}
rest=${number#*.}
minor=${rest%%[!0-9]*}
case $major$minor in
'' | *[!0-9]*) exit 0 ;; # a development version: Go itself judges go.mod
esac
if [ "$major" -lt 1 ] || { [ "$major" -eq 1 ] && [ "$minor" -lt 26 ]; }; then
	echo "Go 1.26 or newer is needed, and $(command -v go) is $have; see https://go.dev/doc/install" >&2
	exit 1
fi
