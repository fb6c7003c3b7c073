// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verdicts of an experiment that is over: tests, their correction over the plan's family, the
 * machine's noise floor, and what the design could have found. n is fixed by the plan, so nothing
 * of it is there before the end, and an experiment that was cut short gets none.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/family.h"
#include "plan/judge.h"
#include "plan/series.h"
#include "stats/holm.h"
#include "stats/power.h"
#include "stats/rank.h"
#include "stats/shift.h"
#include "stats/verdict.h"
#include "store/db.h"

/* The noise of a scenario and metric among the machine's A/A pairs; NAN without any. */
struct aa_floor {
	double floor;
	int64_t pairs;
};

/* One comparison, with the columns of v_compare. NAN is NULL. */
struct comparison {
	size_t scenario;
	size_t metric;
	size_t arm;
	bool in_family;
	struct pairs pairs;
	double p, p_floor, p_holm, paired_p, paired_p_floor;
	struct shift shift;
	double change_low, change_high, detectable;
	struct verdict_result verdict;
};

/**
 * struct judgement - (see judge.h)
 * @why: when there is nothing to judge: why, for all comparisons
 * @spec: NULL then
 * @floors: by scenario and metric
 * @detectable_sd: by pairs, of a comparison outside (0) and inside (1) the family; 0 not yet known
 */
struct judgement {
	int64_t experiment;
	char why[256];
	struct spec *spec;
	struct family family;
	struct series *series;
	struct aa_floor *floors;
	double detectable_sd[2][SPEC_MAX_ROUNDS + 1];
	struct comparison *comparisons;
	size_t n;
};

/** judge_free() - NULL is allowed */
void judge_free(struct judgement *judgement)
{
	if (!judgement)
		return;
	free(judgement->comparisons);
	free(judgement->floors);
	free(judgement->series);
	spec_free(judgement->spec);
	free(judgement);
}

static struct aa_floor *floor_at(const struct judgement *judgement, size_t scenario, size_t metric)
{
	return &judgement->floors[scenario * judgement->spec->n_metrics + metric];
}

/*
 * The pairs of v_aa_pair that were measured in an environment of this experiment's used boots. An
 * A/A experiment is not held against its own, nor an imported one against this lab's.
 */
static const char floors_sql[] =
	"SELECT n.position, m.position, max(abs(p.ratio - 1)), count(*)"
	" FROM scenario n JOIN metric m ON m.experiment = n.experiment"
	" JOIN v_aa_pair p ON p.workload = n.workload AND p.args = n.args AND p.metric = m.name"
	" AND p.unit = m.unit AND p.agg = m.agg"
	" WHERE n.experiment = ?1 AND p.experiment <> ?1"
	" AND (SELECT origin_json FROM experiment WHERE id = ?1) IS NULL"
	" AND p.machine = (SELECT machine FROM experiment WHERE id = ?1)"
	" AND p.env_key IN (SELECT b.env_key FROM v_sample a JOIN boot b ON b.id = a.boot"
	"                   WHERE a.experiment = ?1 AND a.used)"
	" GROUP BY n.position, m.position";

static int read_floors(sqlite3 *db, struct judgement *judgement)
{
	const struct spec *spec = judgement->spec;
	size_t n = spec->n_scenarios * spec->n_metrics;
	sqlite3_stmt *stmt;
	int ret, rc;

	judgement->floors = calloc(n + 1, sizeof(*judgement->floors));
	if (!judgement->floors)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		judgement->floors[i].floor = NAN;
	ret = db_prepare(db, &stmt, floors_sql, "i", judgement->experiment);
	if (ret)
		return ret;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t scenario = sqlite3_column_int64(stmt, 0);
		int64_t metric = sqlite3_column_int64(stmt, 1);
		struct aa_floor *floor;

		if (scenario < 0 || (size_t)scenario >= spec->n_scenarios || metric < 0 ||
		    (size_t)metric >= spec->n_metrics)
			continue;
		floor = floor_at(judgement, (size_t)scenario, (size_t)metric);
		floor->floor = sqlite3_column_double(stmt, 2);
		floor->pairs = sqlite3_column_int64(stmt, 3);
	}
	if (rc != SQLITE_DONE)
		ret = db_error(db, "reading the noise floor");
	sqlite3_finalize(stmt);
	return ret;
}

static int make_comparisons(struct judgement *judgement)
{
	const struct spec *spec = judgement->spec;

	judgement->comparisons = calloc(spec->n_scenarios * spec->n_metrics * spec->n_arms + 1,
					sizeof(*judgement->comparisons));
	if (!judgement->comparisons)
		return -ENOMEM;
	for (size_t s = 0; s < spec->n_scenarios; s++) {
		for (size_t m = 0; m < spec->n_metrics; m++) {
			for (size_t a = 1; a < spec->n_arms; a++)
				judgement->comparisons[judgement->n++] = (struct comparison){
					.scenario = s,
					.metric = m,
					.arm = a,
					.in_family = spec->metrics[m].primary &&
						     spec->primary_scenario[s] &&
						     spec->primary_arm == a,
				};
		}
	}
	return 0;
}

