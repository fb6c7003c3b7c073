#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# check.sh - are the series fit to be built, and to be sent? Prints TAP.
#
# Each arm's patches must apply to the pristine source without fuzz, each patch must be clean by
# that source's own checkpatch.pl, and no arm may make struct kvm_mmu_page larger: there is one for
# each page table of each guest.

# shellcheck source=kernel/source.sh
. "$(dirname "${BASH_SOURCE[0]}")/source.sh"

PAGE_BYTES=184		# of struct kvm_mmu_page, on x86-64

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

skip()
{
	COUNT=$((COUNT + 1))
	echo "ok $COUNT - $1 # SKIP $2"
}

# page_size_stays - compile a static assertion on top of what was applied to $SCRATCH, with the
# flags and the generated headers of the last build
page_size_stays()
{
	local flags

	flags=$(sed -nE 's/^savedcmd_[^ ]* := gcc (.*) -c -o .*/\1/p' "$CMD" |
		sed 's/-Wp,-MMD,[^ ]*//')
	cat >"$SCRATCH/size.c" <<-EOF
	#include "mmu_internal.h"
	static_assert(sizeof(struct kvm_mmu_page) == $PAGE_BYTES);
	EOF
	# The flags are quoted for a shell, as make hands them to one.
	(cd "$SRC/obj" && eval "gcc -I'$SCRATCH/arch/x86/kvm/mmu' -I'$SCRATCH/arch/x86/kvm' \
		-I'$SRC/pristine/arch/x86/kvm/mmu' $flags -fsyntax-only '$SCRATCH/size.c'")
}

source_identify
if [ ! -d "$SRC/pristine" ]; then
	source_lock
	source_unpack
	exec 9>&-
fi
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
CMD=$SRC/obj/arch/x86/kvm/mmu/.tdp_mmu.o.cmd

declare -A used=()
while IFS=: read -r name series; do
	patches=()
	rc=0
	for word in $series; do
		used[$(series_dir "$word")]=1
		list=$(series_patches "$(series_dir "$word")")
		mapfile -t -O ${#patches[@]} patches <<<"$list"
	done
	out=$( (series_apply "$SCRATCH" "${patches[@]}") 2>&1) || rc=$?
	report $rc "$name: the patches apply without fuzz" "$out"

	if [ $rc != 0 ] || [ ! -f "$CMD" ]; then
		skip "$name: struct kvm_mmu_page has $PAGE_BYTES bytes" "nothing is built yet"
		continue
	fi
	out=$(page_size_stays 2>&1) || rc=$?
	report $rc "$name: struct kvm_mmu_page has $PAGE_BYTES bytes" "$out"
done < <(arms)

for dir in "$TOP"/kernel/series/* "$TOP"/tests/series/*; do
	rc=0
	[ -n "${used[$dir]+set}" ] || rc=1
	report $rc "${dir#"$TOP"/} is part of an arm" "add it to kernel/arms"
	for patch in "$dir"/*.patch; do
		rc=0
		grep -qxF "${patch##*/}" "$dir/series" || rc=1
		report $rc "${patch##*/} is listed in ${dir#"$TOP"/}/series" "it is not"
		rc=0
		out=$("$SRC/pristine/scripts/checkpatch.pl" --root="$SRC/pristine" --no-signoff \
			--quiet "$patch" 2>&1) || rc=$?
		report $rc "${patch##*/} is clean by checkpatch.pl" "$out"
	done
done

echo "1..$COUNT"
exit $FAILED
