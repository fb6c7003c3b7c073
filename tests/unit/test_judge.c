// SPDX-License-Identifier: GPL-2.0-only
/* Verdicts from a database of hand-made samples: what is tested, corrected, judged, and when. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "plan/exec.h"
#include "plan/judge.h"
#include "stats/rank.h"
#include "store/db.h"

#define ROUNDS 6
#define SCENARIOS 2
#define ARMS 3

static char dir[] = "/tmp/labd-judge-XXXXXX";
static sqlite3 *db;

static const char *const scenarios[SCENARIOS] = {"one", "two"};
static const char *const arms[ARMS] = {"base", "hint", "scan"};

/* Two scenarios and three arms; m is in the family and d, the same figures, is not. */
#define SPEC(rounds, more)                                                                    \
	"{\"name\":\"t\",\"machine\":\"qemu\",\"subject\":\"kvm\",\"rounds\":" #rounds        \
	",\"arms\":[{\"name\":\"base\",\"build\":\"b\"},{\"name\":\"hint\",\"build\":\"h\"}," \
	"{\"name\":\"scan\",\"build\":\"s\"}]," more                                          \
	"\"scenarios\":[{\"name\":\"one\",\"workload\":\"w\",\"args\":{\"n\":1}},"            \
	"{\"name\":\"two\",\"workload\":\"w\",\"args\":{\"n\":2}}],"                          \
	"\"trace\":{\"events\":[\"a:b\"]},\"metrics\":[{\"name\":\"m\",\"event\":\"a:b\","    \
	"\"agg\":\"count\",\"unit\":\"1\",\"better\":\"lower\",\"primary\":true},"            \
	"{\"name\":\"d\",\"event\":\"a:b\",\"agg\":\"count\",\"unit\":\"1\",\"better\":\"lower\"}]}"

/* Values by scenario, arm and round. */
struct figures {
	double value[SCENARIOS][ARMS][ROUNDS];
};

/* one: hint is clearly lower, scan clearly higher; two: hint is clearly higher, scan the base. */
static const struct figures clear = {
	{{{100, 101, 102, 103, 104, 105}, {50, 51, 52, 53, 54, 55}, {200, 201, 202, 203, 204, 205}},
	 {{100, 101, 102, 103, 104, 105},
	  {130, 131, 132, 133, 134, 135},
	  {100, 101, 102, 103, 104, 105}}}};

/* one: nothing to be seen; two: U = 2, whose p is 8 / 252 at 5 v 5. */
static const struct figures faint = {{{{100, 101, 102, 103, 104, 105},
				       {100.5, 102.5, 101.5, 103.5, 99.5, 104.5},
				       {100, 101, 102, 103, 104, 105}},
				      {{100, 101, 102, 103, 104, 105},
				       {98, 98.5, 99, 100.5, 100.7, 96},
				       {100, 101, 102, 103, 104, 105}}}};

static void run_sql(const char *sql)
{
	ck_assert_int_eq(db_run(db, sql, ""), 0);
}

static void add_run(int64_t id, int64_t boot, const char *scenario, double value)
{
	ck_assert_int_eq(
		db_run(db,
		       "INSERT INTO run (id, boot, slot, place, scenario, state, lost, complete,"
		       " done_json, started) VALUES (?1, ?2, ?2, 0, ?3, 'ok', 0, 1, '{}', 0)",
		       "iit", id, boot, scenario),
		0);
	ck_assert_int_eq(
		db_run(db,
		       "INSERT INTO sample (run, metric, value, n_events) VALUES (?1, 'm', ?2, 9),"
		       " (?1, 'd', ?2, 9)",
		       "id", id, value),
		0);
}

static void add_boot(int64_t experiment, int64_t round, size_t arm, const struct figures *figures)
{
	int64_t id = experiment * 1000 + round * 10 + (int64_t)arm;

	ck_assert_int_eq(
		db_run(db,
		       "INSERT INTO slot (id, experiment, round, position, arm, seed, state) "
		       "VALUES (?1, ?2, ?3, ?1, ?4, '1', 'done')",
		       "iiit", id, experiment, round, arms[arm]),
		0);
	ck_assert_int_eq(
		db_run(db,
		       "INSERT INTO boot (id, slot, attempt, state, token, console, env_key, started,"
		       " ended) VALUES (?1, ?1, 1, 'ok', '', '', 'here', 0, 1000000000)",
		       "i", id),
		0);
	for (size_t s = 0; s < SCENARIOS; s++)
		add_run(id * 10 + (int64_t)s, id, scenarios[s], figures->value[s][arm][round - 1]);
}

