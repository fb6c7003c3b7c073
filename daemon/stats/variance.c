// SPDX-License-Identifier: GPL-2.0-only
/*
 * One-way random effects: do boots of one build differ by more than the runs inside them predict?
 * (Searle, Casella, McCulloch: Variance Components, 3.6, for unequal numbers of runs.) Pure.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stats/variance.h"

#define FRACTION_EPSILON 1e-15
#define FRACTION_MAX_STEPS 10000
#define FRACTION_TINY 1e-300

/* The continued fraction of the incomplete beta function (DLMF 8.17.22) by Lentz's method. */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), value;

	d = 1 / (fabs(d) < FRACTION_TINY ? FRACTION_TINY : d);
	value = d;
	for (int m = 1; m < FRACTION_MAX_STEPS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
		double before = value;

		for (int half = 0; half < 2; half++) {
			double step = half ? odd : even;

			d = 1 + step * d;
			c = 1 + step / c;
			d = 1 / (fabs(d) < FRACTION_TINY ? FRACTION_TINY : d);
			c = fabs(c) < FRACTION_TINY ? FRACTION_TINY : c;
			value *= d * c;
		}
		if (fabs(value - before) <= FRACTION_EPSILON * fabs(value))
			break;
	}
	return value;
}

/* The regularised incomplete beta function I_x(a, b); the fraction is fast below the mean. */
static double beta_regularised(double a, double b, double x)
{
	double front;

	if (x <= 0 || x >= 1)
		return x > 0;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, 1 - x) / b;
}

/* P(F >= f) of the F distribution (DLMF 8.17 and the usual substitution). */
static double f_upper_tail(double f, double df1, double df2)
{
	return beta_regularised(df2 / 2, df1 / 2, df2 / (df2 + df1 * f));
}

/* Runs and their sum in one boot. */
struct group {
	size_t n;
	double sum;
};

/**
 * variance_one_way() - how far boots differ beyond what the runs inside them do
 * @values: of all runs, finite
 * @boot_of: each run's boot, below @n_boots
 * @n: runs
 * @n_boots: a boot without runs does not count
 *
 * Boots may have unequal numbers of runs n_i: n0 = (N - Σ n_i² / N) / (boots - 1) takes the place
 * of the runs per boot.
 *
 * Return: 0, -ENODATA with fewer than two boots or no boot of two runs, -EINVAL for a bad value or
 * boot, -ENOMEM.
 */
int variance_one_way(const double *values, const size_t *boot_of, size_t n, size_t n_boots,
		     struct variance *ret_variance)
{
	struct variance var = {.runs = n, .icc = NAN, .f = NAN, .p = NAN};
	struct group *groups = calloc(n_boots + 1, sizeof(*groups));
	double mean = 0, squares = 0, n0, scale;
	int ret = 0;

	if (!groups)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (boot_of[i] >= n_boots || !isfinite(values[i])) {
			ret = -EINVAL;
			goto out;
		}
		var.boots += !groups[boot_of[i]].n++;
		groups[boot_of[i]].sum += values[i];
		mean += (values[i] - mean) / (double)(i + 1);
	}
	if (var.boots < 2 || n <= var.boots) {
		ret = -ENODATA;
		goto out;
	}
	for (size_t i = 0; i < n; i++) {
		const struct group *group = &groups[boot_of[i]];

		var.within += pow(values[i] - group->sum / (double)group->n, 2);
	}
	for (size_t i = 0; i < n_boots; i++) {
		double size = (double)groups[i].n;

		if (!groups[i].n)
			continue;
		var.between += size * pow(groups[i].sum / size - mean, 2);
		squares += size * size;
	}
	var.within /= (double)(n - var.boots);
	var.between /= (double)(var.boots - 1);
	n0 = ((double)n - squares / (double)n) / (double)(var.boots - 1);
	var.boot_variance = fmax((var.between - var.within) / n0, 0);
	scale = var.boot_variance + var.within;
	if (scale > 0)
		var.icc = var.boot_variance / scale;
	if (var.within > 0) {
		var.f = var.between / var.within;
		var.p = f_upper_tail(var.f, (double)(var.boots - 1), (double)(n - var.boots));
	}
	*ret_variance = var;
out:
	free(groups);
	return ret;
}
