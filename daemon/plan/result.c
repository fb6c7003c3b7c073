// SPDX-License-Identifier: GPL-2.0-only
/*
 * From samples to medians and deltas: which pairs are void and why, one value per boot, one median
 * per arm. Recomputed whole after each boot, so that there is one way to get there.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/exec.h"
#include "stats/paired.h"
#include "stats/percentile.h"
#include "store/db.h"

/* What is known of one arm's boot in one round, for one scenario. */
enum cell_state {
	CELL_PENDING, /* not booted yet: no pair, and not a void one */
	CELL_GOOD,
	CELL_BAD,
};

struct cell {
	enum cell_state state;
	char reason[160];
	char env_key[65];
};

struct series;

struct grid {
	const struct spec *spec;
	int64_t experiment;
	struct cell *cells;    /* [round - 1][scenario][arm] */
	struct series *series; /* [scenario][metric][arm] */
};

static struct cell *cell_at(const struct grid *grid, size_t round, size_t scenario, size_t arm)
{
	return &grid->cells[((round - 1) * grid->spec->n_scenarios + scenario) *
				    grid->spec->n_arms +
			    arm];
}

/*
 * Only the plan's rules make a cell bad: a void slot, a run that failed, lost too much, whose books
 * do not balance or whose kernel was tainted, or a boot that ended by a fault of the kernel.
 */
static const char cells_sql[] =
	"SELECT s.state,"
	" CASE WHEN s.state = 'void' THEN s.reason ELSE coalesce("
	"  (SELECT printf('run %d: %s', r.id,"
	"    CASE WHEN r.state = 'failed' THEN coalesce(nullif(r.reason, ''), 'failed')"
	"         WHEN r.lost > ?5 THEN printf('lost %d events', r.lost)"
	"         WHEN NOT r.complete THEN coalesce("
	"          (SELECT printf('Xen''s buffer of CPU %d was not read to its end', g.cpu) FROM ring g"
	"           WHERE g.run = r.id AND iif(g.source = 'xen', json_extract(g.detail, '$.closed'), 1) = 0),"
	"          'read + lost does not equal written')"
	"         WHEN json_extract(r.done_json, '$.taint') <> 0 THEN 'the kernel is tainted'"
	"         ELSE printf('boot %d ended: %s', b.id, b.state) END)"
	"   FROM run r JOIN boot b ON b.id = r.boot"
	"   WHERE r.slot = s.id AND r.scenario = ?4 AND r.state IN ('ok', 'failed')"
	"    AND (r.state = 'failed' OR r.lost > ?5 OR NOT r.complete"
	"         OR json_extract(r.done_json, '$.taint') <> 0"
	"         OR b.state IN ('panic', 'oops', 'hung', 'wrong-kernel', 'boot-timeout'))"
	"   LIMIT 1),"
	"  CASE WHEN (SELECT count(*) FROM run r WHERE r.slot = s.id AND r.scenario = ?4 AND r.state = 'ok')"
	"            < ?6 THEN 'not every run finished' ELSE '' END) END,"
	" (SELECT b.env_key FROM run r JOIN boot b ON b.id = r.boot"
	"  WHERE r.slot = s.id AND r.scenario = ?4 AND r.state = 'ok' ORDER BY r.id LIMIT 1)"
	"FROM slot s WHERE s.experiment = ?1 AND s.round = ?2 AND s.arm = ?3";

static int read_cell(sqlite3 *db, const struct grid *grid, size_t round, size_t scenario,
		     size_t arm)
{
	struct cell *cell = cell_at(grid, round, scenario, arm);
	const struct spec *spec = grid->spec;
	sqlite3_stmt *stmt;
	const char *text;
	int ret;

	ret = db_prepare(db, &stmt, cells_sql, "iittii", grid->experiment, (int64_t)round,
			 spec->arms[arm].name, spec->scenarios[scenario].name,
			 (int64_t)spec->max_lost, (int64_t)spec->repeats);
	if (ret)
		return ret;
	if (sqlite3_step(stmt) == SQLITE_ROW) {
		text = (const char *)sqlite3_column_text(stmt, 1);
		snprintf(cell->reason, sizeof(cell->reason), "%s", text ?: "");
		cell->state = !strcmp((const char *)sqlite3_column_text(stmt, 0), "planned")
				      ? CELL_PENDING
			      : *cell->reason ? CELL_BAD
					      : CELL_GOOD;
		text = (const char *)sqlite3_column_text(stmt, 2);
		snprintf(cell->env_key, sizeof(cell->env_key), "%s", text ?: "");
	}
	sqlite3_finalize(stmt);
	return 0;
}

static int note_void(sqlite3 *db, const struct grid *grid, size_t round, size_t scenario,
		     size_t arm, const char *reason)
{
	return db_run(db,
		      "INSERT INTO void_pair (experiment, round, scenario, arm, reason) "
		      "VALUES (?1, ?2, ?3, ?4, ?5)",
		      "iittt", grid->experiment, (int64_t)round,
		      grid->spec->scenarios[scenario].name, grid->spec->arms[arm].name, reason);
}

