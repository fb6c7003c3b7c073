// SPDX-License-Identifier: GPL-2.0-only
/* Holm's correction against R's p.adjust(p, "holm"), worked out by hand. */
#include <check.h>
#include <errno.h>
#include <math.h>

#include "base/util.h"
#include "stats/holm.h"

static const struct {
	double p[5];
	size_t n;
	double adjusted[5];
} cases[] = {
	/* Neither the raw p's, nor Bonferroni's (.05, .2, .15, .1), nor in the order of size. */
	{{.01, .04, .03, .02}, 4, {.04, .06, .06, .06}},
	/* The running maximum: 2 * .011 would be below 3 * .01. */
	{{.011, .01, .5}, 3, {.03, .03, .5}},
	{{.0079, .0079, .0079}, 3, {.0237, .0237, .0237}},
	{{.9, .8}, 2, {1, 1}},
	{{.03}, 1, {.03}},
	{{0, 1, 1}, 3, {0, 1, 1}},
	/* Of 5 comparisons 4 without data: the family keeps its size. */
	{{1, .0079, 1, 1, 1}, 5, {1, .0395, 1, 1, 1}},
	{{0}, 0, {0}},
};

START_TEST(corrected)
{
	double adjusted[5] = {0};

	ck_assert_int_eq(holm_adjust(cases[_i].p, cases[_i].n, adjusted), 0);
	for (size_t i = 0; i < cases[_i].n; i++)
		ck_assert_double_eq_tol(adjusted[i], cases[_i].adjusted[i], 1e-12);
}
END_TEST

START_TEST(refused)
{
	static const double bad[][2] = {{.1, NAN}, {-.1, .1}, {.1, 1.1}};
	double adjusted[2] = {7, 7};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_int_eq(holm_adjust(bad[i], 2, adjusted), -EINVAL);
	ck_assert_double_eq(adjusted[0], 7);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("holm");
	TCase *tcase = tcase_create("holm");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, corrected, 0, ARRAY_SIZE(cases));
	tcase_add_test(tcase, refused);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
