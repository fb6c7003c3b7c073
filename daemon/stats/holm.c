// SPDX-License-Identifier: GPL-2.0-only
/* Holm's correction for the number of comparisons (S. Holm, Scand. J. Statist. 6, 1979). Pure. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "stats/holm.h"

static int by_p(const void *a, const void *b)
{
	double x = **(const double *const *)a, y = **(const double *const *)b;

	return (x > y) - (x < y);
}

/**
 * holm_adjust() - p values that may each be held against the whole family's alpha
 * @p: raw, each 0 to 1; what could not be tested counts as 1
 * @n: size of the family
 * @ret_adjusted: in the order of @p; may be @p itself
 *
 * The i-th smallest of n is multiplied by n - i + 1, and is at least what those before it became
 * and at most 1.
 *
 * Return: 0, -EINVAL for a p that is none, -ENOMEM.
 */
int holm_adjust(const double *p, size_t n, double *ret_adjusted)
{
	const double **order = calloc(n + 1, sizeof(*order));
	double least = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!(p[i] >= 0 && p[i] <= 1)) {
			free(order);
			return -EINVAL;
		}
		order[i] = &p[i];
	}
	qsort(order, n, sizeof(*order), by_p);
	for (size_t i = 0; i < n; i++) {
		least = fmin(fmax(least, (double)(n - i) * *order[i]), 1);
		ret_adjusted[order[i] - p] = least;
	}
	free(order);
	return 0;
}
