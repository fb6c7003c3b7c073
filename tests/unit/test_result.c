// SPDX-License-Identifier: GPL-2.0-only
/* From samples to results: which pairs are void, which values are used, what delta is. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/exec.h"
#include "plan/progress.h"
#include "store/db.h"

#define ROUNDS 5

static char dir[] = "/tmp/labd-result-XXXXXX";
static sqlite3 *db;
static struct spec *spec;

static const char spec_text[] =
	"{\"name\":\"t\",\"machine\":\"qemu\",\"subject\":\"kvm\",\"rounds\":5,"
	"\"arms\":[{\"name\":\"base\",\"build\":\"b\"},{\"name\":\"hint\",\"build\":\"h\"},"
	"{\"name\":\"scan\",\"build\":\"s\"}],"
	"\"scenarios\":[{\"name\":\"same\",\"workload\":\"w\"}],"
	"\"trace\":{\"events\":[\"a:b\"]},"
	"\"metrics\":[{\"name\":\"m\",\"event\":\"a:b\",\"agg\":\"count\",\"unit\":\"1\"}]}";

static const double base_values[ROUNDS] = {10, 30, 20, 50, 40};
static const double hint_values[ROUNDS] = {5, 7, 6, 100, 8};
static const double scan_values[ROUNDS] = {1, 1, 1, 1, 1};

static void run_sql(const char *sql)
{
	ck_assert_int_eq(db_run(db, sql, ""), 0);
}

static void add_boot(int64_t id, int round, const char *arm, double value)
{
	ck_assert_int_eq(
		db_run(db,
		       "INSERT INTO slot (id, experiment, round, position, arm, seed, state) "
		       "VALUES (?1, 1, ?2, ?1, ?3, '1', 'done')",
		       "iit", id, (int64_t)round, arm),
		0);
	ck_assert_int_eq(
		db_run(db,
		       "INSERT INTO boot (id, slot, attempt, state, token, console, env_key, started,"
		       " ended) VALUES (?1, ?1, 1, 'ok', '', '', 'same', 0, 1000000000)",
		       "i", id),
		0);
	ck_assert_int_eq(
		db_run(db,
		       "INSERT INTO run (id, boot, slot, place, scenario, state, lost, complete,"
		       " done_json, started) VALUES (?1, ?1, ?1, 0, 'same', 'ok', 0, 1, '{}', 0)",
		       "i", id),
		0);
	ck_assert_int_eq(
		db_run(db,
		       "INSERT INTO sample (run, metric, value, n_events) VALUES (?1, 'm', ?2, 9)",
		       "id", id, value),
		0);
}

static void setup(void)
{
	struct problem problem = {0};
	int64_t id = 1;

	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(db_open_writer(dir, &db), 0);
	ck_assert_msg(!spec_parse(spec_text, strlen(spec_text), &spec, &problem), "%s: %s",
		      problem.key, problem.detail);
	run_sql("INSERT INTO experiment (id, name, machine, subject, state, spec, plan, plan_sha256, created) "
		"VALUES (1, 't', 'qemu', 'kvm', 'running', '{}', '{}', '', 0)");
	run_sql("INSERT INTO metric (experiment, position, name, unit, agg, better, is_primary) "
		"VALUES (1, 0, 'm', '1', 'count', 0, 0)");
	run_sql("INSERT INTO scenario (experiment, position, name, workload, args) "
		"VALUES (1, 0, 'same', 'w', '{}')");
	for (int round = 1; round <= ROUNDS; round++) {
		add_boot(id++, round, "base", base_values[round - 1]);
		add_boot(id++, round, "hint", hint_values[round - 1]);
		add_boot(id++, round, "scan", scan_values[round - 1]);
	}
}

static void teardown(void)
{
	char command[128];

	spec_free(spec);
	db_close(db);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static char *text_of(const char *sql)
{
	static char *text;

	free(text);
	text = NULL;
	ck_assert_int_eq(result_update(db, 1, spec), 0);
	if (db_get_text(db, &text, sql, ""))
		text = strdup("(none)");
	return text;
}

#define VOIDS \
	"SELECT coalesce(group_concat(round || ' ' || arm || ': ' || reason, '; '), 'none') FROM void_pair"
#define USED "SELECT group_concat(n, ' ') FROM result ORDER BY arm"

START_TEST(medians_and_deltas)
{
	ck_assert_str_eq(text_of(VOIDS), "none");
	ck_assert_str_eq(
		text_of("SELECT median || ' ' || min || ' ' || max || ' ' || n FROM result "
			"WHERE arm = 'base'"),
		"30.0 10.0 50.0 5");
	/* The values stay in the order of the rounds. */
	ck_assert_str_eq(text_of("SELECT values_json FROM result WHERE arm = 'hint'"),
			 "[5.0,7.0,6.0,100.0,8.0]");
	ck_assert_str_eq(
		text_of("SELECT printf('%.4f %d %d', delta, n_pairs, n_lower) FROM compare "
			"WHERE arm = 'hint'"),
		"-0.7667 5 4");
}
END_TEST