static int read_spec(sqlite3 *db, struct judgement *judgement)
{
	struct problem problem = {0};
	char *text = NULL;
	int ret;

	ret = db_get_text(db, &text, "SELECT spec FROM experiment WHERE id = ?1", "i",
			  judgement->experiment);
	if (ret)
		return ret;
	if (spec_parse(text, strlen(text), &judgement->spec, &problem))
		snprintf(judgement->why, sizeof(judgement->why),
			 "This labd refuses the stored spec: %.60s %.150s", problem.key,
			 problem.detail);
	free(text);
	return 0;
}

/**
 * judge_load() - read what an experiment is judged by
 * @state: that it has or is about to get: 'done', 'cancelled' or 'failed'
 * @ret_judgement: freed by judge_free()
 *
 * Return: 0 or negative errno.
 */
int judge_load(sqlite3 *db, int64_t experiment, const char *state, struct judgement **ret_judgement)
{
	struct judgement *judgement = calloc(1, sizeof(*judgement));
	int ret = 0;

	if (!judgement)
		return -ENOMEM;
	judgement->experiment = experiment;
	if (strcmp(state, "done"))
		snprintf(judgement->why, sizeof(judgement->why),
			 "The experiment %s before all that was planned was measured: no verdict.",
			 !strcmp(state, "failed") ? "failed" : "was cancelled");
	else
		ret = read_spec(db, judgement);
	if (!ret && judgement->spec) {
		judgement->family = family_of(judgement->spec);
		ret = series_read(db, experiment, judgement->spec, &judgement->series)
			      ?: read_floors(db, judgement) ?: make_comparisons(judgement);
	}
	if (ret)
		judge_free(judgement);
	else
		*ret_judgement = judgement;
	return ret;
}

static double test_rank(const struct pairs *pairs)
{
	double p;

	return rank_test(pairs->base, pairs->n, pairs->arm, pairs->n, &p) ? NAN : p;
}

/*
 * What the paired test ranks: the logarithms of the ratios, which a change in per cent shifts all
 * alike, or the differences where a value is not positive and there are none.
 */
static bool pair_differences(const struct pairs *pairs, double *ret_differences)
{
	bool ratios = true;

	for (size_t i = 0; i < pairs->n; i++)
		ratios = ratios && pairs->base[i] > 0 && pairs->arm[i] > 0;
	for (size_t i = 0; i < pairs->n; i++)
		ret_differences[i] = ratios ? log(pairs->arm[i] / pairs->base[i])
					    : pairs->arm[i] - pairs->base[i];
	return ratios;
}

static double test_paired(const struct pairs *pairs)
{
	double differences[SPEC_MAX_ROUNDS], p;

	pair_differences(pairs, differences);
	return signed_rank_test(differences, pairs->n, &p) ? NAN : p;
}