/* A pair is the base (the first arm) and another arm; what has no good pair is not used. */
static int judge_pairs(sqlite3 *db, const struct grid *grid, size_t round, size_t scenario)
{
	const struct cell *base = cell_at(grid, round, scenario, 0);
	size_t voids = 0;
	char reason[256];
	int ret = 0;

	for (size_t arm = 1; !ret && arm < grid->spec->n_arms; arm++) {
		const struct cell *cell = cell_at(grid, round, scenario, arm);

		*reason = '\0';
		if (cell->state == CELL_BAD)
			snprintf(reason, sizeof(reason), "%s", cell->reason);
		else if (base->state == CELL_BAD)
			snprintf(reason, sizeof(reason), "%s: %s", grid->spec->arms[0].name,
				 base->reason);
		else if (cell->state == CELL_GOOD && base->state == CELL_GOOD &&
			 strcmp(cell->env_key, base->env_key))
			snprintf(reason, sizeof(reason), "environment differs from that of %s",
				 grid->spec->arms[0].name);
		if (!*reason)
			continue;
		voids++;
		ret = note_void(db, grid, round, scenario, arm, reason);
	}
	if (!ret && base->state == CELL_BAD)
		ret = note_void(db, grid, round, scenario, 0, base->reason);
	else if (!ret && voids == grid->spec->n_arms - 1)
		ret = note_void(db, grid, round, scenario, 0,
				"no other arm has a good run in this round");
	return ret;
}

static int update_voids(sqlite3 *db, const struct grid *grid)
{
	int ret;

	ret = db_run(db, "DELETE FROM void_pair WHERE experiment = ?1", "i", grid->experiment);
	for (size_t round = 1; !ret && round <= grid->spec->rounds; round++) {
		for (size_t scenario = 0; !ret && scenario < grid->spec->n_scenarios; scenario++) {
			for (size_t arm = 0; !ret && arm < grid->spec->n_arms; arm++)
				ret = read_cell(db, grid, round, scenario, arm);
			if (!ret)
				ret = judge_pairs(db, grid, round, scenario);
		}
	}
	return ret;
}

/* Values by round; a round without a used value has none. */
struct series {
	double value[SPEC_MAX_ROUNDS];
	bool have[SPEC_MAX_ROUNDS];
	int64_t n_events[SPEC_MAX_ROUNDS];
};

static struct series *series_at(const struct grid *grid, size_t scenario, size_t metric, size_t arm)
{
	const struct spec *spec = grid->spec;

	return &grid->series[(scenario * spec->n_metrics + metric) * spec->n_arms + arm];
}

/* The names of a row as indices; false for a row that the spec does not know. */
static bool find_series(const struct grid *grid, sqlite3_stmt *stmt, struct series **ret_series)
{
	const char *scenario = (const char *)sqlite3_column_text(stmt, 3);
	const char *metric = (const char *)sqlite3_column_text(stmt, 4);
	const char *arm = (const char *)sqlite3_column_text(stmt, 5);
	const struct spec *spec = grid->spec;
	size_t s, m, a;

	for (s = 0; s < spec->n_scenarios && strcmp(spec->scenarios[s].name, scenario); s++)
		;
	for (m = 0; m < spec->n_metrics && strcmp(spec->metrics[m].name, metric); m++)
		;
	for (a = 0; a < spec->n_arms && strcmp(spec->arms[a].name, arm); a++)
		;
	if (s == spec->n_scenarios || m == spec->n_metrics || a == spec->n_arms)
		return false;
	*ret_series = series_at(grid, s, m, a);
	return true;
}

static int read_samples(sqlite3 *db, const struct grid *grid)
{
	struct series *series;
	sqlite3_stmt *stmt;
	int ret, rc;

	ret = db_prepare(db, &stmt,
			 "SELECT round, value, n_events, scenario, metric, arm FROM v_boot_sample "
			 "WHERE experiment = ?1 AND used",
			 "i", grid->experiment);
	if (ret)
		return ret;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t round = sqlite3_column_int64(stmt, 0);

		if (round < 1 || round > grid->spec->rounds || !find_series(grid, stmt, &series))
			continue;
		series->value[round - 1] = sqlite3_column_double(stmt, 1);
		series->n_events[round - 1] = sqlite3_column_int64(stmt, 2);
		series->have[round - 1] = true;
	}
	if (rc != SQLITE_DONE)
		ret = db_error(db, "reading samples");
	sqlite3_finalize(stmt);
	return ret;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int note_result(sqlite3 *db, const struct grid *grid, const char *scenario,
		       const char *metric, const char *arm, const struct series *series)
{
	double sorted[SPEC_MAX_ROUNDS], events[SPEC_MAX_ROUNDS], median, n_events;
	json_t *values = json_array();
	size_t n = 0;
	char *text;
	int ret;

	for (size_t i = 0; i < grid->spec->rounds; i++) {
		if (!series->have[i])
			continue;
		json_array_append_new(values, json_real(series->value[i]));
		events[n] = series->n_events[i];
		sorted[n++] = series->value[i];
	}
	text = json_dumps(values, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(values);
	if (!text)
		return -ENOMEM;
	if (!n) {
		ret = db_run(
			db,
			"INSERT INTO result (experiment, scenario, metric, arm, n, values_json) "
			"VALUES (?1, ?2, ?3, ?4, 0, '[]')",
			"ittt", grid->experiment, scenario, metric, arm);
	} else {
		qsort(sorted, n, sizeof(*sorted), by_value);
		median_f64(sorted, n, &median);
		median_f64(events, n, &n_events);
		ret = db_run(
			db,
			"INSERT INTO result (experiment, scenario, metric, arm, n, median, min, max,"
			" n_events, values_json) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
			"itttidddit", grid->experiment, scenario, metric, arm, (int64_t)n, median,
			sorted[0], sorted[n - 1], (int64_t)n_events, text);
	}
	free(text);
	return ret;
}

/* By round, null for a round without a ratio. */
static char *ratios_text(const double *ratios, size_t n)
{
	json_t *array = json_array();
	char *text;

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, isnan(ratios[i]) ? json_null() : json_real(ratios[i]));
	text = json_dumps(array, JSON_COMPACT | JSON_REAL_PRECISION(17));
	json_decref(array);
	return text;
}