/* One run's fault, the reason it must be void by, and how many values each arm keeps. */
static const struct {
	const char *sql;
	const char *voids;
	const char *used;
} faults[] = {
	{"UPDATE run SET lost = 3 WHERE id = 2", "1 hint: run 2: lost 3 events", "5 4 5"},
	{"UPDATE run SET complete = 0 WHERE id = 5",
	 "2 hint: run 5: read + lost does not equal written", "5 4 5"},
	{"UPDATE run SET done_json = '{\"taint\":512}' WHERE id = 8",
	 "3 hint: run 8: the kernel is tainted", "5 4 5"},
	{"UPDATE boot SET state = 'oops' WHERE id = 2", "1 hint: run 2: boot 2 ended: oops",
	 "5 4 5"},
	{"UPDATE boot SET env_key = 'other' WHERE id = 2",
	 "1 hint: environment differs from that of base", "5 4 5"},
	{"UPDATE run SET state = 'failed', reason = 'exit 1' WHERE id = 2", "1 hint: run 2: exit 1",
	 "5 4 5"},
	{"UPDATE run SET state = 'interrupted' WHERE id = 2", "1 hint: not every run finished",
	 "5 4 5"},
	{"UPDATE slot SET state = 'void', reason = 'boot 2 ended: panic' WHERE id = 2",
	 "1 hint: boot 2 ended: panic", "5 4 5"},
	/* Without a base the round has no pair at all. */
	{"UPDATE run SET lost = 1 WHERE id = 1",
	 "1 base: run 1: lost 1 events; 1 hint: base: run 1: lost 1 events; 1 scan: base: run 1: lost 1 events",
	 "4 4 4"},
	/* With every other arm void the base's value belongs to no good pair. */
	{"UPDATE run SET lost = 1 WHERE id IN (2, 3)",
	 "1 base: no other arm has a good run in this round; 1 hint: run 2: lost 1 events; "
	 "1 scan: run 3: lost 1 events",
	 "4 4 4"},
	/* What was not booted yet is no void pair. */
	{"UPDATE slot SET state = 'planned' WHERE round > 3", "none", "5 5 5"},
	/* A boot that the lab lost does not take its finished runs with it. */
	{"UPDATE boot SET state = 'lost-connection' WHERE id = 2", "none", "5 5 5"},
};

START_TEST(void_pairs)
{
	run_sql(faults[_i].sql);
	ck_assert_str_eq(text_of(VOIDS), faults[_i].voids);
	ck_assert_str_eq(text_of(USED), faults[_i].used);
}
END_TEST

START_TEST(delta_is_over_good_pairs)
{
	/* Without round 2 the base's median is 30 of {10, 20, 50, 40}, hint's 7 of {5, 6, 100, 8}.
	 */
	run_sql("UPDATE run SET lost = 1 WHERE id = 5");
	ck_assert_str_eq(
		text_of("SELECT printf('%.4f %d', delta, n_pairs) FROM compare WHERE arm = 'hint'"),
		"-0.7667 4");
	ck_assert_str_eq(text_of("SELECT median FROM result WHERE arm = 'base'"), "30.0");
	ck_assert_str_eq(
		text_of("SELECT printf('%.4f %d', delta, n_pairs) FROM compare WHERE arm = 'scan'"),
		"-0.9667 5");
}
END_TEST

