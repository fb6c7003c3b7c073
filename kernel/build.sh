#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# build.sh - build the kernels of an experiment's arms, or find them in the cache
#
# See kernel/README.md, and scripts/build/arm.sh for how.

# shellcheck source=kernel/source.sh
. "$(dirname "${BASH_SOURCE[0]}")/source.sh"
# shellcheck source=scripts/build/arm.sh
. "$TOP/scripts/build/arm.sh"

# shellcheck disable=SC2034 # for arm.sh
{
WHAT=kernel
RESULTS=$CACHE/kernels
TARGET=bzImage
PRODUCT=bzImage
WHOLE=vmlinux
FULL=1570
REST=50
}
RECIPE=(LOCALVERSION= KBUILD_BUILD_TIMESTAMP='Thu Jan  1 00:00:00 UTC 1970'
	KBUILD_BUILD_USER=labd KBUILD_BUILD_VERSION=1)

usage()
{
	cat <<-EOT
	usage: build.sh [--list] [NAME...]
	       build.sh --name NAME [--plain] [--series DIR]... [--config FILE]...
	       build.sh --dom0

	Without names, builds all of kernel/arms. With --name, builds the patches of
	each DIR in turn on top of the instrumentation (--plain: without it), with the
	configuration lines of each FILE added. With --dom0, builds the kernel that
	runs on top of Xen.
	EOT
}

build_prepare()
{
	:
}

# Nothing of the caller's environment that the key lacks.
arm_make()
{
	MAKE=(env -i PATH="$PATH" LC_ALL=C nice -n 5 make -C "$SRC/work" O="$OBJ"
		KBUILD_BUILD_HOST="$NAME" "${RECIPE[@]}")
}

arm_config()
{
	"${MAKE[@]}" KCONFIG_CONFIG="$1" tinyconfig >"$LOG" 2>&1 || show_errors
	cat "${FRAGMENTS[@]}" >>"$1"
	"${MAKE[@]}" KCONFIG_CONFIG="$1" olddefconfig >"$LOG" 2>&1 || show_errors
}

arm_collect()
{
	local id

	id=$(build_id "$OBJ/vmlinux")
	cp "$OBJ/arch/x86/boot/bzImage" "$1/bzImage"
	jq -n --arg id "$id" --arg release "$(cat "$OBJ/include/config/kernel.release")" \
		'{build_id: $id, $release}' >"$1/facts.json"
}

arm_manifest()
{
	local dir=$1

	shift
	jq --arg name "$NAME" --arg dir "$dir" --arg base "$PACKAGE $VERSION" \
		--arg compiler "$COMPILER" --arg config_sha "$(hash_of <"$dir/config")" \
		--arg series_sha "$SERIES_SHA" --arg series_text "$SERIES_TEXT" \
		'{$name, subject: "kvm", kernel: ($dir + "/bzImage"), config: ($dir + "/config"),
		  log: ($dir + "/build.log"), build_id, release, $base, $compiler,
		  series: $ARGS.positional, series_sha256: $series_sha, $series_text,
		  config_sha256: $config_sha, key}' "$dir/build.json" --args "$@"
}

main()
{
	FRAGMENTS=("$TOP"/kernel/config/*.config)
	if [ "${1:-}" = --dom0 ]; then
		# No arm of its own, so not a build that an experiment could name.
		FRAGMENTS=("$TOP"/kernel/config/{machine,trace}.config "$TOP/xen/config/dom0.config")
		MANIFEST=${BUILDS%/*}/dom0.json
		TREE=-dom0
		set -- --name xen-dom0 --plain
	fi
	arms_main "$@"
}

# Read to here before anything runs: the file may be edited during a build.
main "$@"; exit
