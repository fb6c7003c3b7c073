// SPDX-License-Identifier: GPL-2.0-only
/*
 * Order statistics of raw values. Ranks are computed in integers: in doubles n * 0.999 is off by
 * one at n = 1000, 2000, …
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stats/percentile.h"

/* Each side of the interval may miss with this probability. */
#define TAIL 0.025

static int compare_i64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int compare_f64(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/** sort_i64() - sort ascending, in place */
void sort_i64(int64_t *values, size_t n)
{
	if (n)
		qsort(values, n, sizeof(*values), compare_i64);
}

/**
 * nearest_rank() - the smallest rank that @per_mille of @n values do not exceed
 * @n: at most SIZE_MAX / 1000 - 1
 * @per_mille: 1 to 1000; 999 is p99.9
 *
 * Return: 1 to @n, 0 when @n is 0.
 */
size_t nearest_rank(size_t n, unsigned int per_mille)
{
	return (n * per_mille + 999) / 1000;
}

/**
 * percentile_i64() - the value at the nearest rank
 * @sorted: ascending
 * @per_mille: 1 to 1000
 *
 * Return: 0, -ENODATA without values, -EINVAL for another @per_mille.
 */
int percentile_i64(const int64_t *sorted, size_t n, unsigned int per_mille, int64_t *ret_value)
{
	if (!per_mille || per_mille > 1000)
		return -EINVAL;
	if (!n)
		return -ENODATA;
	*ret_value = sorted[nearest_rank(n, per_mille) - 1];
	return 0;
}

/**
 * median_i64() - the middle value, or the mean of the middle two
 * @sorted: ascending
 *
 * Return: 0, or -ENODATA without values.
 */
int median_i64(const int64_t *sorted, size_t n, double *ret_median)
{
	if (!n)
		return -ENODATA;
	/* Halves, since the sum of the two may not fit. */
	*ret_median = n % 2 ? (double)sorted[n / 2] : sorted[n / 2 - 1] / 2.0 + sorted[n / 2] / 2.0;
	return 0;
}

/**
 * median_f64() - the middle value, or the mean of the middle two
 * @values: in any order; sorted afterwards; none is a NaN
 *
 * Return: 0, or -ENODATA without values.
 */
int median_f64(double *values, size_t n, double *ret_median)
{
	if (!n)
		return -ENODATA;
	qsort(values, n, sizeof(*values), compare_f64);
	*ret_median = n % 2 ? values[n / 2] : values[n / 2 - 1] / 2.0 + values[n / 2] / 2.0;
	return 0;
}

/* Probability that exactly @k of @n values are above the true p99.9. */
static double binomial(size_t n, size_t k)
{
	return exp(lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1) +
		   (double)k * log(0.001) + (double)(n - k) * log(0.999));
}

/**
 * p999_interval() - ranks that hold the true p99.9 between them with at least 95 %, whatever the
 * distribution
 * @n: values
 * @ret_low_rank: rank from below, 1 is the smallest value
 * @ret_high_rank: the same, of the upper end; 0 below P999_INTERVAL_N, where even the largest value
 * is no upper bound, and the lower end alone misses with at most 2.5 %
 *
 * How many of n values lie above the true p99.9 is binomial(n, 0.001). With K of them, the a-th
 * largest value is above it if K >= a, and the b-th largest is not if K < b. So the upper end is
 * the a-th largest with the greatest a for which P(K < a) <= 2.5 %, the lower end the b-th largest
 * with the smallest b for which P(K >= b) <= 2.5 %.
 *
 * Return: 0, or -ENODATA below P999_MIN_N.
 */
int p999_interval(size_t n, size_t *ret_low_rank, size_t *ret_high_rank)
{
	size_t a = 0, b;
	double below = 0;

	if (n < P999_MIN_N)
		return -ENODATA;
	/* below is P(K < a + 1) after its term is added. */
	while (below + binomial(n, a) <= TAIL)
		below += binomial(n, a++);
	for (b = a; 1 - below > TAIL; b++)
		below += binomial(n, b);
	*ret_high_rank = a ? n - a + 1 : 0;
	*ret_low_rank = n - b + 1;
	return 0;
}
