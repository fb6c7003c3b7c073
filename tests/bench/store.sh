#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How fast a capture becomes rows, and pages of a full lab (lab.pl); make bench runs it. Records this host's own system
# calls under a dd with lab-agent, which needs root and tracefs; elsewhere name a capture for the first of the two:
# tests/bench/store.sh CAPTURE
#   O=dir      where the programs are (default build)
#   REPEATS=n  repetitions of each way (default 5)
#   BLOCKS=n   dd's blocks, two system calls each (default 600000)
set -eu

O=${O:-build}
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/labd-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT

if [ $# -gt 0 ]; then
	capture=$1
else
	capture=$dir/capture.dat
	mounted=$(awk '$3 == "tracefs" { print $2; exit }' /proc/mounts)
	if [ "$(id -u)" != 0 ] || [ -z "$mounted" ]; then
		echo "bench: recording needs root and a mounted tracefs; give a capture: tests/bench/store.sh CAPTURE" >&2
		exit 4
	fi
	mkdir "$dir/spool"
	"$O/tests/bench/record" "$O/lab-agent" "$dir/spool" "$capture" "${BLOCKS:-600000}"
fi

"$O/tests/bench/bench_store" "$capture" "$dir" "${REPEATS:-5}"

# The last report and the last database are still there: do they agree?
awk '/^CPU [0-9]+ is empty|^cpus=|EVENTS DROPPED/ { next } { sub(/:$/, "", $4); n[$4]++ } END { for (e in n) print e, n[e] }' \
	"$dir/report.txt" | sort >"$dir/reported"
sqlite3 -separator ' ' "$dir/ingest.db" \
	"SELECT substr(event, instr(event, ':') + 1), count FROM run_span WHERE count ORDER BY 1" >"$dir/stored"
if cmp -s "$dir/reported" "$dir/stored"; then
	echo "  counts per event equal those of trace-cmd report: $(tr '\n' ' ' <"$dir/stored")"
else
	echo "bench: counts per event differ from those of trace-cmd report:" >&2
	diff "$dir/reported" "$dir/stored" >&2
	exit 1
fi

# Pages of a full lab, each of whose runs ships a capture of a real run's size.
if [ $# -eq 0 ]; then
	"$O/tests/bench/record" "$O/lab-agent" "$dir/spool" "$dir/small.dat" 600
	O=$(realpath "$O") tests/bench/lab.pl "$dir/small.dat"
fi
