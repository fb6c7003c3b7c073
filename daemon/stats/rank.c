// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exact permutation tests on ranks. Under the null hypothesis every way to deal the values to the
 * arms (or every way to flip the pairs' signs) is as likely as any other, so that p is a share of
 * ways, and ways are counted by dynamic programming over sums of ranks. Ranks are doubled, so that
 * midranks are integers too and the statistic is compared exactly. Counts are sums of positive
 * doubles, at most 200 additions deep: a p is off by less than 5e-14 of itself. Pure.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "stats/rank.h"

struct item {
	double value;
	size_t index;
};

static int by_value(const void *a, const void *b)
{
	double x = ((const struct item *)a)->value, y = ((const struct item *)b)->value;

	return (x > y) - (x < y);
}

static bool all_finite(const double *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(values[i]))
			return false;
	return true;
}

/*
 * Sorts @items, and gives each value (by its index) and each place of the order its doubled
 * midrank: the values that share the places first to last (from 0) have (first + 1) + (last + 1).
 */
static void rank_items(struct item *items, size_t n, uint32_t *ret_rank, uint32_t *ret_sorted)
{
	qsort(items, n, sizeof(*items), by_value);
	for (size_t first = 0, next; first < n; first = next) {
		for (next = first + 1; next < n && items[next].value == items[first].value; next++)
			;
		for (size_t i = first; i < next; i++)
			ret_rank[items[i].index] = ret_sorted[i] = (uint32_t)(first + next + 1);
	}
}

/*
 * In how many ways @k of the @n ascending integers @x make each sum: ways[s] for every s up to the
 * sum of the k largest, *ret_max. Only sums between those of the smallest and of the largest so far
 * are walked, and only choices that can still become k.
 */
static int count_choices(const uint32_t *x, size_t n, size_t k, double **ret_ways, size_t *ret_max)
{
	size_t below[2 * RANK_MAX_N + 1] = {0}, width;
	double *table, *ways;

	for (size_t i = 0; i < n; i++)
		below[i + 1] = below[i] + x[i];
	width = below[n] - below[n - k] + 1;
	table = calloc((k + 1) * width, sizeof(*table));
	ways = calloc(width, sizeof(*ways));
	if (!table || !ways) {
		free(table);
		free(ways);
		return -ENOMEM;
	}
	table[0] = 1;
	for (size_t i = 0; i < n; i++) {
		size_t least = k + i + 1 > n ? k + i + 1 - n : 1;

		for (size_t j = i + 1 < k ? i + 1 : k; j >= least; j--) {
			const double *from = table + (j - 1) * width;
			double *to = table + j * width + x[i];

			for (size_t s = below[j - 1]; s <= below[i] - below[i + 1 - j]; s++)
				to[s] += from[s];
		}
	}
	for (size_t s = 0; s < width; s++)
		ways[s] = table[k * width + s];
	free(table);
	*ret_ways = ways;
	*ret_max = width - 1;
	return 0;
}

/* The smallest rank becomes 0; without ties doubled ranks are 2, 4, … and lose their factor. */
static void shrink(uint32_t *x, size_t n, int64_t *sum, size_t k)
{
	uint32_t least = x[0], odd = 0;

	for (size_t i = 0; i < n; i++) {
		x[i] -= least;
		odd |= x[i] & 1;
	}
	*sum -= (int64_t)(k * least);
	if (odd)
		return;
	for (size_t i = 0; i < n; i++)
		x[i] /= 2;
	*sum /= 2;
}

/*
 * The share of the choices of k whose sum is at least as far from its expectation k·total/n as
 * @observed is; both sides are multiplied by n.
 */
static int share_beyond(const uint32_t *x, size_t n, size_t k, int64_t observed, double *ret_p)
{
	double *ways, beyond = 0, all = 0;
	int64_t total = 0, distance;
	size_t max;
	int ret;

	ret = count_choices(x, n, k, &ways, &max);
	if (ret)
		return ret;
	for (size_t i = 0; i < n; i++)
		total += x[i];
	distance = llabs((int64_t)n * observed - (int64_t)k * total);
	for (size_t s = 0; s <= max; s++) {
		all += ways[s];
		if (llabs((int64_t)(n * s) - (int64_t)k * total) >= distance)
			beyond += ways[s];
	}
	free(ways);
	*ret_p = beyond / all;
	return 0;
}

/**
 * rank_test() - exact two-sided permutation test on the midranks of two samples
 * @base, @arm: the values, in any order and with any ties; finite
 * @n_base, @n_arm: each 1 to RANK_MAX_N
 *
 * p is the share of all C(n_base + n_arm, n_base) splits of the pooled values whose rank sum W lies
 * at least as far from its expectation as the observed one. Without ties that is the exact
 * Mann-Whitney test (SciPy's mannwhitneyu(method="exact")).
 *
 * Return: 0, -ENODATA when a sample is empty, -EINVAL for too many or non-finite values, -ENOMEM.
 */
