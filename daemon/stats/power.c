// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a design can find: the power of the exact rank tests for normal values whose arms differ by
 * a shift, by simulation from a fixed seed, so that the same design always has the same power.
 *
 * Both statistics count: U the pairs of values with base < arm + shift, T the averages of two
 * differences (Walsh's) above -shift. So a draw has one threshold, an order statistic of what is
 * counted, and its test finds every shift above that one. The power for a shift is the share of
 * thresholds below it; the detectable shift is a quantile of the thresholds. Pure.
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "stats/power.h"
#include "stats/rank.h"

/*
 * A power of .8 from 20 000 draws has a standard error of .0028, and of .0063 from the 4 000 that
 * 100 against 100 values are given, whose draws cost more.
 */
#define DRAWS_MAX 20000
#define DRAWS_MIN 4000
#define DRAWS_WORK 40000000
#define SEED 0x6c616264

/* p and alpha are both rounded: 2 / 252 is to be within 2 / 252. */
#define ALPHA_SLACK 1e-12

/* splitmix64 (Steele, Lea, Flood 2014); 53 bits make a number above 0 and at most 1. */
static double uniform(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	z ^= z >> 31;
	return (double)((z >> 11) + 1) * 0x1p-53;
}

/* Box and Muller's. */
static double normal(uint64_t *state)
{
	double radius = sqrt(-2 * log(uniform(state)));

	return radius * cos(2 * M_PI * uniform(state));
}

/* The value that @k others are not above, from 0 (Hoare's selection); @values are moved about. */
static double select_kth(double *values, size_t n, size_t k)
{
	size_t low = 0, high = n - 1;

	while (low < high) {
		double pivot = values[low + (high - low) / 2];
		size_t i = low, j = high;

		for (;; i++, j--) {
			double swap;

			while (values[i] < pivot)
				i++;
			while (values[j] > pivot)
				j--;
			if (i >= j)
				break;
			swap = values[i];
			values[i] = values[j];
			values[j] = swap;
		}
		if (k <= j)
			high = j;
		else
			low = j + 1;
	}
	return values[k];
}

/**
 * struct design - a test at a number of values
 * @n: values of each arm, or pairs
 * @counted: how many comparisons its statistic counts
 * @critical: the greatest count below which the test still refuses
 */
struct design {
	bool paired;
	size_t n;
	size_t counted;
	size_t critical;
};

static int make_design(size_t n, bool paired, double alpha, struct design *ret_design)
{
	struct design design = {paired, n, paired ? n * (n + 1) / 2 : n * n};
	double *cdf;
	int ret;

	if (!n || n > RANK_MAX_N || !(alpha > 0 && alpha < 1))
		return -EINVAL;
	cdf = calloc(design.counted + 1, sizeof(*cdf));
	if (!cdf)
		return -ENOMEM;
	ret = paired ? signed_rank_distribution(n, cdf) : rank_distribution(n, n, cdf);
	alpha *= 1 + ALPHA_SLACK;
	if (!ret && 2 * cdf[0] > alpha)
		ret = -ERANGE;
	while (!ret && design.critical < design.counted / 2 &&
	       2 * cdf[design.critical + 1] <= alpha)
		design.critical++;
	free(cdf);
	*ret_design = design;
	return ret;
}

/* One draw's values into what the statistic counts, each as the shift above which it counts. */
static void draw(const struct design *design, uint64_t *state, double *ret_counted)
{
	double a[RANK_MAX_N], b[RANK_MAX_N];
	size_t n = design->n, at = 0;

	for (size_t i = 0; i < n; i++) {
		a[i] = normal(state);
		b[i] = design->paired ? a[i] : normal(state);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t j = design->paired ? i : 0; j < n; j++)
			ret_counted[at++] = design->paired ? (a[i] + b[j]) / 2 : b[j] - a[i];
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The draws' thresholds, ascending; the caller's to free. */
static int make_thresholds(const struct design *design, double **ret_thresholds, size_t *ret_n)
{
	size_t draws = DRAWS_WORK / design->counted;
	double *counted, *thresholds;
	uint64_t state = SEED;

	draws = draws > DRAWS_MAX ? DRAWS_MAX : draws < DRAWS_MIN ? DRAWS_MIN : draws;
	counted = calloc(design->counted, sizeof(*counted));
	thresholds = calloc(draws, sizeof(*thresholds));
	if (!counted || !thresholds) {
		free(counted);
		free(thresholds);
		return -ENOMEM;
	}
	/* The test refuses when all but @critical count. */
	for (size_t i = 0; i < draws; i++) {
		draw(design, &state, counted);
		thresholds[i] = select_kth(counted, design->counted,
					   design->counted - design->critical - 1);
	}
	free(counted);
	qsort(thresholds, draws, sizeof(*thresholds), by_value);
	*ret_thresholds = thresholds;
	*ret_n = draws;
	return 0;
}

/**
 * power_rank() - how often rank_test() finds a shift
 * @n: values of each arm, 1 to RANK_MAX_N
 * @alpha: above 0 and below 1
 * @shift_sd: in units of the boots' standard deviation, at least 0
 * @ret_power: share of experiments with p <= @alpha in the shift's direction, to about .006; 0
 * where no p is that small
 *
 * Return: 0, -EINVAL for arguments out of range, -ENOMEM.
 */
int power_rank(size_t n, double alpha, double shift_sd, double *ret_power)
{
	struct design design;
	double *thresholds;
	size_t draws, found = 0;
	int ret;

	if (!(shift_sd >= 0))
		return -EINVAL;
	ret = make_design(n, false, alpha, &design);
	if (ret == -ERANGE) {
		*ret_power = 0;
		return 0;
	}
	ret = ret ?: make_thresholds(&design, &thresholds, &draws);
	if (ret)
		return ret;
	while (found < draws && thresholds[found] < shift_sd)
		found++;
	free(thresholds);
	*ret_power = (double)found / (double)draws;
	return 0;
}

static int find_detectable(size_t n, bool paired, double alpha, double *ret_sd)
{
	struct design design;
	double *thresholds;
	size_t draws;
	int ret;

	ret = make_design(n, paired, alpha, &design)
		      ?: make_thresholds(&design, &thresholds, &draws);
	if (ret)
		return ret;
	*ret_sd = thresholds[(size_t)ceil(POWER_WANTED * (double)draws) - 1];
	free(thresholds);
	return 0;
}

/**
 * power_detectable_sd() - the smallest shift that rank_test() finds POWER_WANTED of the time
 * @n: values of each arm, 1 to RANK_MAX_N
 * @alpha: above 0 and below 1; of one comparison
 * @ret_sd: in units of the boots' standard deviation
 *
 * Return: 0, -ERANGE where no p is as small as @alpha, so that no shift is ever found, -EINVAL for
 * arguments out of range, -ENOMEM.
 */
int power_detectable_sd(size_t n, double alpha, double *ret_sd)
{
	return find_detectable(n, false, alpha, ret_sd);
}

/**
 * power_detectable_paired_sd() - the same for signed_rank_test()
 * @n: pairs
 * @ret_sd: in units of the standard deviation of the pairs' differences
 */
int power_detectable_paired_sd(size_t n, double alpha, double *ret_sd)
{
	return find_detectable(n, true, alpha, ret_sd);
}
