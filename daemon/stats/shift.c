// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hodges and Lehmann's estimate of a shift between two samples, with the interval that belongs to
 * the rank test: it holds every shift that the test would not refuse (Hollander, Wolfe, Chicken:
 * Nonparametric Statistical Methods, 4.3). Pure.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stats/percentile.h"
#include "stats/rank.h"
#include "stats/shift.h"

/*
 * The k-th smallest and the k-th largest of all differences cover the shift with 1 - 2·P(U <= k-1);
 * the greatest such k that still covers @level, 0 when not even the smallest and largest do.
 */
static int find_order(size_t n_base, size_t n_arm, double level, size_t *ret_k, double *ret_level)
{
	double *cdf = calloc(n_base * n_arm + 1, sizeof(*cdf));
	size_t k = 0;
	int ret;

	if (!cdf)
		return -ENOMEM;
	ret = rank_distribution(n_base, n_arm, cdf);
	if (!ret) {
		while (k < (n_base * n_arm + 1) / 2 && 1 - 2 * cdf[k] >= level)
			k++;
		*ret_k = k;
		*ret_level = k ? 1 - 2 * cdf[k - 1] : 0;
	}
	free(cdf);
	return ret;
}

/**
 * shift_estimate() - how far the arm's values lie above the base's
 * @base, @arm: in any order; finite
 * @n_base, @n_arm: each 1 to RANK_MAX_N
 * @level: what the interval must cover at least, above 0 and below 1; 5 against 5 values give .968
 * when asked for .95
 * @ret_shift: without an interval where the level cannot be reached, as with 3 against 3 values
 *
 * With ties the interval covers at least its level.
 *
 * Return: 0, -ENODATA when a sample is empty, -EINVAL for too many or non-finite values or another
 * level, -ENOMEM.
 */
int shift_estimate(const double *base, size_t n_base, const double *arm, size_t n_arm, double level,
		   struct shift *ret_shift)
{
	struct shift shift = {.low = NAN, .high = NAN};
	size_t n = n_base * n_arm, k = 0;
	double *differences;
	int ret;

	if (!n)
		return -ENODATA;
	if (n_base > RANK_MAX_N || n_arm > RANK_MAX_N || !(level > 0 && level < 1))
		return -EINVAL;
	differences = calloc(n, sizeof(*differences));
	if (!differences)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		differences[i] = arm[i % n_arm] - base[i / n_arm];
		if (!isfinite(differences[i])) {
			ret = -EINVAL;
			goto out;
		}
	}
	ret = find_order(n_base, n_arm, level, &k, &shift.level);
	if (ret)
		goto out;
	/* Sorts them too. */
	median_f64(differences, n, &shift.shift);
	if (k) {
		shift.low = differences[k - 1];
		shift.high = differences[n - k];
	}
	*ret_shift = shift;
out:
	free(differences);
	return ret;
}
