// SPDX-License-Identifier: GPL-2.0-only
/* The paired view: ratios by round, their median, and which way each pair went. */
#include <check.h>
#include <math.h>

#include "base/util.h"
#include "stats/paired.h"

#define MAX_ROUNDS 6
#define NONE NAN

/* delta NONE: there must be none. */
static const struct {
	const char *name;
	size_t n;
	double base[MAX_ROUNDS], arm[MAX_ROUNDS], ratios[MAX_ROUNDS];
	size_t pairs, lower, equal, higher;
	double delta;
} cases[] = {
	{"odd", 3, {10, 20, 40}, {5, 30, 10}, {0.5, 1.5, 0.25}, 3, 2, 0, 1, -0.5},
	{"even", 4, {8, 8, 8, 8}, {2, 4, 6, 10}, {0.25, 0.5, 0.75, 1.25}, 4, 3, 0, 1, -0.375},
	/* Of the medians it would be 30 / 20 - 1: rounds of different size must not mix. */
	{"by round", 3, {1, 20, 300}, {2, 30, 330}, {2, 1.5, 330.0 / 300}, 3, 0, 0, 3, 0.5},
	{"A/A", 3, {0.1, 1e300, 12345.678}, {0.1, 1e300, 12345.678}, {1, 1, 1}, 3, 0, 3, 0, 0},
	{"A/A of zeros", 2, {0, 0}, {0, 0}, {1, 1}, 2, 0, 2, 0, 0},
	/* The median is 1 and the rounds still differ: only n_equal says "identical". */
	{"nearly A/A", 3, {4, 4, 4}, {2, 4, 5}, {0.5, 1, 1.25}, 3, 1, 1, 1, 0},
	{"the last bit", 1, {1}, {1 + 0x1p-52}, {1 + 0x1p-52}, 1, 0, 0, 1, 0x1p-52},
	{"a base of zero", 2, {0, 2}, {3, 1}, {NONE, 0.5}, 2, 1, 0, 1, NONE},
	{"an arm of zero", 2, {3, 2}, {0, 0}, {0, 0}, 2, 2, 0, 0, -1},
	{"void rounds",
	 4,
	 {NONE, 4, 4, NONE},
	 {1, 2, NONE, NONE},
	 {NONE, 0.5, NONE, NONE},
	 1,
	 1,
	 0,
	 0,
	 -0.5},
	{"all void", 2, {NONE, 1}, {1, NONE}, {NONE, NONE}, 0, 0, 0, 0, NONE},
	{"no round", 0, {0}, {0}, {0}, 0, 0, 0, 0, NONE},
};

static bool same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

START_TEST(pairs)
{
	double ratios[MAX_ROUNDS];
	struct paired paired;

	ck_assert_int_eq(
		paired_compare(cases[_i].base, cases[_i].arm, cases[_i].n, ratios, &paired), 0);
	for (size_t i = 0; i < cases[_i].n; i++)
		ck_assert_msg(same(ratios[i], cases[_i].ratios[i]), "%s: round %zu: %.17g",
			      cases[_i].name, i, ratios[i]);
	ck_assert_msg(paired.n == cases[_i].pairs && paired.n_lower == cases[_i].lower &&
			      paired.n_equal == cases[_i].equal &&
			      paired.n_higher == cases[_i].higher,
		      "%s: %zu pairs, %zu lower, %zu equal, %zu higher", cases[_i].name, paired.n,
		      paired.n_lower, paired.n_equal, paired.n_higher);
	ck_assert_msg(same(paired.delta, cases[_i].delta), "%s: delta %.17g", cases[_i].name,
		      paired.delta);
}
END_TEST

/* Upside down, each lower is a higher, and the ratios are the reciprocals. */
START_TEST(arms_exchanged)
{
	double ratios[MAX_ROUNDS], back[MAX_ROUNDS];
	struct paired paired, other;

	paired_compare(cases[_i].base, cases[_i].arm, cases[_i].n, ratios, &paired);
	paired_compare(cases[_i].arm, cases[_i].base, cases[_i].n, back, &other);
	ck_assert_uint_eq(paired.n, other.n);
	ck_assert_uint_eq(paired.n_lower, other.n_higher);
	ck_assert_uint_eq(paired.n_equal, other.n_equal);
	for (size_t i = 0; i < cases[_i].n; i++) {
		if (!isnan(ratios[i]) && !isnan(back[i]))
			ck_assert_double_eq_tol(ratios[i] * back[i], 1, 1e-15);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("paired");
	TCase *tcase = tcase_create("paired");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, pairs, 0, ARRAY_SIZE(cases));
	tcase_add_loop_test(tcase, arms_exchanged, 0, ARRAY_SIZE(cases));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