START_TEST(no_delta_of_a_zero_base)
{
	run_sql("UPDATE sample SET value = 0 WHERE run IN (SELECT r.id FROM run r JOIN slot s ON s.id = r.slot "
		"WHERE s.arm = 'base')");
	ck_assert_str_eq(text_of("SELECT delta IS NULL FROM compare WHERE arm = 'hint'"), "1");
}
END_TEST

#define PAIRED(arm)                                                                                   \
	"SELECT printf('%.4f', paired_delta) || ' ' || n_lower || ' ' || n_equal || ' ' || n_higher " \
	"|| ' ' || ratios_json FROM v_compare WHERE arm = '" arm "'"

START_TEST(paired_view)
{
	ck_assert_str_eq(text_of(PAIRED("hint")), "-0.7000 4 0 1 [0.5,0.23333333333333334,"
						  "0.29999999999999999,2.0,0.20000000000000001]");
	/* A void round keeps its place, and a base of zero has no ratio: no delta, but a pair. */
	run_sql("UPDATE run SET lost = 1 WHERE id = 5");
	ck_assert_str_eq(text_of(PAIRED("hint")), "-0.6000 3 0 1 [0.5,null,0.29999999999999999,2.0,"
						  "0.20000000000000001]");
	run_sql("UPDATE sample SET value = 0 WHERE run = 1");
	ck_assert_str_eq(
		text_of("SELECT (paired_delta IS NULL) || ' ' || n_pairs || ' ' || n_higher"
			" FROM v_compare WHERE arm = 'hint'"),
		"1 4 2");
}
END_TEST

/* Two arms of one build on a machine without noise: exactly 1 in every round, not nearly. */
START_TEST(identical_arms)
{
	run_sql("UPDATE sample SET value = (SELECT b.value FROM sample b WHERE b.run = sample.run - 1)"
		" WHERE run % 3 = 2");
	ck_assert_str_eq(text_of(PAIRED("hint")), "0.0000 0 5 0 [1.0,1.0,1.0,1.0,1.0]");
	ck_assert_str_eq(text_of("SELECT paired_delta = 0 AND delta = 0 FROM v_compare"
				 " WHERE arm = 'hint'"),
			 "1");
	run_sql("UPDATE sample SET value = value * (1 + 1e-15) WHERE run = 5");
	ck_assert_str_eq(text_of("SELECT n_equal || ' ' || n_higher FROM v_compare"
				 " WHERE arm = 'hint'"),
			 "4 1");
}
END_TEST

START_TEST(boot_value_is_the_median_of_its_runs)
{
	run_sql("INSERT INTO run (id, boot, slot, place, scenario, state, lost, complete, done_json, started) "
		"VALUES (90, 1, 1, 1, 'same', 'ok', 0, 1, '{}', 0), (91, 1, 1, 2, 'same', 'ok', 0, 1, '{}', 0)");
	run_sql("INSERT INTO sample (run, metric, value, n_events) VALUES (90, 'm', 4, 9), (91, 'm', 1000, 9)");
	ck_assert_str_eq(
		text_of("SELECT value FROM v_boot_sample WHERE round = 1 AND arm = 'base'"),
		"10.0");
	run_sql("UPDATE sample SET value = NULL WHERE run = 91");
	ck_assert_str_eq(
		text_of("SELECT value FROM v_boot_sample WHERE round = 1 AND arm = 'base'"), "7.0");
}
END_TEST

#define INTERVAL \
	"SELECT coalesce(low, 'none') || ' ' || coalesce(high, 'none') FROM v_result WHERE arm = 'base'"

