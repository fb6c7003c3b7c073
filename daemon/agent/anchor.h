/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_ANCHOR_H
#define LABD_AGENT_ANCHOR_H

#include <stdint.h>

struct xen_hvm_xentrace;

/**
 * struct agent_anchors - records in Xen's trace that carry dom0's clock
 * @fd: of privcmd, -1 when closed
 * @record: the hypercall's argument, a locked page of its own
 * @seq: of the next anchor
 * @tsc_khz: 0 when the hypervisor does not say
 * @prev_after: CLOCK_MONOTONIC ns right after the previous anchor's hypercall, 0 before the first
 */
struct agent_anchors {
	int fd;
	struct xen_hvm_xentrace *record;
	uint32_t seq;
	uint32_t tsc_khz;
	int64_t prev_after;
};

int agent_anchors_open(struct agent_anchors *anchors, int64_t tsc_khz);
void agent_anchors_close(struct agent_anchors *anchors);
int agent_anchor(struct agent_anchors *anchors);
int agent_anchor_round(struct agent_anchors *anchors, unsigned int each);

#endif
