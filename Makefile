# Holdfast. `make run` is all that a newcomer needs.

.DEFAULT_GOAL := help
.PHONY: help gen build run test race faults diskfull histories mutants lint bench measure shots check schema postgres

TOOL := go tool -modfile=.tools/go.mod
LEND := go run ./cmd/internal/lendpostgres

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

run: ## get PostgreSQL if it is missing, build, and serve with a demo venue
	@.ci/go.sh
	@if [ -z "$$DATABASE_URL" ]; then .ci/postgres.sh; fi
	@.ci/build.sh
	@exec bin/holdfast serve

build: ## build bin/holdfast
	@.ci/go.sh
	@.ci/build.sh

# The longest first: two run at a time, and none should run alone at the end.
test: ## all tests, with the race detector, a real PostgreSQL and a real browser
	@.ci/go.sh
	@.ci/tests.sh
	@.ci/postgres.sh
	@$(LEND) -limit 14m go test -race -shuffle=on -timeout 12m ./web ./cmd/holdfast ./store ./views ./...

faults: ## all faults under load, longer; with clocks that are wrong, and a full disk (root on Linux)
	@.ci/go.sh
	@.ci/postgres.sh
	go test -count=1 -run TestFaultsUnderLoad -v -timeout 40m ./cmd/holdfast -faults 10s -faults-postmaster -faults-clock -faults-disk

diskfull: ## fill the disk of Postgres under load; NOT RUN, and exit 1, where no disk can be mounted
	@.ci/go.sh
	@.ci/postgres.sh
	go test -count=1 -run 'TestFaultsUnderLoad/disk' -v -timeout 10m ./cmd/holdfast -faults-disk

race: build ## the race lab, here or on DATABASE_URL; then 10,000 offers accepted just before their deadline
	@if [ -z "$$DATABASE_URL" ]; then .ci/postgres.sh; fi
	bin/holdfast race
	bin/holdfast race --scenario deadline-grace --rounds 10000

histories: ## ten minutes of random histories of several processes, each judged for an order that explains it
	@.ci/go.sh
	@.ci/postgres.sh
	go test ./store -count=1 -run TestHistories -history.for 10m -timeout 30m -v

mutants: ## break the protocol in one place at a time: every break has to be seen by a test (an hour)
	@.ci/go.sh
	@.ci/postgres.sh
	go run ./cmd/internal/mutants

lint: ## format, vet, staticcheck, go.mod, generated files
	@.ci/go.sh
	@.ci/lint.sh

check: lint test ## lint and test: what .ci/run runs

gen: ## generate the Go code of the templates
	@.ci/go.sh
	$(TOOL) templ generate

bench: ## all benchmarks
	@.ci/go.sh
	@.ci/postgres.sh
	go test -run '^$$' -bench . -benchmem -timeout 30m ./...

measure: ## the figures of the README: ratios against something measured in the same run
	@.ci/go.sh
	@.ci/postgres.sh
	go test -tags measure -run Measure -count=1 -v -timeout 30m ./store ./web

shots: ## screenshots of all pages and of each of their states, into shots/
	@.ci/go.sh
	@.ci/tests.sh
	@.ci/postgres.sh
	HOLDFAST_SHOTS="$(CURDIR)/shots" go test -count=1 -run TestShots -timeout 12m ./cmd/holdfast
	go test -count=1 -run TestStoriesInABrowser -timeout 20m ./views -shots "$(CURDIR)/shots/states" -shots-size phone,desktop

schema: ## write migrations/schema.sql anew
	@.ci/go.sh
	@.ci/postgres.sh
	go test -count=1 -run TestSchemaFileIsFresh ./migrations -update

postgres: ## fetch a PostgreSQL server with npm, where nothing may be installed
	@.ci/go.sh
	@go run ./cmd/internal/getpostgres
