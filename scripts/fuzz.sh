#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Runs one libFuzzer program for some seconds on its seeds: fuzz.sh PROGRAM SECONDS
set -eu
program=$1
name=$(basename "$program")
corpus=$(dirname "$program")/corpus/$name
mkdir -p "$corpus"
seeds=tests/fuzz/seeds/$name
dict=tests/fuzz/$name.dict
[ -d "$seeds" ] || seeds=
[ -e "$dict" ] && dict="-dict=$dict" || dict=
# shellcheck disable=SC2086
"$program" -max_total_time="$2" -rss_limit_mb=2048 -timeout=10 -verbosity=0 -artifact_prefix="$(dirname "$program")/" \
	$dict "$corpus" $seeds
echo "$name: no finding in $2 s"