/* With n - 1; NAN for fewer than two values. */
static double deviation(const double *values, size_t n)
{
	double mean = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		mean += values[i] / (double)n;
	for (size_t i = 0; i < n; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return n < 2 ? NAN : sqrt(sum / (double)(n - 1));
}

/* In units of the standard deviation; NAN where no effect would ever be found. */
static int detectable_sd(struct judgement *judgement, const struct comparison *c, double *ret_sd)
{
	double *known = &judgement->detectable_sd[c->in_family][c->pairs.n], alpha;
	const struct spec *spec = judgement->spec;
	int ret;

	if (!*known) {
		alpha = spec->alpha / (double)(c->in_family ? judgement->family.size : 1);
		ret = spec->test == SPEC_TEST_PAIRED
			      ? power_detectable_paired_sd(c->pairs.n, alpha, known)
			      : power_detectable_sd(c->pairs.n, alpha, known);
		if (ret == -ENOMEM)
			return ret;
		if (ret)
			*known = NAN;
	}
	*ret_sd = *known;
	return 0;
}

/* The smallest change that the plan's test would find, as a fraction of the base's median. */
static int find_detectable(struct judgement *judgement, struct comparison *c)
{
	double differences[SPEC_MAX_ROUNDS], median = fabs(c->pairs.median_base), sd, noise;
	const struct pairs *pairs = &c->pairs;
	int ret;

	c->detectable = NAN;
	ret = detectable_sd(judgement, c, &sd);
	if (ret)
		return ret;
	if (judgement->spec->test == SPEC_TEST_PAIRED) {
		bool ratios = pair_differences(pairs, differences);

		noise = sd * deviation(differences, pairs->n);
		if (ratios)
			c->detectable = expm1(noise);
		else if (median > 0)
			c->detectable = noise / median;
	} else if (median > 0) {
		noise = hypot(deviation(pairs->base, pairs->n), deviation(pairs->arm, pairs->n));
		c->detectable = sd * noise * M_SQRT1_2 / median;
	}
	return 0;
}

static int compute(struct judgement *judgement, struct comparison *c)
{
	const struct spec *spec = judgement->spec;
	double median;
	int ret;

	series_pair(series_at(judgement->series, spec, c->scenario, c->metric, 0),
		    series_at(judgement->series, spec, c->scenario, c->metric, c->arm),
		    spec->rounds, &c->pairs);
	c->p = test_rank(&c->pairs);
	c->p_floor = rank_test_floor(c->pairs.n, c->pairs.n);
	c->paired_p = test_paired(&c->pairs);
	c->paired_p_floor = signed_rank_floor(c->pairs.n);
	c->p_holm = NAN;
	ret = shift_estimate(c->pairs.base, c->pairs.n, c->pairs.arm, c->pairs.n, 1 - spec->alpha,
			     &c->shift);
	if (ret == -ENOMEM)
		return ret;
	if (ret)
		c->shift = (struct shift){NAN, NAN, NAN, NAN};
	median = fabs(c->pairs.median_base);
	c->change_low = median > 0 ? c->shift.low / median : NAN;
	c->change_high = median > 0 ? c->shift.high / median : NAN;
	return find_detectable(judgement, c);
}

static double primary_p(const struct judgement *judgement, const struct comparison *c)
{
	return judgement->spec->test == SPEC_TEST_PAIRED ? c->paired_p : c->p;
}

/* The family is as large as the plan made it: what has no data counts as p = 1. */
static int correct(struct judgement *judgement)
{
	double *p = calloc(judgement->n + 1, sizeof(*p));
	size_t n = 0;
	int ret;

	if (!p)
		return -ENOMEM;
	for (size_t i = 0; i < judgement->n; i++) {
		const struct comparison *c = &judgement->comparisons[i];

		if (c->in_family)
			p[n++] = isnan(primary_p(judgement, c)) ? 1 : primary_p(judgement, c);
	}
	ret = holm_adjust(p, n, p);
	for (size_t i = 0, at = 0; !ret && i < judgement->n; i++)
		if (judgement->comparisons[i].in_family)
			judgement->comparisons[i].p_holm = p[at++];
	free(p);
	return ret;
}

/*
 * The shift decides which way a change goes. Where the paired test was made and the pairs go the
 * other way, or neither, its small p is no word for the shift's direction.
 */
static double direction(const struct judgement *judgement, const struct comparison *c)
{
	double differences[SPEC_MAX_ROUNDS], positive = 0;

	if (judgement->spec->test == SPEC_TEST_RANK)
		return c->shift.shift;
	pair_differences(&c->pairs, differences);
	for (size_t i = 0; i < c->pairs.n; i++)
		positive += (differences[i] > 0) - (differences[i] < 0);
	return positive * c->shift.shift > 0 ? c->shift.shift : 0;
}

static void judge(const struct judgement *judgement, struct comparison *c)
{
	const struct spec *spec = judgement->spec;
	struct verdict_input input = {
		.better = spec->metrics[c->metric].better,
		.n = c->pairs.n,
		.n_planned = spec->rounds,
		.alpha = spec->alpha,
		.p = primary_p(judgement, c),
		.p_floor = spec->test == SPEC_TEST_PAIRED ? c->paired_p_floor : c->p_floor,
		.p_holm = c->p_holm,
		.family_size = c->in_family ? judgement->family.size : 0,
		.delta = c->pairs.delta,
		.shift = direction(judgement, c),
		.change_low = c->change_low,
		.change_high = c->change_high,
		.floor = floor_at(judgement, c->scenario, c->metric)->floor,
		.margin = spec->margin > 0 ? spec->margin : NAN,
		.detectable = c->detectable,
	};

	verdict_make(&input, &c->verdict);
}

/**
 * judge_compute() - tests, correction and verdicts; without the database
 * @stop: asked between two comparisons whether to give up
 *
 * Return: 0, -ECANCELED when @stop said so, -ENOMEM.
 */
int judge_compute(struct judgement *judgement, bool (*stop)(void *arg), void *arg)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < judgement->n; i++)
		ret = stop && stop(arg) ? -ECANCELED
					: compute(judgement, &judgement->comparisons[i]);
	ret = ret ?: correct(judgement);
	for (size_t i = 0; !ret && i < judgement->n; i++)
		judge(judgement, &judgement->comparisons[i]);
	return ret;
}

static const char *or_null(const char *text)
{
	return *text ? text : NULL;
}

