// SPDX-License-Identifier: GPL-2.0-only
/* An experiment's values, one per boot, as arrays by round. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/series.h"
#include "stats/percentile.h"
#include "store/db.h"

/** series_at() - of one scenario, metric and arm, by their places in the spec */
struct series *series_at(struct series *series, const struct spec *spec, size_t scenario,
			 size_t metric, size_t arm)
{
	return &series[(scenario * spec->n_metrics + metric) * spec->n_arms + arm];
}

/* The series of a row, by the names in its columns 3 to 5; NULL for what the spec does not know. */
static struct series *find_series(struct series *series, const struct spec *spec,
				  sqlite3_stmt *stmt)
{
	const char *scenario = (const char *)sqlite3_column_text(stmt, 3);
	const char *metric = (const char *)sqlite3_column_text(stmt, 4);
	const char *arm = (const char *)sqlite3_column_text(stmt, 5);
	size_t s, m, a;

	for (s = 0; s < spec->n_scenarios && strcmp(spec->scenarios[s].name, scenario); s++)
		;
	for (m = 0; m < spec->n_metrics && strcmp(spec->metrics[m].name, metric); m++)
		;
	for (a = 0; a < spec->n_arms && strcmp(spec->arms[a].name, arm); a++)
		;
	if (s == spec->n_scenarios || m == spec->n_metrics || a == spec->n_arms)
		return NULL;
	return series_at(series, spec, s, m, a);
}

/**
 * series_read() - the used values of all boots, those of void pairs left out
 * @ret_series: freed by the caller; series_at() finds its way in it
 *
 * Return: 0 or negative errno.
 */
int series_read(sqlite3 *db, int64_t experiment, const struct spec *spec,
		struct series **ret_series)
{
	size_t n = spec->n_scenarios * spec->n_metrics * spec->n_arms;
	struct series *all = calloc(n + 1, sizeof(*all)), *series;
	sqlite3_stmt *stmt;
	int ret, rc;

	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		for (size_t round = 0; round < SPEC_MAX_ROUNDS; round++)
			all[i].value[round] = NAN;
	ret = db_prepare(db, &stmt,
			 "SELECT round, value, n_events, scenario, metric, arm FROM v_boot_sample "
			 "WHERE experiment = ?1 AND used",
			 "i", experiment);
	if (ret)
		goto out_free;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		int64_t round = sqlite3_column_int64(stmt, 0);

		series = find_series(all, spec, stmt);
		if (round < 1 || round > spec->rounds || !series)
			continue;
		series->value[round - 1] = sqlite3_column_double(stmt, 1);
		series->n_events[round - 1] = sqlite3_column_int64(stmt, 2);
	}
	if (rc != SQLITE_DONE)
		ret = db_error(db, "reading samples");
	sqlite3_finalize(stmt);
	if (!ret) {
		*ret_series = all;
		return 0;
	}
out_free:
	free(all);
	return ret;
}

/** series_pair() - the rounds in which both have a value, and their medians */
void series_pair(const struct series *base, const struct series *arm, size_t rounds,
		 struct pairs *ret_pairs)
{
	double b[SPEC_MAX_ROUNDS], a[SPEC_MAX_ROUNDS];
	struct pairs *pairs = ret_pairs;

	*pairs = (struct pairs){.median_base = NAN, .median_arm = NAN};
	for (size_t i = 0; i < rounds; i++) {
		if (isnan(base->value[i]) || isnan(arm->value[i]))
			continue;
		b[pairs->n] = pairs->base[pairs->n] = base->value[i];
		a[pairs->n] = pairs->arm[pairs->n] = arm->value[i];
		pairs->n++;
	}
	median_f64(b, pairs->n, &pairs->median_base);
	median_f64(a, pairs->n, &pairs->median_arm);
	pairs->delta = pairs->median_base == 0 ? NAN : pairs->median_arm / pairs->median_base - 1;
}