int rank_test(const double *base, size_t n_base, const double *arm, size_t n_arm, double *ret_p)
{
	size_t n = n_base + n_arm, k = n_base < n_arm ? n_base : n_arm, first;
	uint32_t rank[2 * RANK_MAX_N], sorted[2 * RANK_MAX_N];
	struct item items[2 * RANK_MAX_N];
	int64_t observed = 0;

	if (!n_base || !n_arm)
		return -ENODATA;
	if (n_base > RANK_MAX_N || n_arm > RANK_MAX_N || !all_finite(base, n_base) ||
	    !all_finite(arm, n_arm))
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		items[i] = (struct item){i < n_base ? base[i] : arm[i - n_base], i};
	rank_items(items, n, rank, sorted);
	/* The smaller sample's sum: the other's deviates by as much, to the other side. */
	first = k == n_base ? 0 : n_base;
	for (size_t i = first; i < first + k; i++)
		observed += rank[i];
	shrink(sorted, n, &observed, k);
	return share_beyond(sorted, n, k, observed, ret_p);
}

/**
 * rank_test_floor() - the smallest p that rank_test() can give, all values being different
 *
 * Return: 2 / C(n_base + n_arm, n_base), and 1 where a sample is empty.
 */
double rank_test_floor(size_t n_base, size_t n_arm)
{
	double splits = 1;

	for (size_t i = 1; i <= n_arm; i++)
		splits = splits * (double)(n_base + i) / (double)i;
	return splits > 2 ? 2 / splits : 1;
}

/**
 * rank_distribution() - how U, the number of pairs in which the base is above the arm, is
 * distributed when the arms do not differ and no two values are equal
 * @n_base, @n_arm: each 1 to RANK_MAX_N
 * @ret_cdf: n_base·n_arm + 1 places: P(U <= u) for each u
 *
 * Return: 0, -EINVAL for another number of values, -ENOMEM.
 */
int rank_distribution(size_t n_base, size_t n_arm, double *ret_cdf)
{
	size_t k = n_base < n_arm ? n_base : n_arm, least = k * (k - 1) / 2, max;
	uint32_t x[2 * RANK_MAX_N];
	double *ways, all = 0;
	int ret;

	if (!k || n_base > RANK_MAX_N || n_arm > RANK_MAX_N)
		return -EINVAL;
	for (uint32_t i = 0; i < n_base + n_arm; i++)
		x[i] = i;
	ret = count_choices(x, n_base + n_arm, k, &ways, &max);
	if (ret)
		return ret;
	for (size_t s = least; s <= max; s++)
		ret_cdf[s - least] = all += ways[s];
	for (size_t s = least; s <= max; s++)
		ret_cdf[s - least] /= all;
	free(ways);
	return 0;
}

/**
 * signed_rank_test() - exact two-sided sign-flip test on Wilcoxon's signed midranks
 * @differences: arm - base of each pair, or of their logarithms; finite, in any order
 * @n: 1 to RANK_MAX_N
 *
 * p is the share of all 2^n sign flips whose sum of signed ranks is at least as far from 0 as the
 * observed one. A difference of 0 takes part in the ranking and has no sign (Pratt 1959).
 *
 * Return: 0, -ENODATA without differences, -EINVAL for too many or a non-finite one.
 */
int signed_rank_test(const double *differences, size_t n, double *ret_p)
{
	/* Sums of doubled ranks of what is positive after the flip: at most n (n + 1). */
	double ways[RANK_MAX_N * (RANK_MAX_N + 1) + 1] = {1}, beyond = 0, all = 0;
	uint32_t rank[RANK_MAX_N], sorted[RANK_MAX_N];
	int64_t positive = 0, total = 0, distance;
	struct item items[RANK_MAX_N];

	if (!n)
		return -ENODATA;
	if (n > RANK_MAX_N || !all_finite(differences, n))
		return -EINVAL;
	for (size_t i = 0; i < n; i++)
		items[i] = (struct item){fabs(differences[i]), i};
	rank_items(items, n, rank, sorted);
	for (size_t i = 0; i < n; i++) {
		if (differences[i] == 0)
			continue;
		for (int64_t s = total; s >= 0; s--)
			ways[s + rank[i]] += ways[s];
		total += rank[i];
		positive += differences[i] > 0 ? rank[i] : 0;
	}
	distance = llabs(2 * positive - total);
	for (int64_t s = 0; s <= total; s++) {
		all += ways[s];
		if (llabs(2 * s - total) >= distance)
			beyond += ways[s];
	}
	*ret_p = beyond / all;
	return 0;
}

/**
 * signed_rank_distribution() - how T, the sum of the ranks of the positive differences, is
 * distributed when the arms do not differ and no two differences are of one size or 0
 * @n: 1 to RANK_MAX_N
 * @ret_cdf: n (n + 1) / 2 + 1 places: P(T <= t) for each t
 *
 * Return: 0, or -EINVAL for another number of differences.
 */
int signed_rank_distribution(size_t n, double *ret_cdf)
{
	size_t total = n * (n + 1) / 2;

	if (!n || n > RANK_MAX_N)
		return -EINVAL;
	for (size_t t = 0; t <= total; t++)
		ret_cdf[t] = t == 0;
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t t = rank * (rank + 1) / 2; t >= rank; t--)
			ret_cdf[t] += ret_cdf[t - rank];
	for (size_t t = 1; t <= total; t++)
		ret_cdf[t] += ret_cdf[t - 1];
	for (size_t t = 0; t <= total; t++)
		ret_cdf[t] = ldexp(ret_cdf[t], -(int)n);
	return 0;
}

/**
 * signed_rank_floor() - the smallest p that signed_rank_test() can give, no difference being 0
 *
 * Return: 2 / 2^n, and 1 where n is 0.
 */
double signed_rank_floor(size_t n)
{
	return n ? ldexp(2, -(int)n) : 1;
}
