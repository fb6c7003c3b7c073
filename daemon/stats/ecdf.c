// SPDX-License-Identifier: GPL-2.0-only
/*
 * The empirical distribution function of many values in few points. Thinned by rank, not by value:
 * every point is a value that was measured, with its exact fraction.
 */
#include <math.h>
#include <stdlib.h>

#include "base/util.h"
#include "stats/ecdf.h"
#include "stats/percentile.h"

/* Always there; 1000 is the maximum. */
static const unsigned int always[] = {500, 900, 990, 999, 1000};

#define BODY_POINTS 120
#define TAIL_POINTS (ECDF_MAX_POINTS - BODY_POINTS - ARRAY_SIZE(always))

static int compare_ranks(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

/*
 * Evenly over the ranks for the body, and from the top with distances that grow by a factor for the
 * tail: the largest values are all there, one by one.
 */
static size_t choose_ranks(size_t n, size_t ranks[ECDF_MAX_POINTS])
{
	size_t count = 0, below = 0;

	if (n <= ECDF_MAX_POINTS) {
		while (count < n) {
			ranks[count] = count + 1;
			count++;
		}
		return count;
	}
	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		ranks[count++] = nearest_rank(n, always[i]);
	for (size_t i = 0; i < BODY_POINTS; i++)
		ranks[count++] = 1 + i * (n - 1) / BODY_POINTS;
	for (size_t i = 1; i <= TAIL_POINTS; i++) {
		size_t step = (size_t)pow((double)n, (double)i / TAIL_POINTS);

		below = step > below + 1 ? step : below + 1;
		if (below < n)
			ranks[count++] = n - below;
	}
	qsort(ranks, count, sizeof(*ranks), compare_ranks);
	return count;
}

/* The rank of the last value that equals the one at @rank. */
static size_t last_equal(const int64_t *sorted, size_t n, size_t rank)
{
	size_t low = rank, high = n;

	while (low < high) {
		size_t middle = low + (high - low + 1) / 2;

		if (sorted[middle - 1] == sorted[rank - 1])
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/**
 * ecdf_thin() - an empirical distribution function in at most ECDF_MAX_POINTS points
 * @sorted: ascending
 * @n: at most SIZE_MAX / 1000 - 1
 * @points: filled, values and ranks strictly ascending
 *
 * The smallest and the largest value, p50, p90, p99 and p99.9 (nearest ranks) are always among
 * them, and so are the largest values one by one. Up to ECDF_MAX_POINTS values nothing is left out.
 *
 * Return: how many points, 0 without values.
 */
size_t ecdf_thin(const int64_t *sorted, size_t n, struct ecdf_point points[ECDF_MAX_POINTS])
{
	size_t ranks[ECDF_MAX_POINTS], n_ranks = choose_ranks(n, ranks), count = 0;

	for (size_t i = 0; i < n_ranks; i++) {
		if (count && ranks[i] <= points[count - 1].rank)
			continue;
		points[count++] =
			(struct ecdf_point){sorted[ranks[i] - 1], last_equal(sorted, n, ranks[i])};
	}
	return count;
}
