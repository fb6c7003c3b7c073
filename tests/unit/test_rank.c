// SPDX-License-Identifier: GPL-2.0-only
/*
 * The exact rank tests against SciPy 1.10's figures and against full enumeration: of the 252 splits
 * of 5 v 5 values and of the 32 sign flips of 5 differences.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/util.h"
#include "stats/rank.h"

#define NEAR 1e-9

/*
 * p of mannwhitneyu(base, arm, method="exact"); with ties that of permutation_test() over rankdata
 * with the statistic |W - E(W)|, alternative="greater" and n_resamples=inf.
 */
static const struct {
	double base[8];
	size_t n_base;
	double arm[8];
	size_t n_arm;
	double p;
} cases[] = {
	/* U = 5: one tail alone is .0754. */
	{{10, 30, 20, 50, 40}, 5, {5, 7, 6, 100, 8}, 5, 0.15079365079365079},
	{{5, 7, 6, 100, 8}, 5, {10, 30, 20, 50, 40}, 5, 0.15079365079365079},
	{{12.1, 11.9, 12.4, 12.2, 12.0}, 5, {3.1, 2.9, 3.3, 3.0, 3.2}, 5, 0.007936507936507936},
	{{1.5, 2.5, 3.5, 4.5, 9.5, 7.5, 0.5}, 7, {1, 2, 3, 10}, 4, 0.9272727272727272},
	/* Ties. */
	{{1, 1, 2, 2, 3}, 5, {2, 3, 3, 4, 4}, 5, 0.07936507936507936},
	{{1, 1, 1, 2}, 4, {1, 3, 3, 3, 3, 3, 2}, 7, 0.04242424242424243},
	{{0, 0, 0, 0, 1}, 5, {0, 0, 0, 0, 0}, 5, 1},
	{{3, 3, 3}, 3, {3, 3}, 2, 1},
	{{-1e300}, 1, {1e300}, 1, 1},
};

START_TEST(reference_of_rank_test)
{
	double p = -1;

	ck_assert_int_eq(
		rank_test(cases[_i].base, cases[_i].n_base, cases[_i].arm, cases[_i].n_arm, &p), 0);
	ck_assert_double_eq_tol(p, cases[_i].p, NEAR);
}
END_TEST

/* mannwhitneyu(method="exact") of base = i * 37 % mod_base and arm = i * 53 % mod_arm + offset. */
static const struct {
	size_t n_base, n_arm, mod_base, mod_arm;
	double offset, p;
} large[] = {
	{40, 40, 100, 100, 12.5, 0.17427317456915617},
	{100, 100, 101, 103, 10.5, 0.010877397847213937},
	{100, 60, 101, 103, 30.5, 1.5432446385990074e-07},
};

START_TEST(reference_of_large_samples)
{
	double base[RANK_MAX_N], arm[RANK_MAX_N], p = -1, swapped = -2;
	size_t n_base = large[_i].n_base, n_arm = large[_i].n_arm;

	for (size_t i = 0; i < n_base; i++)
		base[i] = (double)(i * 37 % large[_i].mod_base);
	for (size_t i = 0; i < n_arm; i++)
		arm[i] = (double)(i * 53 % large[_i].mod_arm) + large[_i].offset;
	ck_assert_int_eq(rank_test(base, n_base, arm, n_arm, &p), 0);
	ck_assert_double_eq_tol(p / large[_i].p, 1, NEAR);
	ck_assert_int_eq(rank_test(arm, n_arm, base, n_base, &swapped), 0);
	ck_assert_double_eq_tol(swapped, p, NEAR * p);
}
END_TEST

/* Twice the sum of the midranks of the values in @mask, counted pair by pair. */
static int doubled_rank_sum(const double values[10], unsigned int mask)
{
	int sum = 0;

	for (int i = 0; i < 10; i++) {
		if (!(mask & 1u << i))
			continue;
		sum += 1;
		for (int j = 0; j < 10; j++)
			sum += 2 * (values[j] < values[i]) + (values[j] == values[i]);
	}
	return sum;
}

static void split(const double values[10], unsigned int mask, double base[5], double arm[5])
{
	size_t n_base = 0, n_arm = 0;

	for (int i = 0; i < 10; i++) {
		if (mask & 1u << i)
			base[n_base++] = values[i];
		else
			arm[n_arm++] = values[i];
	}
}

