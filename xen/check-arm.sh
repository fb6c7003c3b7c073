#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# check-arm.sh - do patched files still compile where no build here reads them, i.e. on Arm?
#
#	check-arm.sh PRISTINE PATCHED [PREFIX]
#
# PRISTINE is Xen's source, PATCHED a folder of the files that differ from it, PREFIX that of the
# cross tools. Nothing is linked: only the common code that the series touch is compiled, and Arm code
# that reads the headers. Exits with 4, and says why, where there is no cross compiler.

set -euo pipefail
export LC_ALL=C

PRISTINE=${1:?the pristine source}
PATCHED=${2:?the patched files}
PREFIX=${3:-aarch64-linux-gnu-}

if ! command -v "${PREFIX}gcc" >/dev/null; then
	echo "${PREFIX}gcc is not installed"
	exit 4
fi

TREE=$(mktemp -d)
trap 'rm -rf "$TREE"' EXIT

# A copy without links: make writes into it, and pristine/ must stay what it is.
cp -r "$PRISTINE"/{Config.mk,config,xen} "$TREE"
cp -r "$PATCHED"/. "$TREE"

# Xen's Makefile makes the headers that objects need only on the way to the whole hypervisor, which
# takes minutes. These are its steps for them, with some objects at the end.
cat >"$TREE/arm.mk" <<'EOT'
include Makefile

arm-objects: outputmakefile FORCE
	$(Q)$(MAKE) $(build)=tools
	$(Q)$(MAKE) $(build)=. include/xen/compile.h
	$(Q)$(MAKE) $(build)=include all
	$(Q)$(MAKE) $(build)=arch/arm include
	$(Q)$(MAKE) $(build)=. arch/arm/include/asm/asm-offsets.h
	$(Q)$(MAKE) $(build)=common common/grant_table.o common/trace.o
	$(Q)$(MAKE) $(build)=drivers/passthrough drivers/passthrough/iommu.o
	$(Q)$(MAKE) $(build)=arch/arm arch/arm/mm.o
EOT

make_xen()
{
	local rc=0

	env -i PATH="$PATH" LC_ALL=C nice -n 5 make -s -C "$TREE/xen" XEN_TARGET_ARCH=arm64 \
		CROSS_COMPILE="$PREFIX" XEN_DOMAIN=labd XEN_BUILD_HOST=labd "$@" \
		</dev/null >"$TREE/log" 2>&1 || rc=$?
	[ $rc = 0 ] || head -n 40 "$TREE/log"
	return $rc
}

make_xen defconfig
make_xen -f ../arm.mk arm-objects