/* Of the medians over the same rounds, those whose pair is good; NAN where there is none. */
static double median_delta(const double *base, const double *arm, size_t rounds)
{
	double b[SPEC_MAX_ROUNDS], a[SPEC_MAX_ROUNDS], median_b, median_a;
	size_t n = 0;

	for (size_t i = 0; i < rounds; i++) {
		if (isnan(base[i]) || isnan(arm[i]))
			continue;
		b[n] = base[i];
		a[n++] = arm[i];
	}
	if (median_f64(b, n, &median_b) || median_f64(a, n, &median_a) || median_b == 0)
		return NAN;
	return median_a / median_b - 1;
}

/* SQLite stores a NAN as NULL. */
static int note_compare(sqlite3 *db, const struct grid *grid, const char *scenario,
			const char *metric, const char *arm, const struct series *base,
			const struct series *other)
{
	double b[SPEC_MAX_ROUNDS] = {}, a[SPEC_MAX_ROUNDS] = {}, ratios[SPEC_MAX_ROUNDS];
	size_t rounds = grid->spec->rounds;
	struct paired paired;
	char *text;
	int ret;

	for (size_t i = 0; i < rounds; i++) {
		b[i] = base->have[i] ? base->value[i] : NAN;
		a[i] = other->have[i] ? other->value[i] : NAN;
	}
	ret = paired_compare(b, a, rounds, ratios, &paired);
	if (ret)
		return ret;
	text = ratios_text(ratios, rounds);
	if (!text)
		return -ENOMEM;
	ret = db_run(db,
		     "INSERT INTO compare (experiment, scenario, metric, base, arm, delta, n_pairs,"
		     " n_lower, n_equal, n_higher, paired_delta, ratios_json)"
		     " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
		     "ittttdiiiidt", grid->experiment, scenario, metric, grid->spec->arms[0].name,
		     arm, median_delta(b, a, rounds), (int64_t)paired.n, (int64_t)paired.n_lower,
		     (int64_t)paired.n_equal, (int64_t)paired.n_higher, paired.delta, text);
	free(text);
	return ret;
}

static int update_row(sqlite3 *db, const struct grid *grid, size_t scenario, size_t metric)
{
	const char *scenario_name = grid->spec->scenarios[scenario].name;
	const char *metric_name = grid->spec->metrics[metric].name;
	const struct series *base = series_at(grid, scenario, metric, 0);
	int ret = 0;

	for (size_t arm = 0; !ret && arm < grid->spec->n_arms; arm++) {
		const char *name = grid->spec->arms[arm].name;
		const struct series *series = series_at(grid, scenario, metric, arm);

		ret = note_result(db, grid, scenario_name, metric_name, name, series);
		if (!ret && arm)
			ret = note_compare(db, grid, scenario_name, metric_name, name, base,
					   series);
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
	struct grid grid = {.spec = spec, .experiment = experiment};
	int ret;

	grid.cells = calloc((size_t)spec->rounds * spec->n_scenarios * spec->n_arms,
			    sizeof(*grid.cells));
	grid.series = calloc(spec->n_scenarios * spec->n_metrics * spec->n_arms + 1,
			     sizeof(*grid.series));
	if (!grid.cells || !grid.series) {
		ret = -ENOMEM;
		goto out_free;
	}
	ret = db_begin(db);
	if (ret)
		goto out_free;
	ret = update_voids(db, &grid) ?: read_samples(db, &grid) ?:
	      db_run(db, "DELETE FROM result WHERE experiment = ?1", "i", experiment) ?:
	      db_run(db, "DELETE FROM compare WHERE experiment = ?1", "i", experiment);
	for (size_t s = 0; !ret && s < spec->n_scenarios; s++) {
		for (size_t m = 0; !ret && m < spec->n_metrics; m++)
			ret = update_row(db, &grid, s, m);
	}
	ret = db_end(db, ret);
out_free:
	free(grid.series);
	free(grid.cells);
	return ret;
}
