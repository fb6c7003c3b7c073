/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STATS_PAIRED_H
#define LABD_STATS_PAIRED_H

#include <stddef.h>

/**
 * struct paired - what the pairs of an arm and the base say together
 * @n: pairs: rounds in which both have a value
 * @n_lower: of them, those in which the arm is below the base
 * @n_equal: exactly the same
 * @n_higher: above the base
 * @delta: median of the ratios - 1; NAN without a pair, or when one has no ratio
 */
struct paired {
	size_t n;
	size_t n_lower;
	size_t n_equal;
	size_t n_higher;
	double delta;
};

double paired_ratio(double base, double arm);
int paired_compare(const double *base, const double *arm, size_t n, double *ret_ratios,
		   struct paired *ret_paired);

#endif
