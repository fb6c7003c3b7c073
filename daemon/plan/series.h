/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_SERIES_H
#define LABD_PLAN_SERIES_H

#include <sqlite3.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/spec.h"

/**
 * struct series - one scenario, metric and arm: a value per boot
 * @value: by round - 1; NAN in a round without a value that is used
 * @n_events: behind it
 */
struct series {
	double value[SPEC_MAX_ROUNDS];
	int64_t n_events[SPEC_MAX_ROUNDS];
};

/**
 * struct pairs - the rounds in which both the base and an arm have a value
 * @median_base, @median_arm: NAN without a pair
 * @delta: median_arm / median_base - 1; NAN when there is none
 */
struct pairs {
	size_t n;
	double base[SPEC_MAX_ROUNDS];
	double arm[SPEC_MAX_ROUNDS];
	double median_base;
	double median_arm;
	double delta;
};

int series_read(sqlite3 *db, int64_t experiment, const struct spec *spec,
		struct series **ret_series);
struct series *series_at(struct series *series, const struct spec *spec, size_t scenario,
			 size_t metric, size_t arm);
void series_pair(const struct series *base, const struct series *arm, size_t rounds,
		 struct pairs *ret_pairs);

#endif
