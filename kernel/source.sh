# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
#
# The kernel source, for build.sh and check.sh (sourced by both): $LABD_CACHE/src/<version>/, from
# the package that is installed. See scripts/build/series.sh.

# shellcheck source=scripts/build/series.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/build/series.sh"

# shellcheck disable=SC2034 # for series.sh
PART=kernel
PACKAGE=linux-source-6.12
TARBALL=/usr/src/$PACKAGE.tar.xz

# source_identify - set VERSION (of the package), TARBALL_SHA and SRC (its place in the cache)
source_identify()
{
	[ -r "$TARBALL" ] || die "$TARBALL is missing: install the package $PACKAGE"
	VERSION=$(dpkg-query -W -f '${Version}' "$PACKAGE" 2>/dev/null) ||
		die "the package $PACKAGE is not installed"
	TARBALL_SHA=$(hash_of <"$TARBALL")
	SRC=$CACHE/src/$VERSION-${TARBALL_SHA:0:12}
}

# source_extract DIR - unpack the source there
source_extract()
{
	tar -xJf "$TARBALL" -C "$1" --strip-components=1
}
