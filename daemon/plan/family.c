// SPDX-License-Identifier: GPL-2.0-only
/*
 * The family of a plan, and whether the plan can reach its alpha at all. Holm multiplies the
 * smallest p of a family by its size, so where the smallest p that the test can reach times that
 * size is above alpha, nothing could ever be called improved or regressed: such a plan is refused
 * before it costs a night.
 */
#include <stdio.h>

#include "plan/family.h"
#include "stats/rank.h"

static double test_floor(const struct spec *spec, unsigned int rounds)
{
	return spec->test == SPEC_TEST_PAIRED ? signed_rank_floor(rounds)
					      : rank_test_floor(rounds, rounds);
}

/** family_of() - the family of a spec's plan */
struct family family_of(const struct spec *spec)
{
	struct family family = {.p_floor = test_floor(spec, spec->rounds)};

	for (size_t i = 0; i < spec->n_scenarios; i++)
		family.n_scenarios += spec->primary_scenario[i];
	for (size_t i = 0; i < spec->n_metrics; i++)
		family.n_metrics += spec->metrics[i].primary;
	family.size = family.n_scenarios * family.n_metrics;
	return family;
}

/* How many of @n equal parts of the family (scenarios or metrics) alpha allows, 0 for none. */
static size_t reachable(const struct spec *spec, const struct family *family, size_t n)
{
	size_t per_part = family->size / n;

	while (n && family->p_floor * (n * per_part) > spec->alpha)
		n--;
	return n;
}

/* The fewest rounds that reach alpha and can be planned, 0 when there is no such number. */
static unsigned int rounds_needed(const struct spec *spec, const struct family *family)
{
	size_t runs = spec->n_arms * spec->n_scenarios * spec->repeats;

	for (unsigned int rounds = spec->rounds + 1;
	     rounds <= SPEC_MAX_ROUNDS && rounds * runs <= SPEC_MAX_RUNS; rounds++)
		if (test_floor(spec, rounds) * family->size <= spec->alpha)
			return rounds;
	return 0;
}

/* What would make the plan reach its alpha: "plan 6 rounds or name at most 6 in …". */
static void write_help(const struct spec *spec, const struct family *family, char *text,
		       size_t size)
{
	size_t scenarios = reachable(spec, family, family->n_scenarios);
	size_t metrics = reachable(spec, family, family->n_metrics), len = 0;
	unsigned int rounds = rounds_needed(spec, family);

	if (rounds)
		len += snprintf(text, size, "plan %u rounds", rounds);
	if (scenarios)
		len += snprintf(text + len, size - len, "%sname at most %zu in primary.scenarios",
				len ? " or " : "", scenarios);
	if (metrics)
		len += snprintf(text + len, size - len, "%smake at most %zu %s primary",
				len ? " or " : "", metrics, metrics == 1 ? "metric" : "metrics");
	if (!len)
		snprintf(text, size, "no number of rounds that can be planned would do");
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/**
 * family_check() - refuse a plan that can never find a difference, with the arithmetic
 *
 * A plan without a primary metric describes only, and is fine.
 *
 * Return: 0, or -EINVAL with @problem set.
 */
int family_check(const struct spec *spec, struct problem *problem)
{
	struct family family = family_of(spec);
	char times[64] = "", help[192];

	if (!family.size || family.p_floor * family.size <= spec->alpha)
		return 0;
	if (family.size > 1)
		snprintf(times, sizeof(times), ", times %zu is %.3g", family.size,
			 family.p_floor * family.size);
	write_help(spec, &family, help, sizeof(help));
	return problem_set(
		problem, 422, "rounds",
		"%zu comparison%s (%zu scenario%s × %zu primary metric%s) at %u round%s: "
		"the %s test's smallest p is %.3g%s, above alpha %g; %s.",
		family.size, plural(family.size), family.n_scenarios, plural(family.n_scenarios),
		family.n_metrics, plural(family.n_metrics), spec->rounds, plural(spec->rounds),
		spec_test_name(spec->test), family.p_floor, times, spec->alpha, help);
}

static json_t *names_to_json(const struct spec *spec, bool scenarios)
{
	json_t *list = json_array();

	for (size_t i = 0; scenarios && i < spec->n_scenarios; i++)
		if (spec->primary_scenario[i])
			json_array_append_new(list, json_string(spec->scenarios[i].name));
	for (size_t i = 0; !scenarios && i < spec->n_metrics; i++)
		if (spec->metrics[i].primary)
			json_array_append_new(list, json_string(spec->metrics[i].name));
	return list;
}

/**
 * family_to_json() - {arm, scenarios, metrics, size, alpha, test, p_floor}
 *
 * Return: new reference, or NULL without memory.
 */
json_t *family_to_json(const struct spec *spec)
{
	struct family family = family_of(spec);

	return json_pack("{s:s, s:o, s:o, s:I, s:f, s:s, s:f}", "arm",
			 spec->arms[spec->primary_arm].name, "scenarios", names_to_json(spec, true),
			 "metrics", names_to_json(spec, false), "size", (json_int_t)family.size,
			 "alpha", spec->alpha, "test", spec_test_name(spec->test), "p_floor",
			 family.p_floor);
}