static int store(sqlite3 *db, const struct judgement *judgement, const struct comparison *c)
{
	const struct aa_floor *floor = floor_at(judgement, c->scenario, c->metric);
	const struct spec *spec = judgement->spec;

	return db_run(
		db,
		"UPDATE compare SET p = ?5, p_floor = ?6, p_holm = ?7, paired_p = ?8,"
		" paired_p_floor = ?9, shift = ?10, shift_low = ?11, shift_high = ?12,"
		" shift_level = ?13, change_low = ?14, change_high = ?15, no_larger = ?16,"
		" detectable = ?17, floor = ?18, floor_pairs = nullif(?19, 0), verdict = ?20,"
		" why = ?21"
		" WHERE experiment = ?1 AND scenario = ?2 AND metric = ?3 AND arm = ?4",
		"itttdddddddddddddditt", judgement->experiment, spec->scenarios[c->scenario].name,
		spec->metrics[c->metric].name, spec->arms[c->arm].name, c->p, c->p_floor, c->p_holm,
		c->paired_p, c->paired_p_floor, c->shift.shift, c->shift.low, c->shift.high,
		c->shift.level, c->change_low, c->change_high, c->verdict.no_larger, c->detectable,
		floor->floor, floor->pairs, or_null(c->verdict.text), or_null(c->verdict.why));
}

/**
 * judge_store() - store what judge_compute() found, and that it was judged; in the caller's
 * transaction
 *
 * Return: 0 or negative errno.
 */
int judge_store(sqlite3 *db, const struct judgement *judgement)
{
	int ret = 0;

	if (!judgement->spec)
		ret = db_run(
			db, "UPDATE compare SET why = ?2 WHERE experiment = ?1 AND verdict IS NULL",
			"it", judgement->experiment, judgement->why);
	else
		ret = judge_note_plan(db, judgement->experiment, judgement->spec);
	for (size_t i = 0; !ret && i < judgement->n; i++)
		ret = store(db, judgement, &judgement->comparisons[i]);
	return ret
		       ?: db_run(db, "UPDATE experiment SET judged = ?2 WHERE id = ?1", "ii",
				 judgement->experiment, (int64_t)JUDGE_VERSION);
}

/**
 * judge_note_plan() - what the plan says of its comparisons: its alpha, test and margin, and which
 * of them are the family
 *
 * Return: 0 or negative errno.
 */
int judge_note_plan(sqlite3 *db, int64_t experiment, const struct spec *spec)
{
	struct family family = family_of(spec);
	int ret;

	ret = db_run(db,
		     "UPDATE compare SET in_family = 0, family_size = NULL, alpha = ?2, test = ?3,"
		     " margin = ?4 WHERE experiment = ?1",
		     "idtd", experiment, spec->alpha, spec_test_name(spec->test),
		     spec->margin > 0 ? spec->margin : NAN);
	for (size_t s = 0; !ret && s < spec->n_scenarios; s++) {
		for (size_t m = 0; !ret && m < spec->n_metrics; m++) {
			if (!spec->primary_scenario[s] || !spec->metrics[m].primary)
				continue;
			ret = db_run(db,
				     "UPDATE compare SET in_family = 1, family_size = ?5"
				     " WHERE experiment = ?1 AND scenario = ?2 AND metric = ?3"
				     " AND arm = ?4",
				     "ittti", experiment, spec->scenarios[s].name,
				     spec->metrics[m].name, spec->arms[spec->primary_arm].name,
				     (int64_t)family.size);
		}
	}
	return ret;
}

/**
 * judge_find() - an experiment that is over and was not judged by this version of the statistics
 *
 * An imported one keeps the verdicts that it came with, for the A/A pairs behind them are not here.
 *
 * Return: 0, -ENOENT when there is none, or another negative errno.
 */
int judge_find(sqlite3 *db, int64_t *ret_experiment)
{
	return db_get_int(db, ret_experiment,
			  "SELECT id FROM experiment WHERE state IN ('done', 'cancelled', 'failed')"
			  " AND judged < iif(origin_json IS NULL, ?1, 1) ORDER BY id LIMIT 1",
			  "i", (int64_t)JUDGE_VERSION);
}

/**
 * judge_others() - when an A/A experiment ends: have the machine's other experiments judged anew,
 * for its pairs are a part of their noise floor now
 * @experiment: may be any; only one of kind 'aa' has an effect
 *
 * Return: 0 or negative errno.
 */
int judge_others(sqlite3 *db, int64_t experiment)
{
	return db_run(db,
		      "UPDATE experiment SET judged = 0 WHERE id <> ?1 AND state = 'done'"
		      " AND origin_json IS NULL AND machine = "
		      "(SELECT machine FROM experiment WHERE id = ?1 AND kind = 'aa')",
		      "i", experiment);
}
