#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# A workload for tests/machine/foreign.t: trace-cmd records by itself inside the machine, and its file
# leaves the machine inside the workload's JSON.
set -eu
/bin/trace-cmd record "$@" -o /tmp/foreign.dat -e kvm_tdp_mmu_zap_leafs -e kvm_mmu_lock_wait -e raw_syscalls \
	/bin/kvm-churn --mode same --chunk-mib 4 --rounds 20 --mem-mib 16 --vcpus 1 >/tmp/record.log 2>&1 || {
	/bin/busybox tail -n 20 /tmp/record.log >&2
	exit 1
}
# What a workload prints is limited; names and formats, most of such a file, compress well.
printf '{"gz":"'
/bin/busybox gzip -9 -c /tmp/foreign.dat | /bin/busybox base64 -w 0
printf '"}\n'
