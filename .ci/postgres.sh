#!/bin/sh
# Is a PostgreSQL server here? Else install it, else fetch one into .cache/postgres, else say what to type.
set -eu
cd "$(dirname "$0")/.."
. .ci/install.sh

# The same places as in store/pgserver/find.go.
found() {
	if command -v postgres >/dev/null; then return 0; fi
	if command -v pg_config >/dev/null && [ -x "$(pg_config --bindir)/initdb" ] && [ -x "$(pg_config --bindir)/postgres" ]; then return 0; fi
	for bin in /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /usr/libexec/postgresql* \
		/opt/homebrew/opt/postgresql@*/bin /usr/local/opt/postgresql@*/bin \
		/home/linuxbrew/.linuxbrew/opt/postgresql@*/bin \
		/Applications/Postgres.app/Contents/Versions/*/bin /usr/local/pgsql/bin .cache/postgres/*/native/bin; do
		if [ -x "$bin/initdb" ] && [ -x "$bin/postgres" ]; then return 0; fi
	done
	return 1
}

if [ -n "${HOLDFAST_PG_BIN:-}" ] || found; then exit 0; fi
apt=postgresql
dnf="postgresql-server postgresql-contrib"
pacman=postgresql
apk="postgresql postgresql-client postgresql-contrib"
brew=postgresql@17
export apt dnf pacman apk brew
if install_packages "PostgreSQL" && found; then exit 0; fi
echo "Trying without the right to install: make postgres"
if ! make --no-print-directory postgres; then
	echo "PostgreSQL 15 or newer is needed; type: $(install_line)" >&2
	exit 1
fi
