// SPDX-License-Identifier: GPL-2.0-only
/*
 * The paired view: each round's arm against the same round's base. What a round has to itself, such
 * as its seed, is in both and falls out. Pure.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stats/paired.h"
#include "stats/percentile.h"

/**
 * paired_ratio() - arm / base of one round
 *
 * Equal values have the ratio 1, two zeros too: a counter that is zero in both did not change.
 *
 * Return: the ratio, or NAN where there is none: a value is missing (NAN), or the base alone is
 * zero.
 */
double paired_ratio(double base, double arm)
{
	if (base == arm)
		return 1;
	return base == 0 ? NAN : arm / base;
}

/**
 * paired_compare() - the paired view of one scenario and metric
 * @base: the base's values by round, NAN for a round without one
 * @arm: the arm's, likewise
 * @n: rounds
 * @ret_ratios: filled with the ratio of each round, NAN where there is none
 * @ret_paired: the pairs together; a pair without a ratio counts as one and leaves no delta, for
 * a median of the others would say less than it seems to
 *
 * Return: 0 or -ENOMEM.
 */
int paired_compare(const double *base, const double *arm, size_t n, double *ret_ratios,
		   struct paired *ret_paired)
{
	double *ratios = calloc(n + 1, sizeof(*ratios)), median;
	struct paired paired = {.delta = NAN};
	size_t n_ratios = 0;

	if (!ratios)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		ret_ratios[i] = paired_ratio(base[i], arm[i]);
		if (isnan(base[i]) || isnan(arm[i]))
			continue;
		paired.n++;
		paired.n_lower += arm[i] < base[i];
		paired.n_equal += arm[i] == base[i];
		paired.n_higher += arm[i] > base[i];
		if (!isnan(ret_ratios[i]))
			ratios[n_ratios++] = ret_ratios[i];
	}
	if (n_ratios == paired.n && !median_f64(ratios, n_ratios, &median))
		paired.delta = median - 1;
	free(ratios);
	*ret_paired = paired;
	return 0;
}