static const double pools[][10] = {
	{4, 1, 9, 7, 3, 10, 2, 8, 6, 5},
	{1, 1, 1, 2, 2, 3, 4, 4, 4, 4},
	{0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
	{-1.5, 2, 2, 2, 2, 2, 2, 7, 8, 9},
};

/*
 * Each split has the p that counting says; and the test is honest: for every alpha, at most alpha's
 * share of the splits has p <= alpha, and where p is reached exactly that share does.
 */
START_TEST(all_splits)
{
	const double *pool = pools[_i];
	unsigned int n = 0;
	int distance[252];
	double p[252];

	for (unsigned int mask = 0; mask < 1u << 10; mask++) {
		double base[5], arm[5];

		if (__builtin_popcount(mask) != 5)
			continue;
		split(pool, mask, base, arm);
		distance[n] = abs(doubled_rank_sum(pool, mask) - 5 * 11);
		ck_assert_int_eq(rank_test(base, 5, arm, 5, &p[n]), 0);
		n++;
	}
	ck_assert_uint_eq(n, 252);
	for (unsigned int i = 0; i < n; i++) {
		unsigned int as_far = 0, alarms = 0;

		for (unsigned int j = 0; j < n; j++) {
			as_far += distance[j] >= distance[i];
			alarms += p[j] <= p[i] + NEAR;
		}
		ck_assert_double_eq_tol(p[i], as_far / 252.0, NEAR);
		ck_assert_double_eq_tol(alarms / 252.0, p[i], NEAR);
	}
	for (int percent = 0; percent <= 100; percent++) {
		unsigned int alarms = 0;

		for (unsigned int i = 0; i < n; i++)
			alarms += p[i] <= percent / 100.0;
		ck_assert_uint_le(alarms * 100, (unsigned int)percent * 252);
	}
	/* Without ties 8 splits are alarms at .05; by one tail's p they would be 24. */
	if (!_i) {
		unsigned int alarms = 0;

		for (unsigned int i = 0; i < n; i++)
			alarms += p[i] <= .05;
		ck_assert_uint_eq(alarms, 8);
	}
}
END_TEST

START_TEST(floors_of_rank_test)
{
	ck_assert_double_eq_tol(rank_test_floor(5, 5), 2 / 252.0, NEAR);
	ck_assert_double_eq_tol(rank_test_floor(3, 3), 0.1, NEAR);
	ck_assert_double_eq_tol(rank_test_floor(4, 7), 2 / 330.0, NEAR);
	ck_assert_double_eq_tol(rank_test_floor(7, 4), 2 / 330.0, NEAR);
	ck_assert_double_eq(rank_test_floor(1, 1), 1);
	ck_assert_double_eq(rank_test_floor(1, 0), 1);
	ck_assert_double_eq(rank_test_floor(0, 0), 1);
	ck_assert_double_gt(rank_test_floor(100, 100), 0);
}
END_TEST

START_TEST(refused_by_rank_test)
{
	double many[RANK_MAX_N + 1] = {0}, bad[] = {1, NAN}, worse[] = {INFINITY}, p = 7;

	ck_assert_int_eq(rank_test(many, 0, many, 3, &p), -ENODATA);
	ck_assert_int_eq(rank_test(many, 3, many, 0, &p), -ENODATA);
	ck_assert_int_eq(rank_test(many, RANK_MAX_N + 1, many, 3, &p), -EINVAL);
	ck_assert_int_eq(rank_test(many, 3, many, RANK_MAX_N + 1, &p), -EINVAL);
	ck_assert_int_eq(rank_test(bad, 2, many, 3, &p), -EINVAL);
	ck_assert_int_eq(rank_test(many, 3, worse, 1, &p), -EINVAL);
	ck_assert_double_eq(p, 7);
}
END_TEST

/* Counts of U at 5 v 5: 1, 1, 2, 3, 5, 7 … of 252 (tables of Mann and Whitney 1947). */
START_TEST(distribution_of_u)
{
	static const int counts[] = {1, 1, 2, 3, 5, 7, 9, 11, 14, 16, 18, 19, 20};
	double cdf[26], uneven[3];
	int sum = 0;

	ck_assert_int_eq(rank_distribution(5, 5, cdf), 0);
	for (size_t u = 0; u < ARRAY_SIZE(counts); u++) {
		sum += counts[u];
		ck_assert_double_eq_tol(cdf[u], sum / 252.0, NEAR);
	}
	ck_assert_double_eq(cdf[25], 1);
	ck_assert_int_eq(rank_distribution(2, 1, uneven), 0);
	ck_assert_double_eq_tol(uneven[0], 1 / 3.0, NEAR);
	ck_assert_double_eq_tol(uneven[1], 2 / 3.0, NEAR);
	ck_assert_int_eq(rank_distribution(0, 5, cdf), -EINVAL);
	ck_assert_int_eq(rank_distribution(5, RANK_MAX_N + 1, cdf), -EINVAL);
}
END_TEST

/*
 * wilcoxon(d, mode="exact"); with ties and zeros permutation_test(permutation_type="samples",
 * n_resamples=inf) of |sum| over rankdata(|d|) * sign(d).
 */
static const struct {
	double d[12];
	size_t n;
	double p;
} signed_cases[] = {
	/* A sign test would give .375. */
	{{-0.5, -0.7, -0.3, 1.1, -0.2}, 5, 0.625},
	{{-1, -2, -3, -4, -5}, 5, 0.0625},
	{{1, 2, 3, 4, 5, 6}, 6, 0.03125},
	{{-1, 2, -3, 4, -5, 6, -7, 8, -9, 10, 11, 12}, 12, 0.30126953125},
	{{1, 1, -1, 2, 2}, 5, 0.25},
	{{1, 1, 1, 1, 1}, 5, 0.0625},
	{{-2, 0, 3, 3, -3, 5, 5, 5}, 8, 0.125},
	/* Zeros are ranked, too: without them the first two had .625 and .875. */
	{{0, 0, 0, -1, -2, 3, 4}, 7, 0.75},
	{{0, 0, 0, 1, 2, 3, -4}, 7, 0.625},
	{{0, 1, 2, 3, 4}, 5, 0.125},
	{{0, 0, -1, 2, 3, 4}, 6, 0.25},
	{{0, 0, 0, 0, 1}, 5, 1},
	{{0, 0}, 2, 1},
};

START_TEST(reference_of_signed_rank_test)
{
	double p = -1;

	ck_assert_int_eq(signed_rank_test(signed_cases[_i].d, signed_cases[_i].n, &p), 0);
	ck_assert_double_eq_tol(p, signed_cases[_i].p, NEAR);
}
END_TEST

/* d = (-1)^(i % 3) * (i + 1): wilcoxon(mode="exact"). */
START_TEST(reference_of_many_differences)
{
	double d[25], p = -1;

	for (size_t i = 0; i < 25; i++)
		d[i] = (i % 3 == 1 ? -1.0 : 1.0) * (double)(i + 1);
	ck_assert_int_eq(signed_rank_test(d, 25, &p), 0);
	ck_assert_double_eq_tol(p, 0.09573346376419067, NEAR);
}
END_TEST

static const double sizes[][5] = {
	{1, 2, 3, 4, 5}, {1, 1, 1, 1, 1}, {3, 1, 1, 4, 4}, {0, 1, 2, 2, 3}, {0, 0, 1, 1, 5},
};

START_TEST(all_sign_flips)
{
	int distance[32];
	double p[32];

	for (unsigned int mask = 0; mask < 32; mask++) {
		int sum = 0;
		double d[5];

		for (int i = 0; i < 5; i++) {
			int rank = 1;

			d[i] = mask & 1u << i ? -sizes[_i][i] : sizes[_i][i];
			for (int j = 0; j < 5; j++)
				rank += 2 * (sizes[_i][j] < sizes[_i][i]) +
					(sizes[_i][j] == sizes[_i][i]);
			sum += d[i] > 0 ? rank : d[i] < 0 ? -rank : 0;
		}
		distance[mask] = abs(sum);
		ck_assert_int_eq(signed_rank_test(d, 5, &p[mask]), 0);
	}
	for (int i = 0; i < 32; i++) {
		int as_far = 0, alarms = 0;

		for (int j = 0; j < 32; j++) {
			as_far += distance[j] >= distance[i];
			alarms += p[j] <= p[i] + NEAR;
		}
		ck_assert_double_eq_tol(p[i], as_far / 32.0, NEAR);
		ck_assert_double_eq_tol(alarms / 32.0, p[i], NEAR);
		ck_assert_double_ge(p[i], signed_rank_floor(5));
	}
}
END_TEST

START_TEST(distribution_of_t)
{
	/* n = 3: sums 0, 1, 2, 3, 3, 4, 5, 6 of eight. */
	static const double cdf_3[] = {1, 2, 3, 5, 6, 7, 8};
	double cdf[7], many[RANK_MAX_N + 1] = {0}, bad[] = {1, NAN}, p = 7;

	ck_assert_int_eq(signed_rank_distribution(3, cdf), 0);
	for (size_t t = 0; t < ARRAY_SIZE(cdf); t++)
		ck_assert_double_eq_tol(cdf[t], cdf_3[t] / 8, NEAR);
	ck_assert_int_eq(signed_rank_distribution(0, cdf), -EINVAL);
	ck_assert_int_eq(signed_rank_test(many, 0, &p), -ENODATA);
	ck_assert_int_eq(signed_rank_test(many, RANK_MAX_N + 1, &p), -EINVAL);
	ck_assert_int_eq(signed_rank_test(bad, 2, &p), -EINVAL);
	ck_assert_double_eq(p, 7);
	ck_assert_int_eq(signed_rank_test(many, RANK_MAX_N, &p), 0);
	ck_assert_double_eq(p, 1);
	ck_assert_double_eq(signed_rank_floor(5), 0.0625);
	ck_assert_double_eq(signed_rank_floor(6), 0.03125);
	ck_assert_double_eq(signed_rank_floor(1), 1);
	ck_assert_double_eq(signed_rank_floor(0), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("rank");
	TCase *tcase = tcase_create("rank");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, reference_of_rank_test, 0, ARRAY_SIZE(cases));
	tcase_add_loop_test(tcase, reference_of_large_samples, 0, ARRAY_SIZE(large));
	tcase_add_loop_test(tcase, all_splits, 0, ARRAY_SIZE(pools));
	tcase_add_test(tcase, floors_of_rank_test);
	tcase_add_test(tcase, refused_by_rank_test);
	tcase_add_test(tcase, distribution_of_u);
	tcase_add_loop_test(tcase, reference_of_signed_rank_test, 0, ARRAY_SIZE(signed_cases));
	tcase_add_test(tcase, reference_of_many_differences);
	tcase_add_loop_test(tcase, all_sign_flips, 0, ARRAY_SIZE(sizes));
	tcase_add_test(tcase, distribution_of_t);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
