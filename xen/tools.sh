#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tools.sh - Xen's tools, iperf3 and their libraries, from Debian's packages; prints where they are
#
# The packages are fetched and unpacked once, into $LABD_CACHE/xen-tools/<key>/, the key being a hash
# over them; nothing is installed. There lie root/ (what is in the packages), packages (name and
# version of each) and owners (which file is whose).

# shellcheck source=scripts/build/series.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/build/series.sh"
# shellcheck source=scripts/build/apt.sh
. "$TOP/scripts/build/apt.sh"

# shellcheck disable=SC2034 # for the lock's name
PART=xen-tools
SERIES=4.17

# All of one version.
XEN=("xen-utils-$SERIES" xen-utils-common xenstore-utils libxen-dev libxencall1 libxendevicemodel1
	libxenevtchn1 libxenforeignmemory1 libxengnttab1 libxenhypfs1 "libxenmisc$SERIES"
	libxenstore4 libxentoolcore1 libxentoollog1)
# And what they need but for libc; libgcc is loaded when a thread ends, its licence is in gcc-12-base.
OTHERS=(iperf3 libiperf0 libsctp1 libssl3 libyajl2 libuuid1 zlib1g liblzma5 libzstd1 libgcc-s1
	gcc-12-base)

# fetch DIR - download all packages into DIR
fetch()
{
	local dir=$1 version package found=0

	for version in $(apt_versions libxen-dev); do
		[[ $version == "$SERIES".* ]] || continue
		echo "fetching xen's tools $version" >&2
		rm -f "$dir"/*.deb
		apt_fetch "$dir" "${XEN[@]/%/=$version}" && found=1 && break
		echo "$version cannot be had" >&2
	done
	[ $found = 1 ] || die "Xen's tools are not in the cache and apt could not get them:" \
		"is there a network? (what apt said is in $APT/log)"
	apt_fetch "$dir" "${OTHERS[@]}" && return
	for package in "${OTHERS[@]}"; do
		found=0
		for version in $(apt_versions "$package"); do
			apt_fetch "$dir" "$package=$version" && found=1 && break
		done
		[ $found = 1 ] || die "the package $package could not be fetched (see $APT/log)"
	done
}

# unpack DIR - DIR/*.deb into DIR/root, DIR/packages and DIR/owners
unpack()
{
	local dir=$1 deb name

	mkdir "$dir/root"
	for deb in "$dir"/*.deb; do
		# shellcheck disable=SC2016 # for dpkg-deb
		dpkg-deb -W --showformat='${Package} ${Version}\n' "$deb" >>"$dir/packages"
		name=$(sed -n '$s/ .*//p' "$dir/packages")
		dpkg-deb --fsys-tarfile "$deb" | tar -t | sed -n 's,^\.\(/.*[^/]\)$,\1,p' |
			sed "s,\$,	$name," >>"$dir/owners"
		dpkg-deb -x "$deb" "$dir/root"
	done
	rm "$dir"/*.deb
}

BASE=$CACHE/xen-tools
# Another list of packages is another fetch.
LINK=$BASE/list-$(echo "${XEN[*]} ${OTHERS[*]}" | hash_of | cut -c1-12)

main()
{
	local key

	if [ ! -e "$LINK/root" ]; then
		source_lock
		if [ ! -e "$LINK/root" ]; then
			rm -rf "$BASE/.new"
			mkdir -p "$BASE/.new"
			apt_update
			fetch "$BASE/.new"
			exec 8>&-
			key=$(cd "$BASE/.new" && sha256sum -- *.deb | hash_of)
			unpack "$BASE/.new"
			rm -rf "${BASE:?}/$key"
			mv "$BASE/.new" "$BASE/$key"
			ln -sfn "$key" "$BASE/.link"
			mv -T "$BASE/.link" "$LINK"
		fi
		exec 9>&-
	fi
	echo "$(realpath "$LINK")/root"
}

# Read to here before anything runs: the file may be edited meanwhile.
main; exit
