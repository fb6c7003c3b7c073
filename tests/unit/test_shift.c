// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hodges-Lehmann shifts and their intervals. The figures are numpy's: median and order statistics
 * of all differences, and the level from SciPy's way to count U (all C(N, n) splits).
 */
#include <check.h>
#include <errno.h>
#include <math.h>

#include "base/util.h"
#include "stats/rank.h"
#include "stats/shift.h"

#define NEAR 1e-9

static const struct {
	double base[8];
	size_t n_base;
	double arm[8];
	size_t n_arm;
	double level;
	struct shift expected;
} cases[] = {
	/* The 3rd and 23rd of 25 differences. The 2nd would be -44, the 4th -42. */
	{{10, 30, 20, 50, 40}, 5, {5, 7, 6, 100, 8}, 5, .95, {-15, -43, 70, 244 / 252.0}},
	/* The 1st and 25th, and the 5th and 21st. */
	{{10, 30, 20, 50, 40}, 5, {5, 7, 6, 100, 8}, 5, .99, {-15, -45, 90, 250 / 252.0}},
	{{10, 30, 20, 50, 40}, 5, {5, 7, 6, 100, 8}, 5, .90, {-15, -35, 50, 228 / 252.0}},
	/* The level itself is enough, and a little more is not. */
	{{10, 30, 20, 50, 40}, 5, {5, 7, 6, 100, 8}, 5, 244 / 252.0, {-15, -43, 70, 244 / 252.0}},
	{{10, 30, 20, 50, 40}, 5, {5, 7, 6, 100, 8}, 5, .969, {-15, -44, 80, 248 / 252.0}},
	{{1.1, 2.7, 4.2, 8.9},
	 4,
	 {1.9, 3.3, 7.1, 9.4, 12.5, 6.6},
	 6,
	 .95,
	 {2.65, -2.3, 8.3, 0.9619047619047619}},
	{{1, 2, 3, 4, 5, 6},
	 6,
	 {2.5, 3.5, 1.5, 7, 9, 11},
	 6,
	 .95,
	 {1.75, -2.5, 7, 0.9588744588744589}},
	/* 3 against 3 reach .9 and no more. */
	{{1, 2, 4}, 3, {10, 20, 40}, 3, .90, {18, 6, 39, .9}},
	{{1, 2, 4}, 3, {10, 20, 40}, 3, .95, {18, NAN, NAN, 0}},
	{{2}, 1, {5}, 1, .5, {3, NAN, NAN, 0}},
	{{4, 4, 4, 4, 4}, 5, {4, 4, 4, 4, 4}, 5, .95, {0, 0, 0, 244 / 252.0}},
};

static void same(double a, double b)
{
	if (isnan(b))
		ck_assert_double_nan(a);
	else
		ck_assert_double_eq_tol(a, b, NEAR);
}

START_TEST(reference_of_shift)
{
	const struct shift *expected = &cases[_i].expected;
	struct shift shift;

	ck_assert_int_eq(shift_estimate(cases[_i].base, cases[_i].n_base, cases[_i].arm,
					cases[_i].n_arm, cases[_i].level, &shift),
			 0);
	same(shift.shift, expected->shift);
	same(shift.low, expected->low);
	same(shift.high, expected->high);
	same(shift.level, expected->level);
}
END_TEST

/* The interval is what the rank test does not refuse: a shift just outside it is refused. */
START_TEST(interval_inverts_the_test)
{
	static const double base[] = {3.1, 4.7, 1.2, 9.9, 6.4, 2.2, 8.3},
			    arm[] = {5.2, 7.7, 11.4, 3.9, 12.8, 9.1};
	double moved[ARRAY_SIZE(arm)], p;
	struct shift shift;

	ck_assert_int_eq(shift_estimate(base, ARRAY_SIZE(base), arm, ARRAY_SIZE(arm), .95, &shift),
			 0);
	for (int side = 0; side < 4; side++) {
		double by = (side & 1 ? shift.low : shift.high) +
			    (side == 1 || side == 2 ? -1e-6 : 1e-6);

		for (size_t i = 0; i < ARRAY_SIZE(arm); i++)
			moved[i] = arm[i] - by;
		ck_assert_int_eq(rank_test(base, ARRAY_SIZE(base), moved, ARRAY_SIZE(arm), &p), 0);
		/* Sides: 0 above high, 1 below low, 2 below high, 3 above low. */
		if (side < 2)
			ck_assert_double_le(p, 1 - shift.level + NEAR);
		else
			ck_assert_double_gt(p, 1 - shift.level + NEAR);
	}
}
END_TEST

START_TEST(refused)
{
	double some[RANK_MAX_N + 1] = {0}, bad[] = {1, NAN}, infinite[] = {INFINITY};
	struct shift shift = {.shift = 7};

	ck_assert_int_eq(shift_estimate(some, 0, some, 2, .95, &shift), -ENODATA);
	ck_assert_int_eq(shift_estimate(some, 2, some, 0, .95, &shift), -ENODATA);
	ck_assert_int_eq(shift_estimate(some, RANK_MAX_N + 1, some, 2, .95, &shift), -EINVAL);
	ck_assert_int_eq(shift_estimate(some, 2, bad, 2, .95, &shift), -EINVAL);
	ck_assert_int_eq(shift_estimate(infinite, 1, some, 2, .95, &shift), -EINVAL);
	ck_assert_int_eq(shift_estimate(some, 2, some, 2, 0, &shift), -EINVAL);
	ck_assert_int_eq(shift_estimate(some, 2, some, 2, 1, &shift), -EINVAL);
	ck_assert_int_eq(shift_estimate(some, 2, some, 2, NAN, &shift), -EINVAL);
	ck_assert_double_eq(shift.shift, 7);
	ck_assert_int_eq(shift_estimate(some, RANK_MAX_N, some, RANK_MAX_N, .95, &shift), 0);
	ck_assert_double_ge(shift.level, .95);
	ck_assert_double_lt(shift.level, .951);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("shift");
	TCase *tcase = tcase_create("shift");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, reference_of_shift, 0, ARRAY_SIZE(cases));
	tcase_add_test(tcase, interval_inverts_the_test);
	tcase_add_test(tcase, refused);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
