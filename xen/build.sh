#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# build.sh - build the hypervisors of an experiment's arms, or find them in the cache
#
# See xen/README.md, and scripts/build/arm.sh for how.

# shellcheck source=xen/source.sh
. "$(dirname "${BASH_SOURCE[0]}")/source.sh"
# shellcheck source=scripts/build/arm.sh
. "$TOP/scripts/build/arm.sh"

# shellcheck disable=SC2034 # for arm.sh
{
WHAT=Xen
RESULTS=$CACHE/xen
TARGET=xen
PRODUCT=xen
WHOLE=xen-syms
FULL=470
REST=40
}

usage()
{
	cat <<-EOT
	usage: build.sh [--list] [NAME...]
	       build.sh --name NAME [--plain] [--series DIR]... [--config FILE]...

	Without names, builds all of xen/arms. With --name, builds the patches of each
	DIR in turn on top of the instrumentation (--plain: without it), with the
	configuration lines of each FILE added. Dom0's kernel is built when it is
	missing.
	EOT
}

# The banner that Debian's patch makes shows lsb_release's word, which may be missing: it is in the
# recipe, so that a key has one build-id all the same. No xen.efi: a machine with EFI starts the
# multiboot2 image from GRUB.
build_prepare()
{
	RECIPE=(XEN_BUILD_DATE='Thu Jan  1 00:00:00 UTC 1970' XEN_BUILD_TIME=00:00:00
		XEN_WHOAMI=labd XEN_DOMAIN=labd XEN_BUILD_HOST=labd XEN_BUILD_PE=n
		DISTRIBUTION="$(lsb_release -is 2>/dev/null || :)")
}

# Nothing of the caller's environment that the key lacks, nor of where the cache is. A file of Xen's
# includes itself by __FILE__, so the mapped name must be found too. The banner's version ends with
# the arm's name.
arm_make()
{
	local tree=$SRC/work map

	map="-ffile-prefix-map=$tree=. -fdebug-prefix-map=$tree=."
	map+=" -ffile-prefix-map=$OBJ=obj -fdebug-prefix-map=$OBJ=obj -iquote $tree"
	MAKE=(env -i PATH="$PATH" LC_ALL=C DEB_VERSION="$VERSION $NAME"
		DEB_MAINTAINER='labd <labd@localhost>' nice -n 5 make -C "$tree/xen"
		O="$OBJ" "${RECIPE[@]}" EXTRA_CFLAGS_XEN_CORE="$map")
}

# What the fragments leave open is as Xen's own defaults have it: grant tables, for one.
arm_config()
{
	cat "${FRAGMENTS[@]}" >"$1"
	"${MAKE[@]}" KCONFIG_CONFIG="$1" olddefconfig >"$LOG" 2>&1 || show_errors
}

arm_collect()
{
	local id

	id=$(build_id "$OBJ/xen-syms")
	cp "$OBJ/xen" "$OBJ/xen-syms" "$1"
	jq -n --arg id "$id" --arg version "$VERSION" '{build_id: $id, $version}' >"$1/facts.json"
}

arm_manifest()
{
	local dir=$1

	shift
	[ -n "${DOM0_READY:-}" ] || "$TOP/kernel/build.sh" --dom0 >&2 || return
	DOM0_READY=1
	jq --arg name "$NAME" --arg dir "$dir" --arg base "$PACKAGE $VERSION" \
		--arg compiler "$COMPILER" --arg config_sha "$(hash_of <"$dir/config")" \
		--arg series_sha "$SERIES_SHA" --arg series_text "$SERIES_TEXT" \
		--slurpfile dom0 "${BUILDS%/*}/dom0.json" \
		'{$name, subject: "xen", kernel: $dom0[0].kernel, build_id: $dom0[0].build_id,
		  release: $dom0[0].release, hypervisor: ($dir + "/xen"),
		  hypervisor_build_id: .build_id, config: ($dir + "/config"),
		  log: ($dir + "/build.log"), $base, $compiler, series: $ARGS.positional,
		  series_sha256: $series_sha, $series_text, config_sha256: $config_sha, key}' \
		"$dir/build.json" --args "$@"
}

main()
{
	# shellcheck disable=SC2034 # for arm.sh
	FRAGMENTS=("$TOP/xen/config/xen.config")
	arms_main "$@"
}

# Read to here before anything runs: the file may be edited during a build.
main "$@"; exit
