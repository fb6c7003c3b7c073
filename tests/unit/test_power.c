// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a design finds, against 400 000 draws of numpy's (seed 1) at 5 v 5 and alpha .032: the share
 * with U >= 23 for shifts of 1, 2 and 3 standard deviations.
 */
#include <check.h>
#include <errno.h>
#include <math.h>

#include "base/util.h"
#include "stats/power.h"
#include "stats/rank.h"

static const struct {
	double shift, power;
} table[] = {{0, 4 / 252.0}, {1, 0.2063725}, {2, 0.6764825}, {3, 0.952215}, {100, 1}};

START_TEST(power_of_five_boots)
{
	double power = -1, again = -2;

	ck_assert_int_eq(power_rank(5, .032, table[_i].shift, &power), 0);
	ck_assert_double_eq_tol(power, table[_i].power, .006);
	ck_assert_int_eq(power_rank(5, .032, table[_i].shift, &again), 0);
	ck_assert_double_eq(power, again);
}
END_TEST

START_TEST(detectable_is_found_as_often_as_said)
{
	static const size_t n[] = {4, 5, 6, 10, 20, 100};
	double before = INFINITY, sd, power;

	for (size_t i = 0; i < ARRAY_SIZE(n); i++) {
		ck_assert_int_eq(power_detectable_sd(n[i], .05, &sd), 0);
		ck_assert_int_eq(power_rank(n[i], .05, sd * 1.0001, &power), 0);
		ck_assert_double_ge(power, POWER_WANTED);
		ck_assert_int_eq(power_rank(n[i], .05, sd * 0.99, &power), 0);
		ck_assert_double_lt(power, POWER_WANTED);
		/* More boots find less. */
		ck_assert_double_lt(sd, before);
		before = sd;
	}
}
END_TEST

/* A family's share of alpha needs a larger effect; the smallest p of 5 v 5 is 2 / 252. */
START_TEST(alpha_matters)
{
	double whole, third, power = 7;

	ck_assert_int_eq(power_detectable_sd(5, .05, &whole), 0);
	ck_assert_int_eq(power_detectable_sd(5, .05 / 3, &third), 0);
	ck_assert_double_gt(third, whole);
	ck_assert_int_eq(power_detectable_sd(5, 2 / 252.0, &third), 0);
	ck_assert_int_eq(power_detectable_sd(5, 1.99 / 252, &third), -ERANGE);
	ck_assert_int_eq(power_detectable_sd(3, .05, &third), -ERANGE);
	ck_assert_int_eq(power_rank(3, .05, 100, &power), 0);
	ck_assert_double_eq(power, 0);
}
END_TEST

/*
 * Five pairs can never be within .05. Six are when all are positive: .5^(1/6) of normal values are
 * above -z, so the shift found half the time would be 1.23; for .8 it is that of .8^(1/6) = .9635,
 * 1.793.
 */
START_TEST(paired)
{
	double sd = 7;

	ck_assert_int_eq(power_detectable_paired_sd(5, .05, &sd), -ERANGE);
	ck_assert_double_eq(sd, 7);
	ck_assert_int_eq(power_detectable_paired_sd(6, .05, &sd), 0);
	ck_assert_double_eq_tol(sd, 1.793, .02);
}
END_TEST

START_TEST(refused)
{
	double value = 7;

	ck_assert_int_eq(power_rank(0, .05, 1, &value), -EINVAL);
	ck_assert_int_eq(power_rank(RANK_MAX_N + 1, .05, 1, &value), -EINVAL);
	ck_assert_int_eq(power_rank(5, 0, 1, &value), -EINVAL);
	ck_assert_int_eq(power_rank(5, 1, 1, &value), -EINVAL);
	ck_assert_int_eq(power_rank(5, NAN, 1, &value), -EINVAL);
	ck_assert_int_eq(power_rank(5, .05, -1, &value), -EINVAL);
	ck_assert_int_eq(power_detectable_sd(0, .05, &value), -EINVAL);
	ck_assert_int_eq(power_detectable_paired_sd(0, .05, &value), -EINVAL);
	ck_assert_double_eq(value, 7);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("power");
	TCase *tcase = tcase_create("power");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, power_of_five_boots, 0, ARRAY_SIZE(table));
	tcase_add_test(tcase, detectable_is_found_as_often_as_said);
	tcase_add_test(tcase, alpha_matters);
	tcase_add_test(tcase, paired);
	tcase_add_test(tcase, refused);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
