#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What the browser tests take from npm, as the lock file has it, in $LABD_CACHE/browser/<hash of the lock>; prints
# where the modules are. Chromium is Debian's: without it this fails, so that no test is skipped by accident.
set -eu
cd "$(dirname "$0")"
for program in chromium node npm; do
	command -v $program >/dev/null || {
		echo "browser tests: $program is missing; scripts/setup installs it" >&2
		exit 1
	}
done
cache=${LABD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/labd}/browser
key=$(cat package.json package-lock.json .npmrc | sha256sum | cut -c1-32)
if [ ! -d "$cache/$key" ]; then
	mkdir -p "$cache"
	new=$(mktemp -d "$cache/new.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	cp package.json package-lock.json .npmrc "$new"
	(cd "$new" && npm ci >npm.log 2>&1) || {
		tail -n 20 "$new/npm.log" >&2
		echo "browser tests: npm ci failed" >&2
		exit 1
	}
	# Somebody else may have been as fast.
	mv -T "$new" "$cache/$key" 2>/dev/null || [ -d "$cache/$key" ]
fi
echo "$cache/$key/node_modules"
