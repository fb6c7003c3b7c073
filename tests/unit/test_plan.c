// SPDX-License-Identifier: GPL-2.0-only
/* The plan is balanced, matched within a round, and the same for ever. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/util.h"
#include "plan/family.h"
#include "plan/plan.h"

static struct spec *make_spec(unsigned int arms, unsigned int rounds, unsigned int repeats,
			      const char *more)
{
	char *body, *arm_list = str_printf("%s", ""), *longer;
	struct problem problem = {};
	struct spec *spec = NULL;

	for (unsigned int i = 0; i < arms; i++) {
		longer = str_printf("%s%s{\"name\":\"arm%u\",\"build\":\"b\"}", arm_list,
				    i ? "," : "", i);
		free(arm_list);
		arm_list = longer;
	}
	body = str_printf(
		"{\"name\":\"n\",\"machine\":\"qemu\",\"subject\":\"kvm\",\"arms\":[%s],\"rounds\":%u,"
		"\"repeats\":%u,\"scenarios\":[{\"name\":\"a\",\"workload\":\"w\"},{\"name\":\"b\","
		"\"workload\":\"w\"},{\"name\":\"c\",\"workload\":\"w\"}],\"metrics\":[{\"name\":\"m\","
		"\"unit\":\"1\",\"workload_key\":\"k\"}]%s}",
		arm_list, rounds, repeats, more);
	ck_assert_msg(!spec_parse(body, strlen(body), &spec, &problem), "%s: %s", problem.key,
		      problem.detail);
	free(body);
	free(arm_list);
	return spec;
}

static struct plan *make_plan(const struct spec *spec)
{
	struct plan *plan;

	ck_assert_int_eq(plan_make(spec, &plan), 0);
	ck_assert_uint_eq(plan->n_slots, spec->rounds * spec->n_arms);
	return plan;
}

/* Each round boots every arm once, and every second round mirrors the one before. */
START_TEST(rounds_mirror)
{
	struct spec *spec = make_spec(_i, 7, 1, "");
	struct plan *plan = make_plan(spec);

	for (size_t i = 0; i < plan->n_slots; i++) {
		const struct plan_slot *slot = &plan->slots[i];
		size_t round = i / spec->n_arms, place = i % spec->n_arms;

		ck_assert_uint_eq(slot->round, round + 1);
		ck_assert_uint_eq(slot->position, i + 1);
		for (size_t k = round * spec->n_arms; k < i; k++)
			ck_assert_uint_ne(plan->slots[k].arm, slot->arm);
		if (round % 2)
			ck_assert_uint_eq(slot->arm,
					  plan->slots[round * spec->n_arms - 1 - place].arm);
	}
	plan_free(plan);
	spec_free(spec);
}
END_TEST

/* A drift that grows with every boot adds the same to each arm when the rounds are even in number.
 */
START_TEST(drift_cancels)
{
	struct spec *spec = make_spec(4, 6, 1, "");
	struct plan *plan = make_plan(spec);
	unsigned int drift[SPEC_MAX_ARMS] = {};

	for (size_t i = 0; i < plan->n_slots; i++)
		drift[plan->slots[i].arm] += plan->slots[i].position;
	for (size_t arm = 1; arm < spec->n_arms; arm++)
		ck_assert_uint_eq(drift[arm], drift[0]);
	plan_free(plan);
	spec_free(spec);
}
END_TEST

/* Over many seeds each arm is first in half of the first rounds. */
START_TEST(first_arm_is_drawn)
{
	unsigned int first = 0;
	struct plan *plan;
	struct spec *spec;
	char seed[32];

	for (int i = 0; i < 400; i++) {
		snprintf(seed, sizeof(seed), ",\"seed\":%d", i);
		spec = make_spec(2, 1, 1, seed);
		plan = make_plan(spec);
		first += plan->slots[0].arm;
		plan_free(plan);
		spec_free(spec);
	}
	ck_assert_uint_ge(first, 150);
	ck_assert_uint_le(first, 250);
}
END_TEST

START_TEST(a_round_is_matched)
{
	struct spec *spec = make_spec(3, 8, 4, "");
	struct plan *plan = make_plan(spec);
	unsigned int orders = 0;

	for (size_t i = 0; i < plan->n_slots; i++) {
		const struct plan_slot *slot = &plan->slots[i], *base = &plan->slots[i - i % 3];

		ck_assert_uint_eq(slot->n_runs, 12);
		ck_assert_uint_eq(slot->seed, base->seed);
		ck_assert_uint_lt(slot->seed, (uint64_t)1 << 63);
		ck_assert_mem_eq(slot->runs, base->runs, 12 * sizeof(size_t));
		/* Each pass runs every scenario. */
		for (size_t pass = 0; pass < 12; pass += 3)
			ck_assert_uint_eq(1u << slot->runs[pass] | 1u << slot->runs[pass + 1] |
						  1u << slot->runs[pass + 2],
					  7);
		if (i >= 3) {
			ck_assert_uint_ne(slot->seed, plan->slots[i - 3].seed);
			orders += memcmp(slot->runs, plan->slots[i - 3].runs,
					 12 * sizeof(size_t)) != 0;
		}
	}
	ck_assert_uint_gt(orders, 0);
	plan_free(plan);
	spec_free(spec);
}
END_TEST

