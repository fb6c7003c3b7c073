// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a result takes from the single runs below its boots: the intervals of their p99.9, and
 * whether boots differ by more than the runs inside them do.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "plan/result_runs.h"
#include "plan/spec.h"
#include "stats/percentile.h"
#include "stats/variance.h"
#include "store/db.h"

#define MAX_RUNS (SPEC_MAX_ROUNDS * SPEC_MAX_REPEATS)

enum figure { VALUE, LOW, HIGH, N_FIGURES };

/**
 * struct runs - the used runs of one scenario, metric and arm, in the order of their boots
 * @key: names of the scenario, the metric and the arm; the caller's to free
 * @boot: round - 1
 * @figures: NAN where a run has none
 */
struct runs {
	char *key[3];
	size_t n;
	size_t boot[MAX_RUNS];
	double figures[N_FIGURES][MAX_RUNS];
};

/* The median over the boots of the medians of their runs; NAN when one of the runs has none. */
static double median_of_boots(const struct runs *runs, enum figure figure)
{
	double sorted[MAX_RUNS], boots[SPEC_MAX_ROUNDS], median = NAN;
	size_t n_boots = 0, first, next;

	memcpy(sorted, runs->figures[figure], runs->n * sizeof(*sorted));
	for (first = 0; first < runs->n; first = next) {
		for (next = first; next < runs->n && runs->boot[next] == runs->boot[first]; next++)
			if (isnan(sorted[next]))
				return NAN;
		median_f64(sorted + first, next - first, &boots[n_boots++]);
	}
	median_f64(boots, n_boots, &median);
	return median;
}

/* NAN, which is no JSON, becomes null. */
static int set_real(json_t *object, const char *key, double value)
{
	return json_object_set_new(object, key, isnan(value) ? json_null() : json_real(value));
}

/* NULL in *ret_text where no boot has two runs, or only one boot has any. */
static int variance_text(const struct runs *runs, char **ret_text)
{
	struct variance var;
	json_t *json;
	int ret;

	*ret_text = NULL;
	ret = variance_one_way(runs->figures[VALUE], runs->boot, runs->n, SPEC_MAX_ROUNDS, &var);
	if (ret)
		return ret == -ENOMEM ? ret : 0;
	json = json_pack("{s:I, s:I}", "boots", (json_int_t)var.boots, "runs",
			 (json_int_t)var.runs);
	set_real(json, "within", var.within);
	set_real(json, "between", var.between);
	set_real(json, "boot_variance", var.boot_variance);
	set_real(json, "icc", var.icc);
	set_real(json, "f", var.f);
	set_real(json, "p", var.p);
	*ret_text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(json);
	return *ret_text ? 0 : -ENOMEM;
}

static int store(sqlite3 *db, int64_t experiment, struct runs *runs)
{
	char *variance;
	int ret;

	if (!runs->n)
		return 0;
	ret = variance_text(runs, &variance);
	if (ret)
		return ret;
	ret = db_run(db,
		     "UPDATE result SET low = ?5, high = ?6, variance_json = ?7 "
		     "WHERE experiment = ?1 AND scenario = ?2 AND metric = ?3 AND arm = ?4",
		     "itttddt", experiment, runs->key[0], runs->key[1], runs->key[2],
		     median_of_boots(runs, LOW), median_of_boots(runs, HIGH), variance);
	free(variance);
	return ret;
}

static double real_column(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL
		       ? NAN
		       : sqlite3_column_double(stmt, column);
}

static bool same_key(const struct runs *runs, sqlite3_stmt *stmt)
{
	for (int i = 0; i < 3; i++)
		if (!runs->key[i] ||
		    strcmp(runs->key[i], (const char *)sqlite3_column_text(stmt, i)))
			return false;
	return true;
}

static int begin_key(struct runs *runs, sqlite3_stmt *stmt)
{
	runs->n = 0;
	for (int i = 0; i < 3; i++) {
		free(runs->key[i]);
		runs->key[i] = strdup((const char *)sqlite3_column_text(stmt, i));
		if (!runs->key[i])
			return -ENOMEM;
	}
	return 0;
}

static void add(struct runs *runs, sqlite3_stmt *stmt)
{
	int64_t round = sqlite3_column_int64(stmt, 3);

	if (runs->n == MAX_RUNS || round < 1 || round > SPEC_MAX_ROUNDS)
		return;
	runs->boot[runs->n] = (size_t)round - 1;
	for (int i = 0; i < N_FIGURES; i++)
		runs->figures[i][runs->n] = real_column(stmt, 4 + i);
	runs->n++;
}

/**
 * result_runs_update() - low, high and variance_json of an experiment's results; in the caller's
 * transaction, after their rows were made
 *
 * An arm's interval of p99.9 is made of the medians of its boots' ends, and has no upper end when a
 * boot's has none.
 *
 * Return: 0 or negative errno.
 */
int result_runs_update(sqlite3 *db, int64_t experiment)
{
	struct runs *runs = calloc(1, sizeof(*runs));
	sqlite3_stmt *stmt;
	int ret, rc;

	if (!runs)
		return -ENOMEM;
	ret = db_prepare(db, &stmt,
			 "SELECT scenario, metric, arm, round, value, low, high FROM v_sample "
			 "WHERE experiment = ?1 AND used ORDER BY scenario, metric, arm, round",
			 "i", experiment);
	if (ret)
		goto out;
	while (!ret && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (!same_key(runs, stmt))
			ret = store(db, experiment, runs) ?: begin_key(runs, stmt);
		if (!ret)
			add(runs, stmt);
	}
	if (!ret && rc != SQLITE_DONE)
		ret = db_error(db, "reading the runs' samples");
	sqlite3_finalize(stmt);
	ret = ret ?: store(db, experiment, runs);
out:
	for (int i = 0; i < 3; i++)
		free(runs->key[i]);
	free(runs);
	return ret;
}