START_TEST(interval_is_of_the_boots_intervals)
{
	ck_assert_str_eq(text_of(INTERVAL), "none none");
	run_sql("UPDATE sample SET low = value - 1, high = value + 2");
	ck_assert_str_eq(text_of(INTERVAL), "29.0 32.0");
	/* The second run of boot 1 moves its low end from 9 to 39, and the arm's from 29 to 39. */
	run_sql("INSERT INTO run (id, boot, slot, place, scenario, state, lost, complete, done_json, started) "
		"VALUES (90, 1, 1, 1, 'same', 'ok', 0, 1, '{}', 0)");
	run_sql("INSERT INTO sample (run, metric, value, n_events, low, high) VALUES (90, 'm', 70, 9, 69, 72)");
	ck_assert_str_eq(text_of(INTERVAL), "39.0 42.0");
	/* One used boot without an upper end leaves none; one of a void pair does not matter. */
	run_sql("UPDATE sample SET high = NULL WHERE run = 4");
	ck_assert_str_eq(text_of(INTERVAL), "39.0 none");
	run_sql("UPDATE run SET lost = 1 WHERE id = 4");
	ck_assert_str_eq(text_of(INTERVAL), "39.0 42.0");
	ck_assert_str_eq(text_of("SELECT count(*) FROM result WHERE variance_json IS NOT NULL"),
			 "1");
}
END_TEST

/* Two runs in each boot, 2 apart: the mean square inside is 2, between 2 * 250 = 500, and p is
 * f_oneway()'s. */
START_TEST(variance_of_boots_and_runs)
{
	ck_assert_str_eq(text_of("SELECT count(*) FROM result WHERE variance_json IS NOT NULL"),
			 "0");
	run_sql("INSERT INTO run (id, boot, slot, place, scenario, state, lost, complete, done_json, started) "
		"SELECT id + 100, boot, slot, 1, scenario, state, lost, complete, done_json, 0 FROM run");
	run_sql("INSERT INTO sample (run, metric, value, n_events) "
		"SELECT run + 100, metric, value + 2, n_events FROM sample");
	ck_assert_str_eq(
		text_of("SELECT printf('%d %d %.6f %.6f %.6f %.6f %.6f %.10f', j ->> 'boots', j ->> 'runs',"
			" j ->> 'within', j ->> 'between', j ->> 'boot_variance', j ->> 'icc', j ->> 'f',"
			" j ->> 'p') FROM (SELECT variance_json AS j FROM v_result WHERE arm = 'base')"),
		"5 10 2.000000 500.000000 249.000000 0.992032 250.000000 0.0000060888");
	/* Runs that repeat exactly have no F. */
	run_sql("UPDATE sample SET value = 1 WHERE run IN (SELECT r.id FROM run r JOIN slot s ON s.id = r.slot "
		"WHERE s.arm = 'scan')");
	ck_assert_str_eq(
		text_of("SELECT variance_json FROM v_result WHERE arm = 'scan'"),
		"{\"boots\":5,\"runs\":10,\"within\":0.0,\"between\":0.0,\"boot_variance\":0.0,"
		"\"icc\":null,\"f\":null,\"p\":null}");
}
END_TEST

START_TEST(progress_counts)
{
	char *json;

	ck_assert_int_eq(progress_json(db, 1, &json), 0);
	ck_assert_ptr_nonnull(strstr(json, "\"boots_done\":15,\"boots_total\":15"));
	ck_assert_ptr_nonnull(strstr(json, "\"runs_done\":15,\"runs_total\":15"));
	free(json);
	ck_assert_int_eq(progress_json(db, 2, &json), -ENOENT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("result");
	TCase *tcase = tcase_create("result");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, medians_and_deltas);
	tcase_add_loop_test(tcase, void_pairs, 0, sizeof(faults) / sizeof(faults[0]));
	tcase_add_test(tcase, delta_is_over_good_pairs);
	tcase_add_test(tcase, no_delta_of_a_zero_base);
	tcase_add_test(tcase, paired_view);
	tcase_add_test(tcase, identical_arms);
	tcase_add_test(tcase, boot_value_is_the_median_of_its_runs);
	tcase_add_test(tcase, interval_is_of_the_boots_intervals);
	tcase_add_test(tcase, variance_of_boots_and_runs);
	tcase_add_test(tcase, progress_counts);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed != 0;
}
