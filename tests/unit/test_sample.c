// SPDX-License-Identifier: GPL-2.0-only
/* A run's p99.9 and its interval, by how many values there are; test_events.c has the other
 * figures. */
#include <check.h>
#include <string.h>

#include "base/util.h"
#include "plan/sample.h"

/*
 * By n: how far from the largest value the p99.9 and its interval's ends are. 1 is the largest, 0
 * none. In doubles the p99.9 of 1000, 2000 and 41 000 is one too high.
 */
static const struct {
	unsigned int n, p999, low, high;
} tails[] = {
	{999, 0, 0, 0},	 {1000, 2, 4, 0},    {2000, 3, 6, 0},	  {3687, 4, 9, 0},
	{3688, 4, 9, 1}, {10000, 11, 18, 4}, {41000, 42, 55, 29},
};

static void check_end(double value, unsigned int n, unsigned int from_top)
{
	if (from_top)
		ck_assert_double_eq(value, 10.0 * (n + 1 - from_top));
	else
		ck_assert_double_nan(value);
}

START_TEST(intervals_of_p999)
{
	unsigned int n = tails[_i].n;
	struct spec_metric metric = {
		.source = METRIC_WORKLOAD, .agg = AGG_P999, .workload_key = "a"};
	json_t *array = json_array(), *workload = json_pack("{s:o}", "a", array);
	struct sample_value value;

	for (unsigned int i = n; i > 0; i--)
		json_array_append_new(array, json_integer(10 * i));
	ck_assert_int_eq(sample_compute(NULL, 1, &metric, workload, 0, true, &value), 0);
	ck_assert_uint_eq(value.n_events, n);
	ck_assert_int_eq(value.valid, tails[_i].p999 != 0);
	if (value.valid)
		check_end(value.value, n, tails[_i].p999);
	check_end(value.low, n, tails[_i].low);
	check_end(value.high, n, tails[_i].high);
	ck_assert_msg((strstr(value.note, "no upper bound") != NULL) ==
			      (tails[_i].p999 && !tails[_i].high),
		      "%s", value.note);
	json_decref(workload);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sample");
	TCase *tcase = tcase_create("sample");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, intervals_of_p999, 0, ARRAY_SIZE(tails));
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
