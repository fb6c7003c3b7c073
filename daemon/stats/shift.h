/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STATS_SHIFT_H
#define LABD_STATS_SHIFT_H

#include <stddef.h>

/**
 * struct shift - how far the arm's values lie above the base's
 * @shift: Hodges-Lehmann: the median of all differences arm - base, in the values' unit
 * @low, @high: its interval, order statistics of the differences; NAN where @level cannot be
 * reached
 * @level: what the interval covers exactly, at least what was asked for; 0 without an interval
 */
struct shift {
	double shift;
	double low;
	double high;
	double level;
};

int shift_estimate(const double *base, size_t n_base, const double *arm, size_t n_arm, double level,
		   struct shift *ret_shift);

#endif
