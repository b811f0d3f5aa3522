#!/bin/sh
# What the tests need beside Go and PostgreSQL: a C compiler (the race detector), Chromium, a Japanese font, and bash,
# curl and openssl for the examples of the README.
set -eu
cd "$(dirname "$0")/.."
. .ci/install.sh

has_compiler() { command -v "$(go env CC)" >/dev/null; }

has_chromium() {
	for name in chromium chromium-browser google-chrome google-chrome-stable headless-shell; do
		if command -v "$name" >/dev/null; then return 0; fi
	done
	[ -x "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome" ] || [ -x "/Applications/Chromium.app/Contents/MacOS/Chromium" ]
}

has_japanese() {
	if [ "$(uname)" = Darwin ]; then return 0; fi # part of the system
	command -v fc-list >/dev/null && [ -n "$(fc-list :lang=ja)" ]
}

export apt dnf pacman apk brew
failed=0
if ! has_compiler; then
	apt="gcc libc6-dev" dnf="gcc glibc-devel" pacman=gcc apk=build-base brew=gcc
	install_packages "A C compiler" && has_compiler || failed=1
fi
if ! has_chromium; then
	apt=chromium dnf=chromium pacman=chromium apk=chromium brew="--cask chromium"
	install_packages "Chromium" && has_chromium || failed=1
fi
if ! has_japanese; then
	apt="fontconfig fonts-noto-cjk" dnf="fontconfig google-noto-sans-cjk-fonts" pacman="fontconfig noto-fonts-cjk"
	apk="fontconfig font-noto-cjk" brew=font-noto-sans-cjk-jp
	install_packages "A Japanese font" && has_japanese || failed=1
fi
if ! command -v curl >/dev/null || ! command -v bash >/dev/null || ! command -v openssl >/dev/null; then
	apt="bash curl openssl" dnf="bash curl openssl" pacman="bash curl openssl" apk="bash curl openssl" brew="bash curl openssl"
	install_packages "curl, bash or openssl" || failed=1
fi
exit "$failed"
