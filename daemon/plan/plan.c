// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of everything, drawn from the spec's seed before the first boot.
 *
 * Arms: a round boots every arm once, so the two boots of a pair are at most a round apart. Rounds
 * come in twos: the first draws an order, the second is its mirror image (A B, then B A). A drift
 * of the machine, however steep, so adds the same to both arms over the two rounds; an order that
 * is alike in every round (A B A B), or arms in a row (A A B B), would be billed for it. An odd
 * last round draws an order of its own.
 *
 * Scenarios: drawn per round and pass, the same for every arm of the round, since what ran before
 * is part of a run's conditions. The seed that the workloads get is likewise one per round.
 *
 * The generator is splitmix64: the state grows by a constant and is mixed by two multiplications.
 * It is here rather than in libc because a stored seed must give the same plan on any host for
 * ever.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "plan/plan.h"

static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* Evenly from 0..n-1: the uneven rest at the top of the range is drawn again. */
static size_t draw_below(uint64_t *state, size_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, value;

	do
		value = draw(state);
	while (value >= limit);
	return value % n;
}

static void draw_order(uint64_t *state, size_t *ret_order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t k = draw_below(state, i + 1);

		ret_order[i] = ret_order[k];
		ret_order[k] = i;
	}
}

static void mirror(size_t *order, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		size_t swap = order[i];

		order[i] = order[n - 1 - i];
		order[n - 1 - i] = swap;
	}
}

/* Fills the slots of one round, whose arms are in @arms' order. */
static int plan_round(const struct spec *spec, uint64_t *state, unsigned int round,
		      const size_t *arms, struct plan_slot *slots)
{
	size_t n_runs = spec->n_scenarios * spec->repeats;

	for (size_t i = 0; i < spec->n_arms; i++) {
		slots[i].round = round;
		slots[i].position = (round - 1) * spec->n_arms + i + 1;
		slots[i].arm = arms[i];
		slots[i].n_runs = n_runs;
		slots[i].runs = calloc(n_runs, sizeof(size_t));
		if (!slots[i].runs)
			return -ENOMEM;
	}
	/* 63 bits: the seed has to survive readers that know only signed integers. */
	slots[0].seed = draw(state) >> 1;
	for (unsigned int pass = 0; pass < spec->repeats; pass++)
		draw_order(state, slots[0].runs + pass * spec->n_scenarios, spec->n_scenarios);
	for (size_t i = 1; i < spec->n_arms; i++) {
		slots[i].seed = slots[0].seed;
		memcpy(slots[i].runs, slots[0].runs, n_runs * sizeof(size_t));
	}
	return 0;
}

/* The seal is over the canonical text: sorted keys and no blanks. */
static int plan_seal(const struct spec *spec, struct plan *plan)
{
	json_t *json = plan_to_json(spec, plan);
	char *text = json ? json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

	json_decref(json);
	if (!text)
		return -ENOMEM;
	sha256_hex(text, strlen(text), plan->sha256);
	free(text);
	return 0;
}

/**
 * plan_make() - draw and seal the plan of a spec; the same spec always gives the same plan
 * @ret_plan: freed with plan_free()
 *
 * Return: 0 or -ENOMEM.
 */
int plan_make(const struct spec *spec, struct plan **ret_plan)
{
	uint64_t state = spec->seed;
	size_t arms[SPEC_MAX_ARMS] = {};
	struct plan *plan;
	int ret = -ENOMEM;

	plan = calloc(1, sizeof(*plan));
	if (!plan)
		return -ENOMEM;
	plan->n_slots = spec->rounds * spec->n_arms;
	plan->slots = calloc(plan->n_slots, sizeof(*plan->slots));
	if (!plan->slots)
		goto fail;
	for (unsigned int round = 1; round <= spec->rounds; round++) {
		if (round % 2)
			draw_order(&state, arms, spec->n_arms);
		else
			mirror(arms, spec->n_arms);
		ret = plan_round(spec, &state, round, arms,
				 plan->slots + (round - 1) * spec->n_arms);
		if (ret)
			goto fail;
	}
	ret = plan_seal(spec, plan);
	if (ret)
		goto fail;
	*ret_plan = plan;
	return 0;

fail:
	plan_free(plan);
	return ret;
}

/** plan_free() - release a plan; NULL is fine */
void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; plan->slots && i < plan->n_slots; i++)
		free(plan->slots[i].runs);
	free(plan->slots);
	free(plan);
}

/* What each scenario will start, with the defaults that the spec left out. */
static json_t *scenarios_to_json(const struct spec *spec)
{
	json_t *list = json_array(), *argv;
	struct problem problem = {};

	for (size_t i = 0; list && i < spec->n_scenarios; i++) {
		const struct spec_scenario *scenario = &spec->scenarios[i];

		if (spec_workload_argv(scenario->args, &argv, &problem, "") ||
		    json_array_append_new(list,
					  json_pack("{s:s, s:s, s:o, s:i}", "name", scenario->name,
						    "workload", scenario->workload, "argv", argv,
						    "timeout_s", (int)scenario->timeout_s))) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

static json_t *slot_to_json(const struct spec *spec, const struct plan_slot *slot)
{
	json_t *runs = json_array();
	char seed[24];

	for (size_t i = 0; runs && i < slot->n_runs; i++) {
		if (json_array_append_new(runs, json_string(spec->scenarios[slot->runs[i]].name))) {
			json_decref(runs);
			runs = NULL;
		}
	}
	/* As a string: JavaScript's numbers are exact to 53 bits only. */
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)slot->seed);
	return json_pack("{s:i, s:i, s:s, s:s, s:o}", "round", (int)slot->round, "position",
			 (int)slot->position, "arm", spec->arms[slot->arm].name, "seed", seed,
			 "runs", runs);
}

/**
 * plan_to_json() - the plan as it is stored and sealed: the spec as sent, what each scenario
 * starts, and every boot with the order of its runs
 *
 * plan.sha256 is the SHA-256 of this object's text with sorted keys and no blanks.
 *
 * Return: new reference, or NULL without memory.
 */
json_t *plan_to_json(const struct spec *spec, const struct plan *plan)
{
	json_t *slots = json_array();

	for (size_t i = 0; slots && i < plan->n_slots; i++) {
		if (json_array_append_new(slots, slot_to_json(spec, &plan->slots[i]))) {
			json_decref(slots);
			slots = NULL;
		}
	}
	return json_pack("{s:i, s:O, s:o, s:o}", "version", 1, "spec", spec->source, "scenarios",
			 scenarios_to_json(spec), "slots", slots);
}
