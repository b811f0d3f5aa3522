#!/bin/sh
# Build bin/holdfast and say how long that took.
set -eu
cd "$(dirname "$0")/.."

# A checkout that belongs to another user makes git, and with it the build, refuse; the program then names no commit.
vcs=auto
if ! git status --porcelain >/dev/null 2>&1; then vcs=false; fi
echo "Building bin/holdfast (a first build takes a minute or two) …"
began=$(date +%s)
go build -buildvcs="$vcs" -o bin/holdfast ./cmd/holdfast
echo "Built in $(($(date +%s) - began)) s."
