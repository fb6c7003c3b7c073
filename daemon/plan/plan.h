/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_PLAN_H
#define LABD_PLAN_PLAN_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "plan/spec.h"

/**
 * struct plan_slot - one planned boot: an arm of a round, with the order of its runs
 * @round: 1..rounds
 * @position: place in the order of the whole plan, from 1
 * @arm: index into spec.arms
 * @seed: given to every workload of the round, the same for all arms of it
 * @runs: scenario indices in the order in which they run, each scenario @repeats times
 */
struct plan_slot {
	unsigned int round;
	unsigned int position;
	size_t arm;
	uint64_t seed;
	size_t *runs;
	size_t n_runs;
};

struct plan {
	struct plan_slot *slots;
	size_t n_slots;
	char sha256[65];
};

int plan_make(const struct spec *spec, struct plan **ret_plan);
void plan_free(struct plan *plan);
json_t *plan_to_json(const struct spec *spec, const struct plan *plan);

#endif
