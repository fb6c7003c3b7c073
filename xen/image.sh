#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# image.sh - make the initramfs of dom0: lab-agent as /init, the workloads named, Xen's tools
#
# With the workload `net` it holds a domU too: dom0's kernel and an initramfs of net-guest and iperf3,
# in /domu. Run by make xen-image. scripts/image.sh does the work.

# shellcheck source=scripts/build/series.sh
. "$(dirname "${BASH_SOURCE[0]}")/../scripts/build/series.sh"

BUILD=${O:-$TOP/build}

main()
{
	local root program args=() programs=() word

	root=$("$TOP/xen/tools.sh")
	# shellcheck disable=SC2206 # globs
	local gcc=("$root"/lib/*-linux-gnu/libgcc_s.so.1)

	for program in xentrace xenstored xenconsoled xl xen-init-dom0; do
		args+=(--extra "$root/usr/lib/xen-4.17/bin/$program:/bin/$program")
	done
	for program in xenstore-read xenstore-write xenstore-ls; do
		args+=(--extra "$root/usr/bin/$program:/bin/$program")
	done
	# Loaded by name when a thread ends, so in no program's list.
	args+=(--extra "$root/usr/bin/iperf3:/bin/iperf3" --extra "${gcc[0]}:${gcc[0]#"$root"}")
	# What the tools expect to be there: state, sockets, logs, locks.
	for word in /etc/xen/scripts /var/run/xen /var/run/xenstored /var/lib/xen /var/lib/xenstored \
		/var/log/xen /var/lock; do
		args+=(--folder "$word")
	done

	for program; do
		# The domU's init.
		[ "$program" != net-guest ] || continue
		programs+=("$program")
		[ "$program" = net ] || continue
		args+=(--extra "$(dom0_kernel):/domu/bzImage")
		if [ -f "$BUILD/net-guest" ]; then
			"$TOP/scripts/image.sh" --build "$BUILD" --output domu --init net-guest \
				--programs '' --root "$root" \
				--extra "$root/usr/bin/iperf3:/bin/iperf3" \
				--extra "${gcc[0]}:${gcc[0]#"$root"}"
			args+=(--extra "$BUILD/images/domu.cpio.gz:/domu/initramfs.cpio.gz")
		fi
	done
	# Credits: libxen-dev is linked into the workloads, linux-source is what dom0's kernel is.
	"$TOP/scripts/image.sh" --build "$BUILD" --output xen --programs "${programs[*]}" \
		--root "$root" --notice "libxen-dev linux-source-6.12" "${args[@]}"
}

# dom0_kernel - the path of dom0's kernel, which is built if it is missing
dom0_kernel()
{
	"$TOP/kernel/build.sh" --dom0 >&2
	jq -r .kernel "$BUILD/dom0.json"
}

main "$@"; exit
