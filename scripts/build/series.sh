# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Trees of sources and the series on top of them: what kernel/ and xen/ share (sourced by both).
#
# Who sources this sets PART, the name of its folder, and what the source is called, PACKAGE; gives
# source_identify() and source_extract(); and finds below $SRC
#
#	pristine	the source as Debian ships it, never written again
#	work		a hard-linked twin that arms are built from
#
# A file is only ever put into work/ by a rename, so a link is broken and pristine/ stays what it
# is. What an arm's files must look like is computed beside the trees, from pristine/: a series that
# does not apply leaves nothing behind.

set -euo pipefail
shopt -s inherit_errexit

# Sort order and compiler messages must not depend on who builds.
export LC_ALL=C

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
CACHE=${LABD_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/labd}

die()
{
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

hash_of()
{
	sha256sum | cut -d' ' -f1
}

# source_lock - one user of the trees at a time
#
# Children inherit the descriptor: a make that outlives a killed build.sh keeps the lock, so nobody
# changes the sources under it.
source_lock()
{
	mkdir -p "$CACHE"
	exec 9>"$CACHE/$PART.lock"
	flock -n 9 && return
	echo "waiting for another $PART build to finish" >&2
	flock 9
}

# source_unpack - make pristine/ and work/ if they are not there; call with the lock held
source_unpack()
{
	local new=$SRC/unpacking

	if [ ! -d "$SRC/pristine" ]; then
		echo "unpacking $PACKAGE $VERSION" >&2
		rm -rf "$new"
		mkdir -p "$new"
		source_extract "$new"
		mv "$new" "$SRC/pristine"
	fi
	if [ ! -d "$SRC/work" ]; then
		rm -rf "$new"
		cp -al "$SRC/pristine" "$new"
		mv "$new" "$SRC/work"
	fi
}

# arms - the lines "name: words" of the file `arms`
arms()
{
	sed -e 's/#.*//' -e '/^[[:space:]]*$/d' "$TOP/$PART/arms"
}

# series_dir WORD - the directory of a series named in `arms`
series_dir()
{
	case $1 in
	*/*)	echo "$TOP/$1" ;;
	*)	echo "$TOP/$PART/series/$1" ;;
	esac
}

# series_patches DIR - its patches in order: by the file `series` as quilt does, else by name
series_patches()
{
	local dir=$1 name

	[ -d "$dir" ] || die "$dir: no such series"
	if [ -f "$dir/series" ]; then
		sed -e 's/#.*//' -e 's/[[:space:]].*//' -e '/^$/d' "$dir/series"
	else
		find "$dir" -maxdepth 1 -name '*.patch' -printf '%f\n' | sort
	fi | while read -r name; do
		[ -r "$dir/$name" ] || die "$dir/$name: cannot be read"
		echo "$dir/$name"
	done
}

# patch_paths PATCH... - every path a patch may touch; a few too many do no harm
patch_paths()
{
	sed -nE -e 's,^(---|\+\+\+) [ab]/([^	]*).*,\2,p' \
		-e 's,^(rename|copy) (from|to) (.*),\3,p' "$@" | sort -u
}

# series_apply DEST PATCH... - the patched files alone, below the new directory DEST
#
# Ends the (sub)shell with the reject shown if a hunk does not apply, or only with fuzz.
series_apply()
{
	local dest=$1 patch path out

	shift
	rm -rf "$dest"
	mkdir -p "$dest"
	[ $# -gt 0 ] || return 0
	while read -r path; do
		case /$path/ in
		*/../*)	die "$path: a patch must stay inside of the source" ;;
		esac
		[ -f "$SRC/pristine/$path" ] || continue
		mkdir -p "$dest/$(dirname "$path")"
		cp "$SRC/pristine/$path" "$dest/$path" || die "$dest/$path: cannot be written"
	done < <(patch_paths "$@")

	for patch in "$@"; do
		out=$(patch -d "$dest" -p1 --fuzz=0 --batch --forward --no-backup-if-mismatch \
			-r "$dest/.reject" <"$patch" 2>&1) && continue
		printf '%s\n' "$out" >&2
		[ ! -f "$dest/.reject" ] || cat "$dest/.reject" >&2
		die "${patch#"$TOP"/} does not apply to $PACKAGE $VERSION"
	done
}