/* A stored seed has to give this order on any host: a change here breaks old plans. */
START_TEST(draws_are_fixed)
{
	struct spec *spec = make_spec(2, 3, 1, ",\"seed\":7");
	struct plan *plan = make_plan(spec);
	const size_t arms[] = {1, 0, 0, 1, 1, 0};

	ck_assert_uint_eq(plan->slots[0].seed, 8308050873407804673);
	for (size_t i = 0; i < ARRAY_SIZE(arms); i++)
		ck_assert_uint_eq(plan->slots[i].arm, arms[i]);
	plan_free(plan);
	spec_free(spec);
}
END_TEST

START_TEST(seal_covers_everything)
{
	static const char *const changes[] = {
		"",
		",\"seed\":2",
		",\"max_lost\":1",
		",\"margin\":0.1",
		",\"cmdline\":\"quiet\"",
		",\"trace\":{\"clock\":\"boot\"}",
		",\"kind\":\"aa\"",
		",\"alpha\":0.01",
		",\"test\":\"paired\"",
		",\"primary\":{\"scenarios\":[\"a\"]}",
	};
	char seals[ARRAY_SIZE(changes)][65], again[65], *text;
	struct plan *plan;
	struct spec *spec;
	json_t *json;

	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		spec = make_spec(2, 5, 1, changes[i]);
		plan = make_plan(spec);
		strcpy(seals[i], plan->sha256);
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(seals[k], seals[i]);
		json = plan_to_json(spec, plan);
		text = json_dumps(json, JSON_COMPACT | JSON_SORT_KEYS);
		sha256_hex(text, strlen(text), again);
		ck_assert_str_eq(again, plan->sha256);
		free(text);
		json_decref(json);
		plan_free(plan);
		spec_free(spec);
	}
}
END_TEST

/*
 * What would help is only named where it would: with 8 arms of 60 runs, 41 rounds are the most that
 * fit a plan. 3 scenarios make 3 comparisons; p is at least 2 / C(2n, n), or 2 / 2^n.
 */
static const struct {
	unsigned int rounds;
	const char *more;
	const char *says; /* NULL: the plan is fine */
} families[] = {
	{5, "", NULL},
	{4, "",
	 "3 comparisons (3 scenarios \xc3\x97 1 primary metric) at 4 rounds: the rank test's "
	 "smallest p is 0.0286, times 3 is 0.0857, above alpha 0.05; plan 5 rounds or name at most "
	 "1 in primary.scenarios."},
	{1, "",
	 "3 comparisons (3 scenarios \xc3\x97 1 primary metric) at 1 round: the rank test's "
	 "smallest p is 1, times 3 is 3, above alpha 0.05; plan 5 rounds."},
	{4, ",\"primary\":{\"scenarios\":[\"b\"]}", NULL},
	{7, ",\"test\":\"paired\"", NULL},
	{6, ",\"test\":\"paired\"",
	 "3 comparisons (3 scenarios \xc3\x97 1 primary metric) at 6 rounds: the paired test's smallest "
	 "p is 0.0312, times 3 is 0.0938, above alpha 0.05; plan 7 rounds or name at most 1 in "
	 "primary.scenarios."},
	/* 2 / 2^41 times 3 is 2.73e-12. */
	{5, ",\"test\":\"paired\",\"alpha\":2.8e-12",
	 "3 comparisons (3 scenarios \xc3\x97 1 primary metric) at 5 rounds: the paired test's smallest "
	 "p is 0.0625, times 3 is 0.188, above alpha 2.8e-12; plan 41 rounds."},
	{5, ",\"test\":\"paired\",\"alpha\":2.7e-12",
	 "3 comparisons (3 scenarios \xc3\x97 1 primary metric) at 5 rounds: the paired test's smallest "
	 "p is 0.0625, times 3 is 0.188, above alpha 2.7e-12; no number of rounds that can be planned "
	 "would do."},
};

START_TEST(family_is_reachable)
{
	struct spec *spec = make_spec(8, families[_i].rounds, 20, families[_i].more);
	struct problem problem = {};

	/* Descriptive until a metric is primary. */
	ck_assert_int_eq(family_check(spec, &problem), 0);
	spec->metrics[0].primary = true;
	if (families[_i].says) {
		ck_assert_int_lt(family_check(spec, &problem), 0);
		ck_assert_int_eq(problem.status, 422);
		ck_assert_str_eq(problem.key, "rounds");
		ck_assert_str_eq(problem.detail, families[_i].says);
	} else {
		ck_assert_int_eq(family_check(spec, &problem), 0);
		ck_assert_int_eq(problem.status, 0);
	}
	spec_free(spec);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plan");
	TCase *tcase = tcase_create("plan");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, rounds_mirror, 2, SPEC_MAX_ARMS + 1);
	tcase_add_test(tcase, drift_cancels);
	tcase_add_test(tcase, first_arm_is_drawn);
	tcase_add_test(tcase, a_round_is_matched);
	tcase_add_test(tcase, draws_are_fixed);
	tcase_add_test(tcase, seal_covers_everything);
	tcase_add_loop_test(tcase, family_is_reachable, 0, ARRAY_SIZE(families));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
