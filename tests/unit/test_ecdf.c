// SPDX-License-Identifier: GPL-2.0-only
/* Thinning keeps what people look for in a distribution: its ends, its percentiles, its tail. */
#include <check.h>
#include <stdlib.h>

#include "base/util.h"
#include "stats/ecdf.h"
#include "stats/percentile.h"

/* Values i * i, so that a value tells its rank. */
static int64_t *squares(size_t n)
{
	int64_t *values = malloc((n + 1) * sizeof(*values));

	for (size_t i = 0; i < n; i++)
		values[i] = (int64_t)((i + 1) * (i + 1));
	return values;
}

static bool has_rank(const struct ecdf_point *points, size_t count, size_t rank)
{
	for (size_t i = 0; i < count; i++)
		if (points[i].rank == rank)
			return true;
	return false;
}

/* At and around where the thinning starts, and where doubles would be off by one. */
static const size_t sizes[] = {1,    2,	   255,	  256,	 257,	 300,	  999,	    1000,
			       1001, 2000, 10000, 41000, 100001, 1000000, 12345678, 50000000};

START_TEST(every_size_keeps_what_matters)
{
	size_t n = sizes[_i], count, least = 0;
	static const unsigned int per_mille[] = {500, 900, 990, 999, 1000};
	struct ecdf_point points[ECDF_MAX_POINTS + 1];
	int64_t *values = squares(n);

	points[ECDF_MAX_POINTS] = (struct ecdf_point){-7, 7};
	count = ecdf_thin(values, n, points);
	ck_assert_uint_le(count, ECDF_MAX_POINTS);
	ck_assert_int_eq(points[ECDF_MAX_POINTS].value, -7);
	if (n <= ECDF_MAX_POINTS)
		ck_assert_uint_eq(count, n);
	else
		ck_assert_uint_ge(count, ECDF_MAX_POINTS / 2);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_gt(points[i].rank, least);
		ck_assert_uint_le(points[i].rank, n);
		least = points[i].rank;
		ck_assert_int_eq(points[i].value, values[least - 1]);
	}
	ck_assert_uint_eq(points[0].rank, 1);
	for (size_t i = 0; i < ARRAY_SIZE(per_mille); i++)
		ck_assert_uint_eq(has_rank(points, count, nearest_rank(n, per_mille[i])), true);
	/* The tail: none of the largest is left out. */
	for (size_t below = 0; below < 10 && below < n; below++)
		ck_assert_msg(has_rank(points, count, n - below), "rank %zu of %zu is lost",
			      n - below, n);
	free(values);
}
END_TEST

/* From the top the gaps grow by less than a fifth of the distance, down to the body's even steps.
 */
START_TEST(the_tail_is_dense)
{
	struct ecdf_point points[ECDF_MAX_POINTS];
	size_t n = 1000000, count;
	int64_t *values = squares(n);

	count = ecdf_thin(values, n, points);
	for (size_t i = count - 1; i > 0; i--) {
		size_t gap = points[i].rank - points[i - 1].rank, from_top = n - points[i].rank;

		ck_assert_uint_le(gap, 1 + from_top / 5);
		ck_assert_uint_le(gap, 1 + n / 120);
	}
	free(values);
}
END_TEST

START_TEST(equal_values_are_one_step)
{
	static const int64_t few[] = {3, 3, 3, 5, 5, 9};
	struct ecdf_point points[ECDF_MAX_POINTS];
	size_t n = 10000, count;
	int64_t *values = calloc(n, sizeof(*values));

	ck_assert_uint_eq(ecdf_thin(few, 6, points), 3);
	ck_assert_int_eq(points[0].value, 3);
	ck_assert_uint_eq(points[0].rank, 3);
	ck_assert_int_eq(points[1].value, 5);
	ck_assert_uint_eq(points[1].rank, 5);
	ck_assert_int_eq(points[2].value, 9);
	ck_assert_uint_eq(points[2].rank, 6);
	/* All equal but the largest: two steps, the lonely one among them. */
	values[n - 1] = 1;
	count = ecdf_thin(values, n, points);
	ck_assert_uint_eq(count, 2);
	ck_assert_uint_eq(points[0].rank, n - 1);
	ck_assert_uint_eq(points[1].rank, n);
	ck_assert_int_eq(points[1].value, 1);
	ck_assert_uint_eq(ecdf_thin(values, 0, points), 0);
	free(values);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ecdf");
	TCase *tcase = tcase_create("ecdf");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, every_size_keeps_what_matters, 0, ARRAY_SIZE(sizes));
	tcase_add_test(tcase, the_tail_is_dense);
	tcase_add_test(tcase, equal_values_are_one_step);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
