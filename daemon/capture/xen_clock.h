/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_CAPTURE_XEN_CLOCK_H
#define LABD_CAPTURE_XEN_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct xen_anchor - dom0's clock beside the TSC
 * @seq: counts the anchors of a run
 * @tsc: of the anchor's record in Xen
 * @before_ns: dom0's CLOCK_MONOTONIC right before the hypercall
 * @prev_after_ns: the same right after the hypercall of the anchor before this one
 */
struct xen_anchor {
	uint32_t seq;
	uint32_t tsc_khz;
	uint64_t tsc;
	int64_t before_ns;
	int64_t prev_after_ns;
};

/**
 * struct xen_clock - a line from the TSC to ns
 * @tsc_khz: as the hypervisor says it, 0 when nobody did
 * @anchored: the ns are dom0's; else they count from a TSC of 0
 * @first_tsc: the tightest bracket near the start, at @first_ns
 * @last_tsc: the same near the end; the first again when there is no second
 * @bracket_ns: width of the wider of the two: the line can be off by half of that
 * @measured_khz: of the TSC by dom0's clock, 0 when it was not measured
 * @num: ns per @den ticks
 */
struct xen_clock {
	uint32_t tsc_khz;
	bool anchored;
	uint64_t first_tsc;
	int64_t first_ns;
	uint64_t last_tsc;
	int64_t last_ns;
	int64_t bracket_ns;
	double measured_khz;
	int64_t num;
	uint64_t den;
};

int xen_clock_fit(struct xen_anchor *anchors, size_t n, uint32_t tsc_khz,
		  struct xen_clock *ret_clock, char *ret_error, size_t error_size);
uint32_t xen_anchors_end(struct xen_anchor *anchors, size_t n);
int64_t xen_clock_ns(const struct xen_clock *clock, uint64_t tsc);

#endif
