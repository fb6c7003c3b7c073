/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STATS_VARIANCE_H
#define LABD_STATS_VARIANCE_H

#include <stddef.h>

/**
 * struct variance - one-way random effects: runs inside boots
 * @boots, @runs: how many there are
 * @within: mean square inside boots, the variance of a run
 * @between: mean square between boots
 * @boot_variance: (between - within) / n0, at least 0: what boots add
 * @icc: boot_variance / (boot_variance + within), NAN when both are 0
 * @f: between / within, NAN when within is 0
 * @p: of F(boots - 1, runs - boots); NAN like @f
 */
struct variance {
	size_t boots;
	size_t runs;
	double within;
	double between;
	double boot_variance;
	double icc;
	double f;
	double p;
};

int variance_one_way(const double *values, const size_t *boot_of, size_t n, size_t n_boots,
		     struct variance *ret_variance);

#endif
