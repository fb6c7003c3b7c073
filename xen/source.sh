# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# Xen's source, for build.sh and check.sh (sourced by both): Debian's source package with Debian's
# patches, from $LABD_CACHE/xen-src/current, a link that names the version in use. It is fetched when
# the link is missing. See scripts/build/series.sh.

# shellcheck source=scripts/build/series.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/build/series.sh"
# shellcheck source=scripts/build/apt.sh
. "$TOP/scripts/build/apt.sh"

# shellcheck disable=SC2034 # for series.sh
PART=xen
PACKAGE=xen
SERIES=4.17	# what the patches are for; any version that starts so

# dsc_sums DSC - the files of a source package, as sha256sum wants them
dsc_sums()
{
	sed -n '/^Checksums-Sha256:/,/^[^ ]/s/^ \([0-9a-f]\{64\}\) [0-9]* \([^ /]*\)$/\1  \2/p' "$1"
}

# source_fetch - get the newest version that can be had; call with the lock held
#
# A mirror may list what it has no more, or not yet: then the next one down will do.
source_fetch()
{
	local new=$CACHE/xen-src/.new version sum dir found=''

	mkdir -p "$CACHE/xen-src"
	apt_update
	for version in $(apt_versions xen source); do
		[[ $version == "$SERIES".* ]] || continue
		rm -rf "$new"
		mkdir "$new"
		echo "fetching the source of xen $version" >&2
		if apt_fetch_source "$new" "xen=$version"; then
			found=$version
			break
		fi
		echo "xen $version cannot be had" >&2
	done
	exec 8>&-
	[ -n "$found" ] || die "Xen's source is not in the cache and apt could not get it:" \
		"is there a network? (what apt said is in $APT/log)"
	mv "$new"/*.dsc "$new/dsc"
	sum=$(dsc_sums "$new/dsc" | hash_of)
	echo "$found" >"$new/version"
	dir=xen-${found%%[+-]*}-${sum:0:12}
	rm -rf "$CACHE/xen-src/$dir"
	mv "$new" "$CACHE/xen-src/$dir"
	ln -sfn "$dir" "$CACHE/xen-src/.current"
	mv -T "$CACHE/xen-src/.current" "$CACHE/xen-src/current"
}

# source_identify - set VERSION (of the package), TARBALL_SHA (of all its files) and SRC
source_identify()
{
	if [ ! -e "$CACHE/xen-src/current/dsc" ]; then
		source_lock
		[ -e "$CACHE/xen-src/current/dsc" ] || source_fetch
		exec 9>&-
	fi
	SRC=$(realpath "$CACHE/xen-src/current")
	VERSION=$(<"$SRC/version")
	# shellcheck disable=SC2034 # for arm.sh
	TARBALL_SHA=$(dsc_sums "$SRC/dsc" | hash_of)
}

# source_extract DIR - unpack the source there, and apply Debian's patches
source_extract()
{
	local dir=$1 name out

	(cd "$SRC" && dsc_sums dsc | sha256sum -c --quiet >&2) ||
		die "$SRC: not the files that its dsc names; delete it"
	tar -xJf "$SRC"/xen_*.orig.tar.xz -C "$dir" --strip-components=1
	tar -xJf "$SRC"/xen_*.debian.tar.xz -C "$dir"
	while read -r name; do
		out=$(patch -d "$dir" -p1 --fuzz=0 --batch --forward --no-backup-if-mismatch \
			<"$dir/debian/patches/$name" 2>&1) && continue
		printf '%s\n' "$out" >&2
		die "Debian's $name does not apply to $PACKAGE $VERSION"
	done < <(sed -e 's/#.*//' -e 's/[[:space:]].*//' -e '/^$/d' "$dir/debian/patches/series")
}
