// SPDX-License-Identifier: GPL-2.0-only
/* Order statistics against figures worked out by hand or by a statistics package. */
#include <check.h>
#include <errno.h>

#include "base/util.h"
#include "stats/percentile.h"

START_TEST(ranks_are_exact)
{
	ck_assert_uint_eq(nearest_rank(0, 999), 0);
	ck_assert_uint_eq(nearest_rank(1, 999), 1);
	ck_assert_uint_eq(nearest_rank(999, 999), 999);
	/* In doubles ceil(1000 * 0.999) is 1000. */
	for (size_t thousands = 1; thousands <= 5000; thousands++)
		ck_assert_uint_eq(nearest_rank(thousands * 1000, 999), thousands * 999);
	ck_assert_uint_eq(nearest_rank(1001, 999), 1000);
	ck_assert_uint_eq(nearest_rank(4, 500), 2);
	ck_assert_uint_eq(nearest_rank(5, 500), 3);
	ck_assert_uint_eq(nearest_rank(101, 990), 100);
	ck_assert_uint_eq(nearest_rank(7, 1000), 7);
}
END_TEST

START_TEST(percentiles_are_values)
{
	int64_t values[2000], value = -1;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		values[i] = (int64_t)((i * 1237) % ARRAY_SIZE(values)) * 10 - 5000;
	sort_i64(values, ARRAY_SIZE(values));
	for (size_t i = 0; i < ARRAY_SIZE(values); i++)
		ck_assert_int_eq(values[i], (int64_t)i * 10 - 5000);
	ck_assert_int_eq(percentile_i64(values, 2000, 999, &value), 0);
	ck_assert_int_eq(value, 1997 * 10 - 5000);
	ck_assert_int_eq(percentile_i64(values, 2000, 1, &value), 0);
	ck_assert_int_eq(value, 10 - 5000);
	ck_assert_int_eq(percentile_i64(values, 2000, 1000, &value), 0);
	ck_assert_int_eq(value, 1999 * 10 - 5000);
	value = 7;
	ck_assert_int_eq(percentile_i64(values, 0, 999, &value), -ENODATA);
	ck_assert_int_eq(percentile_i64(values, 2000, 0, &value), -EINVAL);
	ck_assert_int_eq(percentile_i64(values, 2000, 1001, &value), -EINVAL);
	ck_assert_int_eq(value, 7);
}
END_TEST

START_TEST(medians)
{
	int64_t odd[] = {1, 2, 9}, even[] = {1, 2, 5, 9}, huge[] = {INT64_MAX - 1, INT64_MAX};
	double floats[] = {9, 1, 4, 2}, median = -1;

	ck_assert_int_eq(median_i64(odd, 3, &median), 0);
	ck_assert_double_eq(median, 2);
	ck_assert_int_eq(median_i64(even, 4, &median), 0);
	ck_assert_double_eq(median, 3.5);
	ck_assert_int_eq(median_i64(huge, 2, &median), 0);
	ck_assert_double_eq(median, 9223372036854775807.0);
	ck_assert_int_eq(median_f64(floats, 4, &median), 0);
	ck_assert_double_eq(median, 3);
	ck_assert_int_eq(median_i64(odd, 0, &median), -ENODATA);
	ck_assert_int_eq(median_f64(floats, 0, &median), -ENODATA);
	ck_assert_double_eq(median, 3);
}
END_TEST

/* Quantiles of binomial(n, 0.001) at 2.5 %: how far from the top the interval's ends are, 0: none.
 */
static const struct {
	size_t n, low, high;
} intervals[] = {
	{1000, 4, 0},	 {2000, 6, 0},	  {3687, 9, 0},	   {3688, 9, 1},      {10000, 18, 4},
	{20000, 30, 12}, {41000, 55, 29}, {50000, 65, 37}, {100000, 121, 81}, {1000000, 1063, 939},
};

START_TEST(interval_of_p999)
{
	size_t low = 1, high = 2;

	ck_assert_int_eq(p999_interval(0, &low, &high), -ENODATA);
	ck_assert_int_eq(p999_interval(999, &low, &high), -ENODATA);
	ck_assert_uint_eq(low, 1);
	ck_assert_uint_eq(high, 2);
	for (size_t i = 0; i < ARRAY_SIZE(intervals); i++) {
		size_t n = intervals[i].n;

		ck_assert_int_eq(p999_interval(n, &low, &high), 0);
		ck_assert_uint_eq(n - low + 1, intervals[i].low);
		ck_assert_uint_eq(high ? n - high + 1 : 0, intervals[i].high);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("percentile");
	TCase *tcase = tcase_create("percentile");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, ranks_are_exact);
	tcase_add_test(tcase, percentiles_are_values);
	tcase_add_test(tcase, medians);
	tcase_add_test(tcase, interval_of_p999);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