static struct spec *parse(const char *text)
{
	struct problem problem = {0};
	struct spec *spec;

	ck_assert_msg(!spec_parse(text, strlen(text), &spec, &problem), "%s: %s", problem.key,
		      problem.detail);
	return spec;
}

/* Measured to its end, and not judged. */
static void add_experiment(int64_t id, const char *spec_text, const struct figures *figures)
{
	struct spec *spec = parse(spec_text);

	ck_assert_int_eq(
		db_run(db,
		       "INSERT INTO experiment (id, name, machine, subject, state, spec, plan,"
		       " plan_sha256, created) VALUES (?1, 't', 'qemu', 'kvm', 'running', ?2, '{}',"
		       " '', 0)",
		       "it", id, spec_text),
		0);
	ck_assert_int_eq(db_run(db,
				"INSERT INTO metric (experiment, position, name, unit, agg, better,"
				" is_primary) VALUES (?1, 0, 'm', '1', 'count', -1, 1),"
				" (?1, 1, 'd', '1', 'count', -1, 0)",
				"i", id),
			 0);
	ck_assert_int_eq(db_run(db,
				"INSERT INTO scenario (experiment, position, name, workload, args)"
				" VALUES (?1, 0, 'one', 'w', '{\"n\":1}'),"
				" (?1, 1, 'two', 'w', '{\"n\":2}')",
				"i", id),
			 0);
	for (unsigned int round = 1; round <= spec->rounds; round++)
		for (size_t arm = 0; arm < ARMS; arm++)
			add_boot(id, round, arm, figures);
	ck_assert_int_eq(result_update(db, id, spec), 0);
	spec_free(spec);
}

static void update_results(int64_t id, const char *spec_text)
{
	struct spec *spec = parse(spec_text);

	ck_assert_int_eq(result_update(db, id, spec), 0);
	spec_free(spec);
}

static void judge_as(int64_t id, const char *state)
{
	struct judgement *judgement;

	ck_assert_int_eq(judge_load(db, id, state, &judgement), 0);
	ck_assert_int_eq(judge_compute(judgement, NULL, NULL), 0);
	ck_assert_int_eq(db_begin(db), 0);
	ck_assert_int_eq(
		db_run(db, "UPDATE experiment SET state = ?2 WHERE id = ?1", "it", id, state), 0);
	ck_assert_int_eq(judge_store(db, judgement), 0);
	ck_assert_int_eq(db_commit(db), 0);
	judge_free(judgement);
}

static const char *get(const char *sql)
{
	static char *text;

	free(text);
	text = NULL;
	if (db_get_text(db, &text, sql, ""))
		text = strdup("(none)");
	return text;
}

#define ROW(what, experiment, where)                                                           \
	get("SELECT coalesce(" what ", 'NULL') FROM v_compare WHERE experiment = " #experiment \
	    " AND " where)
#define ONE " scenario = 'one' AND metric = 'm' AND arm = 'hint'"
#define TWO " scenario = 'two' AND metric = 'm' AND arm = 'hint'"

static void setup(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(db_open_writer(dir, &db), 0);
}

