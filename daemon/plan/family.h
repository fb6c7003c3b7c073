/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_FAMILY_H
#define LABD_PLAN_FAMILY_H

#include <jansson.h>
#include <stddef.h>

#include "plan/spec.h"

/**
 * struct family - the comparisons that a plan's verdicts are corrected over
 * @n_scenarios: primary ones
 * @n_metrics: primary ones
 * @size: their product; 0 without a primary metric, when all is descriptive
 * @p_floor: smallest p that the plan's test can reach with a pair in every round
 */
struct family {
	size_t n_scenarios;
	size_t n_metrics;
	size_t size;
	double p_floor;
};

struct family family_of(const struct spec *spec);
int family_check(const struct spec *spec, struct problem *problem);
json_t *family_to_json(const struct spec *spec);

#endif
