// SPDX-License-Identifier: GPL-2.0-only
/*
 * The time that a plan will take: the boots of one slot cost the median of what boots of that
 * machine and subject cost beside their runs; a run costs the median of those with the same
 * arguments, storing included. All slots are alike, and as many are in work as the machine allows.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/estimate.h"
#include "store/db.h"

/* What was measured on another host says nothing of this one; the newest experiments are enough. */
#define KNOWN_STATES "e.origin_json IS NULL AND e.state IN ('running', 'done', 'cancelled')"
#define KNOWN_MAX "20"

/* The median of the column ns of a table "v", in seconds, and of how many it is. */
#define MEDIAN_OF_V                                                                           \
	"SELECT avg(ns) / 1e9, max(n) FROM (SELECT ns, row_number() OVER (ORDER BY ns) AS k," \
	" count(*) OVER () AS n FROM v) WHERE k IN ((n + 1) / 2, (n + 2) / 2)"

static const char boot_sql[] =
	"WITH known AS (SELECT e.id FROM experiment e WHERE e.machine = ?1 AND e.subject = ?2"
	"  AND " KNOWN_STATES " ORDER BY e.id DESC LIMIT " KNOWN_MAX "),"
	" v AS (SELECT b.ended - b.started - coalesce((SELECT sum(r.ended - r.started) FROM run r"
	"   WHERE r.boot = b.id), 0) AS ns"
	"  FROM known CROSS JOIN slot s ON s.experiment = known.id CROSS JOIN boot b ON b.slot = s.id"
	"  WHERE b.state = 'ok' AND b.ended IS NOT NULL)" MEDIAN_OF_V;

/* ?3: the arguments, or NULL for any. */
static const char run_sql[] =
	"WITH known AS (SELECT n.experiment, n.name FROM scenario n JOIN experiment e"
	"   ON e.id = n.experiment WHERE e.machine = ?1 AND n.workload = ?2"
	"   AND (?3 IS NULL OR n.args = ?3) AND " KNOWN_STATES
	"  ORDER BY n.experiment DESC LIMIT " KNOWN_MAX "),"
	" v AS (SELECT r.ended - r.started + coalesce(r.ingest_ns, 0) AS ns"
	"  FROM known CROSS JOIN slot s ON s.experiment = known.experiment"
	"  CROSS JOIN run r ON r.slot = s.id AND r.scenario = known.name"
	"  WHERE r.state = 'ok' AND r.ended IS NOT NULL)" MEDIAN_OF_V;

/* Ends @stmt; @ret_n is 0 where nothing is known. */
static int read_median(sqlite3 *db, sqlite3_stmt *stmt, double *ret_seconds, int64_t *ret_n)
{
	int ret = 0;

	if (sqlite3_step(stmt) == SQLITE_ROW) {
		*ret_seconds = sqlite3_column_double(stmt, 0);
		*ret_n = sqlite3_column_int64(stmt, 1);
	} else {
		ret = db_error(db, "what past boots and runs took");
	}
	sqlite3_finalize(stmt);
	return ret;
}

/* @args: NULL for the workload whatever its arguments */
static int run_median(sqlite3 *db, const struct spec *spec, const struct spec_scenario *scenario,
		      const char *args, double *ret_seconds, int64_t *ret_n)
{
	sqlite3_stmt *stmt;
	int ret;

	ret = db_prepare(db, &stmt, run_sql, "ttt", spec->machine, scenario->workload, args);
	return ret ?: read_median(db, stmt, ret_seconds, ret_n);
}

/* Of one scenario; @ret_exact is false when runs with other arguments have to stand in. */
static int look_at_runs(sqlite3 *db, const struct spec *spec, const struct spec_scenario *scenario,
			double *ret_seconds, int64_t *ret_n, bool *ret_exact)
{
	char *args = json_dumps(scenario->args, JSON_COMPACT);
	int ret;

	ret = args ? run_median(db, spec, scenario, args, ret_seconds, ret_n) : -ENOMEM;
	free(args);
	*ret_exact = !ret && *ret_n;
	if (!ret && !*ret_n)
		ret = run_median(db, spec, scenario, NULL, ret_seconds, ret_n);
	return ret;
}

static int look_at_boots(sqlite3 *db, const struct spec *spec, double *ret_seconds, int64_t *ret_n)
{
	sqlite3_stmt *stmt;
	int ret;

	ret = db_prepare(db, &stmt, boot_sql, "tt", spec->machine, spec->subject);
	return ret ?: read_median(db, stmt, ret_seconds, ret_n);
}

/**
 * estimate_make() - how long a spec's plan will take
 * @db: any connection; only read
 * @capacity: boots that may run side by side on its machine
 *
 * Return: 0, also when nothing is known, or negative errno.
 */
int estimate_make(sqlite3 *db, const struct spec *spec, unsigned int capacity,
		  struct estimate *ret_estimate)
{
	const struct spec_scenario *other = NULL;
	size_t slots = spec->rounds * spec->n_arms;
	struct estimate estimate = {.parallel = capacity < slots ? capacity : slots};
	double slot_s = 0, run_s = 0;
	int64_t n = 0;
	bool exact;
	int ret;

	ret = look_at_boots(db, spec, &slot_s, &estimate.boots_seen);
	if (ret)
		return ret;
	if (!estimate.boots_seen) {
		snprintf(estimate.why, sizeof(estimate.why),
			 "Nothing of subject %s has been booted on machine %s yet.", spec->subject,
			 spec->machine);
		goto out;
	}
	for (size_t i = 0; i < spec->n_scenarios; i++) {
		const struct spec_scenario *scenario = &spec->scenarios[i];

		ret = look_at_runs(db, spec, scenario, &run_s, &n, &exact);
		if (ret)
			return ret;
		if (!n) {
			snprintf(estimate.why, sizeof(estimate.why),
				 "The workload %s has never run on machine %s.", scenario->workload,
				 spec->machine);
			goto out;
		}
		if (!exact && !other)
			other = scenario;
		estimate.runs_seen += n;
		slot_s += spec->repeats * run_s;
	}
	estimate.known = true;
	estimate.seconds = ceil((double)slots / estimate.parallel) * slot_s;
	if (other)
		snprintf(estimate.why, sizeof(estimate.why),
			 "The scenario %s has never run with these args on machine %s; other runs "
			 "of %s stand in.",
			 other->name, spec->machine, other->workload);
	else
		snprintf(estimate.why, sizeof(estimate.why),
			 "Medians of %lld boots and %lld runs on machine %s.",
			 (long long)estimate.boots_seen, (long long)estimate.runs_seen,
			 spec->machine);
out:
	*ret_estimate = estimate;
	return 0;
}
