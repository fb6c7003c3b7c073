/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STATS_ECDF_H
#define LABD_STATS_ECDF_H

#include <stddef.h>
#include <stdint.h>

#define ECDF_MAX_POINTS 256

/**
 * struct ecdf_point - a step of an empirical distribution function
 * @value: in the unit of the values
 * @rank: how many values are not above it; of n values, the function is rank / n here
 */
struct ecdf_point {
	int64_t value;
	size_t rank;
};

size_t ecdf_thin(const int64_t *sorted, size_t n, struct ecdf_point points[ECDF_MAX_POINTS]);

#endif