static void teardown(void)
{
	char command[128];

	db_close(db);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(improved_and_regressed)
{
	add_experiment(1, SPEC(5, ""), &clear);
	judge_as(1, "done");
	ck_assert_str_eq(ROW("verdict", 1, ONE), "improved");
	ck_assert_str_eq(ROW("why", 1, ONE),
			 "Holm's p 0.0159 is within alpha 0.05, and the change is -49 % "
			 "(noise floor unknown).");
	ck_assert_str_eq(ROW("verdict", 1, TWO), "regressed");
	/* scipy.stats.mannwhitneyu(method="exact"): .0079; wilcoxon(mode="exact"): .0625. */
	ck_assert_str_eq(ROW("printf('%.4f %.4f %.4f %.4f %.4f', p, p_floor, p_holm, paired_p, "
			     "paired_p_floor)",
			     1, ONE),
			 "0.0079 0.0079 0.0159 0.0625 0.0625");
	/* The 3rd and the 23rd of the differences -54 to -46, of a median of 102. */
	ck_assert_str_eq(ROW("printf('%.1f %.1f %.1f %.4f', shift, shift_low, shift_high, "
			     "shift_level)",
			     1, ONE),
			 "-50.0 -53.0 -47.0 0.9683");
	ck_assert_str_eq(
		ROW("printf('%.4f %.4f %.4f', change_low, change_high, no_larger)", 1, ONE),
		"-0.5196 -0.4608 0.5196");
	ck_assert_str_eq(
		ROW("in_family || ' ' || family_size || ' ' || alpha || ' ' || test", 1, ONE),
		"1 2 0.05 rank");
	/* 5 v 5 at alpha .025 finds 2.67 standard deviations, which are sqrt(2.5) here. */
	ck_assert_str_eq(ROW("abs(detectable - 2.671 * sqrt(2.5) / 102) < .001", 1, ONE), "1");
	ck_assert_str_eq(get("SELECT judged FROM experiment"), "1");
}
END_TEST

/* Outside the family there are figures, but nothing corrected and no verdict. */
START_TEST(descriptive)
{
	add_experiment(1, SPEC(5, ""), &clear);
	judge_as(1, "done");
	ck_assert_str_eq(get("SELECT count(*) FROM v_compare WHERE in_family = 0 AND p IS NOT NULL"
			     " AND shift IS NOT NULL AND detectable IS NOT NULL AND p_holm IS NULL"
			     " AND verdict IS NULL AND why IS NULL AND family_size IS NULL"),
			 "6");
	ck_assert_str_eq(get("SELECT count(*) FROM v_compare WHERE in_family"), "2");
	ck_assert_str_eq(
		ROW("printf('%.4f', p)", 1, "scenario = 'two' AND metric = 'm' AND arm = 'scan'"),
		"1.0000");
}
END_TEST

/* Of two comparisons with p = .0317 and 1, neither is within .05 after Holm; alone the one is. */
START_TEST(corrected_over_the_family)
{
	add_experiment(1, SPEC(5, ""), &faint);
	add_experiment(2, SPEC(5, "\"primary\":{\"scenarios\":[\"two\"]},"), &faint);
	judge_as(1, "done");
	judge_as(2, "done");
	ck_assert_str_eq(ROW("printf('%.4f %.4f', p, p_holm)", 1, TWO), "0.0317 0.0635");
	ck_assert_str_eq(ROW("verdict", 1, TWO), "inconclusive");
	ck_assert_str_eq(ROW("printf('%.4f %.4f', p, p_holm)", 2, TWO), "0.0317 0.0317");
	ck_assert_str_eq(ROW("verdict", 2, TWO), "improved");
	ck_assert_str_eq(ROW("verdict", 2, ONE), "NULL");
	/* The other arm as the primary one. */
	add_experiment(3, SPEC(5, "\"primary\":{\"arm\":\"scan\"},"), &clear);
	judge_as(3, "done");
	ck_assert_str_eq(ROW("verdict", 3, ONE), "NULL");
	ck_assert_str_eq(ROW("verdict", 3, "scenario = 'one' AND metric = 'm' AND arm = 'scan'"),
			 "regressed");
}
END_TEST

START_TEST(margin)
{
	add_experiment(1, SPEC(5, ""), &faint);
	add_experiment(2, SPEC(5, "\"margin\":0.05,"), &faint);
	add_experiment(3, SPEC(5, "\"margin\":0.02,"), &faint);
	for (int64_t id = 1; id <= 3; id++)
		judge_as(id, "done");
	ck_assert_str_eq(ROW("verdict", 1, ONE), "inconclusive");
	ck_assert_str_eq(ROW("verdict", 2, ONE), "no change larger than 3.43 %");
	ck_assert_str_eq(ROW("printf('%.4f %.2f', no_larger, margin)", 2, ONE), "0.0343 0.05");
	ck_assert_str_eq(ROW("verdict", 3, ONE), "inconclusive");
	ck_assert_ptr_nonnull(strstr(ROW("why", 3, ONE), "smallest detectable change: "));
}
END_TEST

/* Pairs of two arms that are the same build, but for a ratio of 1.6 in one of them. */
static void add_aa(int64_t id, const char *environment, const char *machine)
{
	struct figures figures = clear;

	for (size_t s = 0; s < SCENARIOS; s++)
		for (size_t arm = 1; arm < ARMS; arm++)
			memcpy(figures.value[s][arm], figures.value[s][0],
			       sizeof(figures.value[s][0]));
	figures.value[0][1][2] *= 1.6;
	add_experiment(id, SPEC(5, ""), &figures);
	ck_assert_int_eq(db_run(db, "UPDATE boot SET env_key = ?2 WHERE id / 1000 = ?1", "it", id,
				environment),
			 0);
	ck_assert_int_eq(db_run(db, "UPDATE experiment SET kind = 'aa', machine = ?2 WHERE id = ?1",
				"it", id, machine),
			 0);
	judge_as(id, "done");
}

START_TEST(floor_takes_a_verdict)
{
	add_experiment(1, SPEC(5, ""), &clear);
	add_aa(2, "here", "qemu");
	judge_as(1, "done");
	ck_assert_str_eq(ROW("verdict", 1, ONE), "inconclusive");
	ck_assert_str_eq(
		ROW("substr(why, 1, 94)", 1, ONE),
		"Holm's p 0.0159 is within alpha 0.05, but the change of -49 % is within the "
		"A/A floor of 60 %;");
	/* Both other arms make pairs with the base. */
	ck_assert_str_eq(ROW("printf('%.4f %d', floor, floor_pairs)", 1, ONE), "0.6000 10");
	/* The other scenario, by its args, was quiet. */
	ck_assert_str_eq(ROW("verdict || printf(' %.4f', floor)", 1, TWO), "regressed 0.0000");
	/* Its own pairs are no floor for an A/A experiment, those of another one are. */
	ck_assert_str_eq(ROW("floor", 2, ONE), "NULL");
	ck_assert_str_eq(ROW("floor_pairs", 2, ONE), "NULL");
	add_aa(3, "here", "qemu");
	ck_assert_str_eq(ROW("printf('%.4f %d', floor, floor_pairs)", 3, ONE), "0.6000 10");
}
END_TEST

START_TEST(floor_of_elsewhere)
{
	add_experiment(1, SPEC(5, ""), &clear);
	add_aa(2, "there", "qemu");
	add_aa(3, "here", "bochs");
	judge_as(1, "done");
	ck_assert_str_eq(ROW("verdict", 1, ONE), "improved");
	ck_assert_str_eq(ROW("floor", 1, ONE), "NULL");
	/* One that is not done is no floor yet. */
	add_aa(4, "here", "qemu");
	run_sql("UPDATE experiment SET state = 'running' WHERE id = 4");
	judge_as(1, "done");
	ck_assert_str_eq(ROW("floor", 1, ONE), "NULL");
	run_sql("UPDATE experiment SET state = 'done' WHERE id = 4");
	judge_as(1, "done");
	ck_assert_str_eq(ROW("verdict", 1, ONE), "inconclusive");
	/* Another figure under the same name is none, and a lab's pairs are none of an import's. */
	run_sql("UPDATE metric SET agg = 'max' WHERE experiment = 4");
	judge_as(1, "done");
	ck_assert_str_eq(ROW("floor", 1, ONE), "NULL");
	run_sql("UPDATE metric SET agg = 'count' WHERE experiment = 4");
	run_sql("UPDATE experiment SET origin_json = '{}' WHERE id = 1");
	judge_as(1, "done");
	ck_assert_str_eq(ROW("floor", 1, ONE), "NULL");
	/* Nor are the pairs of an imported A/A experiment this lab's. */
	run_sql("UPDATE experiment SET origin_json = iif(id = 4, '{}', NULL)");
	judge_as(1, "done");
	ck_assert_str_eq(ROW("verdict", 1, ONE), "improved");
}
END_TEST

/* Round 3 of the scenario one is lost, and its figure would turn everything over. */
START_TEST(void_pairs_are_left_out)
{
	add_experiment(1, SPEC(5, ""), &clear);
	run_sql("UPDATE sample SET value = 1000 WHERE run = 10310");
	update_results(1, SPEC(5, ""));
	judge_as(1, "done");
	ck_assert_str_eq(ROW("n_pairs || printf(' %.4f', p)", 1, ONE), "5 0.1508");
	run_sql("UPDATE run SET lost = 3 WHERE id = 10310");
	run_sql("UPDATE sample SET value = 7 WHERE run % 10 = 1");
	update_results(1, SPEC(5, ""));
	judge_as(1, "done");
	ck_assert_str_eq(get("SELECT scenario || ' ' || round || ' ' || arm FROM void_pair"),
			 "one 3 hint");
	/* 2 / 70, and 2 / 16. */
	ck_assert_str_eq(ROW("n_pairs || printf(' %.4f %.4f %.4f %.4f', p, p_floor, paired_p, "
			     "paired_p_floor)",
			     1, ONE),
			 "4 0.0286 0.0286 0.1250 0.1250");
	ck_assert_str_eq(
		ROW("verdict || ': ' || why", 1, ONE),
		"inconclusive: 4 of 5 planned pairs are too few: the smallest p of theirs is "
		"0.0286, times 2 comparisons 0.0571, above alpha 0.05; smallest detectable "
		"change: unknown.");
	ck_assert_str_eq(ROW("n_pairs", 1, TWO), "5");
}
END_TEST

/* Nine runs in each boot that agree closely: 45 v 45 would be sure of what 5 v 5 is not. */
START_TEST(runs_are_no_boots)
{
	double base[45], hint[45], pooled;

	add_experiment(1, SPEC(5, ""), &faint);
	for (int i = 1; i < 9; i++) {
		ck_assert_int_eq(
			db_run(db,
			       "INSERT INTO run (id, boot, slot, place, scenario, state, lost,"
			       " complete, done_json, started) SELECT id + 100000 * ?1, boot, slot, ?1,"
			       " scenario, state, lost, complete, done_json, 0 FROM run"
			       " WHERE id < 100000",
			       "i", (int64_t)i),
			0);
		ck_assert_int_eq(
			db_run(db,
			       "INSERT INTO sample (run, metric, value, n_events)"
			       " SELECT run + 100000 * ?1, metric,"
			       " value + iif(?1 % 2, -1e-3, 1e-3) * ((?1 + 1) / 2), n_events"
			       " FROM sample WHERE run < 100000",
			       "i", (int64_t)i),
			0);
	}
	update_results(1, SPEC(5, ""));
	judge_as(1, "done");
	ck_assert_str_eq(ROW("n_pairs || printf(' %.4f', p)", 1, TWO), "5 0.0317");
	ck_assert_str_eq(ROW("verdict", 1, TWO), "inconclusive");
	/* What pooling would have said. */
	for (size_t i = 0; i < 45; i++) {
		base[i] = faint.value[1][0][i % 5] + 1e-3 * (double)(i / 5);
		hint[i] = faint.value[1][1][i % 5] + 1e-3 * (double)(i / 5);
	}
	ck_assert_int_eq(rank_test(base, 45, hint, 45, &pooled), 0);
	ck_assert_double_lt(pooled, 1e-6);
}
END_TEST

/* Rounds that differ by more than the arms: the ranks see nothing, the pairs do. */
static const struct figures drifting = {
	{{{10, 20, 40, 80, 160, 320}, {9, 17, 33, 68, 130, 280}, {10, 20, 40, 80, 160, 320}},
	 {{10, 20, 0, 80, 160, 320}, {9, 17, -3, 68, 130, 280}, {10, 20, 40, 80, 160, 320}}}};

#define PAIRED(name) "\"test\":\"paired\",\"primary\":{\"scenarios\":[\"" name "\"]},"

START_TEST(paired_test)
{
	add_experiment(1, SPEC(6, PAIRED("one")), &drifting);
	add_experiment(2, SPEC(6, PAIRED("two")), &drifting);
	add_experiment(3, SPEC(6, "\"primary\":{\"scenarios\":[\"one\"]},"), &drifting);
	for (int64_t id = 1; id <= 3; id++)
		judge_as(id, "done");
	ck_assert_str_eq(ROW("verdict", 1, ONE), "improved");
	ck_assert_str_eq(
		ROW("printf('%.5f %.5f %.5f %s', paired_p, paired_p_floor, p_holm, test)", 1, ONE),
		"0.03125 0.03125 0.03125 paired");
	ck_assert_str_eq(ROW("p > 0.5", 1, ONE), "1");
	/* A value of 0 has no logarithm: the differences are ranked. */
	ck_assert_str_eq(ROW("printf('%.5f', p_holm)", 2, TWO), "0.03125");
	ck_assert_str_eq(ROW("verdict", 3, ONE), "inconclusive");
	ck_assert_str_eq(ROW("detectable > 0.05 AND detectable < 0.2", 1, ONE), "1");
	ck_assert_str_eq(ROW("detectable > 2", 3, ONE), "1");
}
END_TEST

/* n is fixed: before the end there are no tests, and after a cancellation none either. */
START_TEST(not_before_the_end)
{
	static const char nothing[] =
		"SELECT count(*) FROM v_compare WHERE coalesce(p, p_floor, p_holm, paired_p, "
		"paired_p_floor, shift, shift_low, shift_level, change_low, no_larger, detectable, "
		"floor, verdict) IS NULL AND delta IS NOT NULL AND alpha = 0.05";

	add_experiment(1, SPEC(5, ""), &clear);
	ck_assert_str_eq(get(nothing), "8");
	ck_assert_str_eq(ROW("in_family || ' ' || family_size", 1, ONE), "1 2");
	ck_assert_str_eq(ROW("why", 1, ONE), "NULL");
	judge_as(1, "cancelled");
	ck_assert_str_eq(get(nothing), "8");
	ck_assert_str_eq(ROW("why", 1, ONE),
			 "The experiment was cancelled before all that was planned was measured: "
			 "no verdict.");
	judge_as(1, "failed");
	ck_assert_str_eq(get(nothing), "8");
	ck_assert_ptr_nonnull(strstr(ROW("why", 1, ONE), "The experiment failed before"));
	judge_as(1, "done");
	ck_assert_str_eq(get(nothing), "0");
}
END_TEST

START_TEST(without_data)
{
	add_experiment(1, SPEC(5, ""), &clear);
	run_sql("DELETE FROM sample WHERE run % 10 = 1");
	update_results(1, SPEC(5, ""));
	judge_as(1, "done");
	/* It counts in the family nevertheless. */
	ck_assert_str_eq(ROW("printf('%.4f %.4f', p_holm, p)", 1, ONE), "0.0159 0.0079");
	ck_assert_str_eq(ROW("verdict || ': ' || why", 1, TWO),
			 "inconclusive: No pair has a value of both arms, of 5 planned.");
	ck_assert_str_eq(ROW("p_holm", 1, TWO), "1.0");
	ck_assert_str_eq(ROW("p", 1, TWO), "NULL");
}
END_TEST

START_TEST(spec_of_before)
{
	struct judgement *judgement;

	add_experiment(1, SPEC(5, ""), &clear);
	run_sql("UPDATE experiment SET spec = '{\"name\":\"t\",\"old\":1}'");
	judge_as(1, "done");
	ck_assert_ptr_nonnull(strstr(ROW("why", 1, ONE), "This labd refuses the stored spec: "));
	ck_assert_str_eq(ROW("verdict", 1, ONE), "NULL");
	ck_assert_int_eq(judge_load(db, 7, "done", &judgement), -ENOENT);
}
END_TEST

static bool always(void *arg)
{
	++*(int *)arg;
	return true;
}

START_TEST(interrupted)
{
	struct judgement *judgement;
	int asked = 0;

	add_experiment(1, SPEC(5, ""), &clear);
	ck_assert_int_eq(judge_load(db, 1, "done", &judgement), 0);
	ck_assert_int_eq(judge_compute(judgement, always, &asked), -ECANCELED);
	ck_assert_int_eq(asked, 1);
	judge_free(judgement);
	judge_free(NULL);
}
END_TEST

/* What is not judged is found, once, and an end that did not reach the disk leaves nothing. */
START_TEST(which_are_judged)
{
	struct judgement *judgement;
	int64_t id = 0;

	add_experiment(1, SPEC(5, ""), &clear);
	ck_assert_int_eq(judge_find(db, &id), -ENOENT);
	ck_assert_int_eq(judge_load(db, 1, "done", &judgement), 0);
	ck_assert_int_eq(judge_compute(judgement, NULL, NULL), 0);
	ck_assert_int_eq(db_begin(db), 0);
	run_sql("UPDATE experiment SET state = 'done'");
	ck_assert_int_eq(judge_store(db, judgement), 0);
	db_rollback(db);
	judge_free(judgement);
	ck_assert_str_eq(get("SELECT state || ' ' || judged FROM experiment"), "running 0");
	ck_assert_str_eq(ROW("verdict", 1, ONE), "NULL");

	run_sql("UPDATE experiment SET state = 'done'");
	ck_assert_int_eq(judge_find(db, &id), 0);
	ck_assert_int_eq(id, 1);
	judge_as(1, "done");
	ck_assert_int_eq(judge_find(db, &id), -ENOENT);
	ck_assert_int_eq(
		db_run(db, "UPDATE experiment SET judged = ?1", "i", (int64_t)JUDGE_VERSION - 1),
		0);
	ck_assert_int_eq(judge_find(db, &id), 0);
}
END_TEST

#define JUDGED \
	"SELECT group_concat(id || ':' || judged, ' ') FROM (SELECT * FROM experiment ORDER BY id)"

START_TEST(aa_has_others_judged_anew)
{
	add_experiment(1, SPEC(5, ""), &clear);
	judge_as(1, "done");
	add_aa(2, "here", "qemu");
	add_aa(3, "here", "bochs");
	add_experiment(4, SPEC(5, ""), &clear);
	judge_as(4, "done");
	run_sql("UPDATE experiment SET origin_json = '{}' WHERE id = 4");
	ck_assert_int_eq(judge_others(db, 1), 0);
	ck_assert_str_eq(get(JUDGED), "1:1 2:1 3:1 4:1");
	ck_assert_int_eq(judge_others(db, 2), 0);
	ck_assert_str_eq(get(JUDGED), "1:0 2:1 3:1 4:1");
}
END_TEST

/* labd was killed after an experiment's end was stored by a labd that knew no verdicts. */
START_TEST(judged_at_start)
{
	struct sched_config config = {.data_dir = dir, .builds_dir = dir, .images_dir = dir};
	struct sched *sched;

	add_experiment(1, SPEC(5, ""), &clear);
	add_experiment(2, SPEC(5, ""), &clear);
	run_sql("UPDATE experiment SET state = iif(id = 1, 'done', 'cancelled')");
	db_close(db);
	ck_assert_int_eq(sched_start(&config, &sched), 0);
	ck_assert_int_eq(db_open_reader(dir, &db), 0);
	/* check's own limit ends this where nothing is ever judged. */
	while (strcmp(get("SELECT count(*) FROM experiment WHERE judged = 1"), "2"))
		usleep(10000);
	sched_stop(sched);
	ck_assert_str_eq(ROW("verdict", 1, ONE), "improved");
	ck_assert_str_eq(ROW("verdict", 2, ONE), "NULL");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("judge");
	TCase *tcase = tcase_create("judge");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, improved_and_regressed);
	tcase_add_test(tcase, descriptive);
	tcase_add_test(tcase, corrected_over_the_family);
	tcase_add_test(tcase, margin);
	tcase_add_test(tcase, floor_takes_a_verdict);
	tcase_add_test(tcase, floor_of_elsewhere);
	tcase_add_test(tcase, void_pairs_are_left_out);
	tcase_add_test(tcase, runs_are_no_boots);
	tcase_add_test(tcase, paired_test);
	tcase_add_test(tcase, not_before_the_end);
	tcase_add_test(tcase, without_data);
	tcase_add_test(tcase, spec_of_before);
	tcase_add_test(tcase, interrupted);
	tcase_add_test(tcase, which_are_judged);
	tcase_add_test(tcase, aa_has_others_judged_anew);
	tcase_add_test(tcase, judged_at_start);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
