#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# check.sh - are Xen's series fit to be built, and to be sent? Prints TAP.
#
# Each arm's patches must apply to the pristine source without fuzz, and each patch must look like
# one that Xen takes; Xen has no checkpatch, so what can be seen from the lines is looked at here.
# What no build here reads, i.e. Arm's side, is compiled by check-arm.sh for one arm that has all
# series.

# shellcheck source=xen/source.sh
. "$(dirname "${BASH_SOURCE[0]}")/source.sh"

COLUMNS_MAX=80
ARM_OF=xen-batch	# the arm that check-arm.sh gets

COUNT=0
FAILED=0

# report RC NAME OUTPUT - one line of TAP, with what was printed as comment if it is not ok
report()
{
	COUNT=$((COUNT + 1))
	if [ "$1" = 0 ]; then
		echo "ok $COUNT - $2"
		return
	fi
	echo "not ok $COUNT - $2"
	printf '%s\n' "$3" | sed 's/^/# /'
	FAILED=1
}

# patch_style PATCH - print what is wrong with it; nothing if it is clean
#
# A tab is no fault where the pristine file indents with tabs: some files keep Linux's style.
patch_style()
{
	local tabs

	tabs=$(patch_paths "$1" | while read -r path; do
		case $path in
		*.[chS])	! grep -qs '^	' "$SRC/pristine/$path" || echo "$path" ;;
		*)		echo "$path" ;;
		esac
	done)
	awk -v max=$COLUMNS_MAX -v tabs="$tabs" '
	BEGIN {
		split(tabs, list, "\n")
		for (i in list)
			tabbed[list[i]] = 1
	}
	!diff && /^Subject: ./ { subject = 1 }
	!diff && /^---/ { over = 1 }
	!diff && !over && body && NF { message = 1 }
	!diff && /^Signed-off-by:/ { print FNR ": signed off, by whom?" }
	!diff && /^$/ { body = 1 }
	/^diff / || (/^--- ./ && !diff) { diff = 1 }
	/^\+\+\+ / {
		file = substr($2, 3)
		next
	}
	diff && /^\+/ {
		line = substr($0, 2)
		if (line ~ /[ \t]$/)
			print FNR ": a blank at the end of a line"
		if (line ~ /\t/ && !(file in tabbed))
			print FNR ": a tab in " file
		if (length(line) > max && line !~ /"/)
			print FNR ": more than " max " columns"
	}
	END {
		if (!subject)
			print "no Subject"
		if (!message)
			print "no message"
		if (!diff)
			print "no diff"
	}' "$1"
}

# check_patch PATCH - its three lines of TAP
check_patch()
{
	local patch=$1 dir rc=0 out

	dir=$(dirname "$patch")
	grep -qxF -- "${patch##*/}" "$dir/series" || rc=1
	report $rc "${patch##*/} is listed in ${dir#"$TOP"/}/series" "it is not"
	rc=0
	out=$(patch_style "$patch")
	[ -z "$out" ] || rc=1
	report $rc "${patch##*/} has Xen's style" "$out"
}

# check_arm NAME WORD... - do its patches apply, and does Arm still compile with all of them?
check_arm()
{
	local name=$1 word list rc=0 out patches=()

	shift
	for word; do
		case $word in +*) continue ;; esac
		list=$(series_patches "$(series_dir "$word")" 2>&1) || {
			report 1 "$name: the series are there" "$list"
			return 0
		}
		mapfile -t -O ${#patches[@]} patches <<<"$list"
	done
	out=$( (series_apply "$SCRATCH" "${patches[@]}") 2>&1) || rc=$?
	report $rc "$name: the patches apply without fuzz" "$out"
	[ $rc = 0 ] && [ "$name" = $ARM_OF ] || return 0
	out=$("$TOP/xen/check-arm.sh" "$SRC/pristine" "$SCRATCH" 2>&1) || rc=$?
	if [ $rc = 4 ]; then
		COUNT=$((COUNT + 1))
		echo "ok $COUNT - $name: it compiles on Arm # SKIP $out"
		return 0
	fi
	report $rc "$name: it compiles on Arm" "$out"
}

main()
{
	local name words word dir patch rc
	declare -A used=()

	# For tests of this file: only look at these patches.
	if [ $# -gt 0 ]; then
		source_identify
		for patch; do
			check_patch "$patch"
		done
		echo "1..$COUNT"
		return $FAILED
	fi

	source_identify
	if [ ! -d "$SRC/pristine" ]; then
		source_lock
		source_unpack
		exec 9>&-
	fi
	SCRATCH=$(mktemp -d)
	trap 'rm -rf "$SCRATCH"' EXIT

	while IFS=: read -r name words; do
		# shellcheck disable=SC2086 # a list of words
		check_arm "$name" $words
		for word in $words; do
			used[$(series_dir "$word")]=1
		done
	done < <(arms)
	for dir in "$TOP"/xen/series/* "$TOP"/tests/series-xen/*; do
		[ -d "$dir" ] || continue
		rc=0
		[ -n "${used[$dir]+set}" ] || rc=1
		report $rc "${dir#"$TOP"/} is part of an arm" "add it to xen/arms"
		for patch in "$dir"/*.patch; do
			check_patch "$patch"
		done
	done
	echo "1..$COUNT"
	return $FAILED
}

main "$@"; exit
