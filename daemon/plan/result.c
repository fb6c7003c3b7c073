// SPDX-License-Identifier: GPL-2.0-only
/*
 * From samples to medians and deltas: one value per boot, one median per arm. Recomputed whole
 * after each boot, so that there is one way to get there.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "plan/exec.h"
#include "plan/judge.h"
#include "plan/result_runs.h"
#include "plan/series.h"
#include "plan/void_pair.h"
#include "stats/paired.h"
#include "stats/percentile.h"
#include "store/db.h"

static char *dump(json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17));

	json_decref(json);
	return text;
}

static int note_result(sqlite3 *db, int64_t experiment, const struct spec *spec,
		       const char *scenario, const char *metric, const char *arm,
		       const struct series *series)
{
	double values[SPEC_MAX_ROUNDS], events[SPEC_MAX_ROUNDS], median = NAN, n_events = 0;
	json_t *array = json_array();
	size_t n = 0;
	char *text;
	int ret;

	for (size_t i = 0; i < spec->rounds; i++) {
		if (isnan(series->value[i]))
			continue;
		json_array_append_new(array, json_real(series->value[i]));
		events[n] = (double)series->n_events[i];
		values[n++] = series->value[i];
	}
	text = dump(array);
	if (!text)
		return -ENOMEM;
	/* Sorts them. */
	median_f64(values, n, &median);
	median_f64(events, n, &n_events);
	ret = db_run(db,
		     "INSERT INTO result (experiment, scenario, metric, arm, n, median, min, max,"
		     " n_events, values_json)"
		     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, iif(?5, ?9, NULL), ?10)",
		     "itttidddit", experiment, scenario, metric, arm, (int64_t)n, median,
		     n ? values[0] : NAN, n ? values[n - 1] : NAN, (int64_t)n_events, text);
	free(text);
	return ret;
}

/* By round, null for a round without a ratio. */
static char *ratios_text(const double *ratios, size_t n)
{
	json_t *array = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, isnan(ratios[i]) ? json_null() : json_real(ratios[i]));
	return dump(array);
}

/* SQLite stores a NAN as NULL. */
static int note_compare(sqlite3 *db, int64_t experiment, const struct spec *spec,
			const char *scenario, const char *metric, const char *arm,
			const struct series *base, const struct series *other)
{
	double ratios[SPEC_MAX_ROUNDS];
	struct paired paired;
	struct pairs pairs;
	char *text;
	int ret;

	series_pair(base, other, spec->rounds, &pairs);
	ret = paired_compare(base->value, other->value, spec->rounds, ratios, &paired);
	if (ret)
		return ret;
	text = ratios_text(ratios, spec->rounds);
	if (!text)
		return -ENOMEM;
	ret = db_run(db,
		     "INSERT INTO compare (experiment, scenario, metric, base, arm, delta, n_pairs,"
		     " n_lower, n_equal, n_higher, paired_delta, ratios_json)"
		     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
		     "ittttdiiiidt", experiment, scenario, metric, spec->arms[0].name, arm,
		     pairs.delta, (int64_t)paired.n, (int64_t)paired.n_lower,
		     (int64_t)paired.n_equal, (int64_t)paired.n_higher, paired.delta, text);
	free(text);
	return ret;
}

static int update_row(sqlite3 *db, int64_t experiment, const struct spec *spec, struct series *all,
		      size_t scenario, size_t metric)
{
	const char *scenario_name = spec->scenarios[scenario].name;
	const char *metric_name = spec->metrics[metric].name;
	int ret = 0;

	for (size_t arm = 0; !ret && arm < spec->n_arms; arm++) {
		const struct series *series = series_at(all, spec, scenario, metric, arm);
		const char *name = spec->arms[arm].name;

		ret = note_result(db, experiment, spec, scenario_name, metric_name, name, series);
		if (!ret && arm)
			ret = note_compare(db, experiment, spec, scenario_name, metric_name, name,
					   series_at(all, spec, scenario, metric, 0), series);
	}
	return ret;
}

/**
 * result_update() - recompute an experiment's void pairs, medians and deltas from its samples
 * @db: the writer
 *
 * Return: 0 or negative errno; nothing has changed then.
 */
int result_update(sqlite3 *db, int64_t experiment, const struct spec *spec)
{
	struct series *series = NULL;
	int ret;

	ret = db_begin(db);
	if (ret)
		return ret;
	ret = void_pair_update(db, experiment, spec)
		      ?: series_read(db, experiment, spec, &series)
		      ?: db_run(db, "DELETE FROM result WHERE experiment = ?1", "i", experiment)
		      ?: db_run(db, "DELETE FROM compare WHERE experiment = ?1", "i", experiment);
	for (size_t s = 0; !ret && s < spec->n_scenarios; s++) {
		for (size_t m = 0; !ret && m < spec->n_metrics; m++)
			ret = update_row(db, experiment, spec, series, s, m);
	}
	ret = ret ?: result_runs_update(db, experiment) ?: judge_note_plan(db, experiment, spec);
	free(series);
	return db_end(db, ret);
}
