// SPDX-License-Identifier: GPL-2.0-only
#include "base/util.h"
#include "plan/progress.h"
#include "store/db.h"

/*
 * A slot (a planned boot) that is done or void counts with all of its runs. Time left: what the
 * slots behind us cost on average, boots and storing, for each one ahead, less what the boots in
 * work have already taken, over as many as are in work. ?2 is now.
 */
static const char progress_sql[] =
	"WITH e AS (SELECT * FROM experiment WHERE id = ?1),"
	" per AS (SELECT count(*) * coalesce((SELECT json_extract(spec, '$.repeats') FROM e), 1) AS runs"
	"  FROM scenario WHERE experiment = ?1),"
	" s AS (SELECT id, round, position, arm, state FROM slot WHERE experiment = ?1),"
	" n AS (SELECT count(*) AS total, coalesce(sum(state <> 'planned'), 0) AS done FROM s),"
	" cost AS (SELECT coalesce((SELECT sum(b.ended - b.started) FROM s JOIN boot b ON b.slot = s.id"
	"   WHERE s.state <> 'planned'), 0) + coalesce((SELECT sum(r.ingest_ns) FROM s JOIN run r"
	"   ON r.slot = s.id WHERE s.state <> 'planned'), 0) AS ns),"
	" b AS (SELECT b.id, b.attempt, b.state, b.started, s.round, s.position, s.arm"
	"  FROM s JOIN boot b ON b.slot = s.id WHERE b.ended IS NULL ORDER BY b.id),"
	" work AS (SELECT count(*) AS n, total(?2 - started) AS ns FROM b),"
	" first AS (SELECT * FROM b LIMIT 1),"
	" r AS (SELECT run.id, run.scenario, run.place FROM run JOIN first ON run.boot = first.id"
	"  WHERE run.state = 'running' ORDER BY run.id DESC LIMIT 1)"
	"SELECT json_object('experiment', e.id, 'name', e.name, 'state', e.state, 'reason', e.reason,"
	" 'ahead', (SELECT count(*) FROM experiment o WHERE e.state = 'queued' AND o.id < e.id"
	"   AND o.state IN ('queued', 'running')),"
	" 'boots_done', n.done, 'boots_total', n.total,"
	" 'runs_done', (SELECT coalesce(sum(CASE s.state WHEN 'planned' THEN (SELECT count(DISTINCT place)"
	"   FROM run WHERE run.slot = s.id AND run.state IN ('captured', 'ok', 'failed')) ELSE per.runs END), 0)"
	"   FROM s),"
	" 'runs_total', n.total * per.runs,"
	" 'current', json((SELECT json_object('boot', f.id, 'attempt', f.attempt, 'round', f.round,"
	"   'position', f.position, 'arm', f.arm, 'run', r.id, 'scenario', r.scenario)"
	"   FROM first f LEFT JOIN r WHERE e.state = 'running')),"
	" 'running', iif(e.state = 'running', work.n, 0),"
	" 'elapsed_s', (coalesce(e.ended, ?2) - e.started) / 1000000000,"
	" 'eta_s', CASE WHEN e.state = 'running' AND n.done THEN max(1, CAST(((n.total - n.done) * cost.ns"
	"   / n.done - work.ns) / max(1, work.n) / 1000000000 AS INTEGER)) END)"
	" FROM e, n, per, cost, work";

/**
 * progress_json() - how far an experiment is, as one JSON object
 * @db: any connection
 * @ret_json: the caller's to free
 *
 * Return: 0, -ENOENT for no such experiment, or another negative errno.
 */
int progress_json(sqlite3 *db, int64_t experiment, char **ret_json)
{
	return db_get_text(db, ret_json, progress_sql, "ii", experiment, wall_ns());
}
