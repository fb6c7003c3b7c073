// SPDX-License-Identifier: GPL-2.0-only
/* Variance components against SciPy 1.10's f_oneway() and f.sf(), and by hand. */
#include <check.h>
#include <errno.h>
#include <math.h>

#include "base/util.h"
#include "stats/variance.h"

#define NEAR 1e-9

static const struct {
	double values[10];
	size_t boot_of[10];
	size_t n, n_boots;
	struct variance expected;
} cases[] = {
	/* f_oneway([10, 11, 12], [14, 15, 13], [10.5, 9.5, 10]); mean squares 13 and .75. */
	{{10, 11, 12, 14, 15, 13, 10.5, 9.5, 10},
	 {0, 0, 0, 1, 1, 1, 2, 2, 2},
	 9,
	 3,
	 {3, 9, .75, 13, 12.25 / 3, 12.25 / 3 / (12.25 / 3 + .75), 17.333333333333346,
	  0.0032117225670871075}},
	/* f_oneway([10, 11, 12, 9], [14, 15], [10.5, 9.5, 10], [13]), in another order, with a boot
	 * of no runs: n0 = (10 - 30 / 10) / 3. */
	{{14, 10, 13, 11, 10.5, 12, 9.5, 9, 10, 15},
	 {1, 0, 4, 0, 2, 0, 2, 0, 2, 1},
	 10,
	 5,
	 {4, 10, 1, 10.3, 9.3 / (7 / 3.0), 9.3 / (7 / 3.0) / (9.3 / (7 / 3.0) + 1),
	  10.300000000000011, 0.008810756768746555}},
	/* f_oneway([1, 2, 4], [2, 3, 1], [2, 2.5, 3.5]): boots add nothing, and never less. */
	{{1, 2, 4, 2, 3, 1, 2, 2.5, 3.5},
	 {0, 0, 0, 1, 1, 1, 2, 2, 2},
	 9,
	 3,
	 {3, 9, 7.833333333333333 / 6, 0.3333333333333333, 0, 0, 0.25531914893617025,
	  0.7826778539174225}},
	/* Runs that repeat exactly: no F, and all variance is the boots'. */
	{{1, 1, 2, 2}, {0, 0, 1, 1}, 4, 2, {2, 4, 0, 1, .5, 1, NAN, NAN}},
	{{3, 3, 3, 3}, {0, 0, 1, 1}, 4, 2, {2, 4, 0, 0, 0, NAN, NAN, NAN}},
};

static void same(double a, double b)
{
	if (isnan(b))
		ck_assert_double_nan(a);
	else
		ck_assert_double_eq_tol(a, b, NEAR);
}

START_TEST(reference)
{
	const struct variance *expected = &cases[_i].expected;
	struct variance var;

	ck_assert_int_eq(variance_one_way(cases[_i].values, cases[_i].boot_of, cases[_i].n,
					  cases[_i].n_boots, &var),
			 0);
	ck_assert_uint_eq(var.boots, expected->boots);
	ck_assert_uint_eq(var.runs, expected->runs);
	same(var.within, expected->within);
	same(var.between, expected->between);
	same(var.boot_variance, expected->boot_variance);
	same(var.icc, expected->icc);
	same(var.f, expected->f);
	same(var.p, expected->p);
}
END_TEST

/*
 * f.sf(f, df1, df2) over the whole range, by values that have that F: in each boot m ± 1, so that
 * the mean square inside is runs / (runs - 1).
 */
static const struct {
	size_t boots, runs;
	double f, p;
} tails[] = {
	{2, 2, 55, 0.017700513742496975},    {4, 2, 0.2, 0.8914479169718112},
	{4, 2, 3.7, 0.11930697813012754},    {6, 4, 1, 0.44569124479910643},
	{10, 20, 1.02, 0.42546722075291266}, {10, 20, 9, 2.7764158961375266e-11},
	{100, 20, 1.02, 0.4285985316746864}, {100, 20, 0.8, 0.9244751341139973},
	{100, 20, 2, 4.859847962059035e-08},
};

START_TEST(tail_of_f)
{
	size_t boots = tails[_i].boots, runs = tails[_i].runs, n = boots * runs, boot_of[2000];
	double values[2000], within = (double)runs / (double)(runs - 1), spread;
	struct variance var;

	/* Half of the boots lie @spread above the mean, and half below. */
	spread = sqrt(tails[_i].f * within * (double)(boots - 1) / (double)n);
	for (size_t i = 0; i < n; i++) {
		boot_of[i] = i / runs;
		values[i] = (i % 2 ? 1 : -1) + (boot_of[i] % 2 ? spread : -spread);
	}
	ck_assert_int_eq(variance_one_way(values, boot_of, n, boots, &var), 0);
	ck_assert_double_eq_tol(var.f / tails[_i].f, 1, NEAR);
	ck_assert_double_eq_tol(var.p / tails[_i].p, 1, NEAR);
}
END_TEST

START_TEST(refused)
{
	double values[] = {1, 2, 3, 4}, bad[] = {1, 2, 3, NAN};
	size_t boot_of[] = {0, 0, 1, 1}, one[] = {0, 0, 0, 0}, single[] = {0, 1, 2, 3};
	struct variance var = {.boots = 7};

	ck_assert_int_eq(variance_one_way(values, one, 4, 1, &var), -ENODATA);
	ck_assert_int_eq(variance_one_way(values, single, 4, 4, &var), -ENODATA);
	ck_assert_int_eq(variance_one_way(values, boot_of, 0, 2, &var), -ENODATA);
	ck_assert_int_eq(variance_one_way(values, boot_of, 4, 1, &var), -EINVAL);
	ck_assert_int_eq(variance_one_way(bad, boot_of, 4, 2, &var), -EINVAL);
	ck_assert_uint_eq(var.boots, 7);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("variance");
	TCase *tcase = tcase_create("variance");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, reference, 0, ARRAY_SIZE(cases));
	tcase_add_loop_test(tcase, tail_of_f, 0, ARRAY_SIZE(tails));
	tcase_add_test(tcase, refused);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
