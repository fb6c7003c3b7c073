// SPDX-License-Identifier: GPL-2.0-only
/* /api/v1/experiments: the list, one, submit, cancel, its boots and its runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/request.h"
#include "plan/progress.h"
#include "plan/sched.h"
#include "store/db.h"

#define IDEMPOTENCY_KEY_MAX 128

/* clang-format off */
static const char list_sql[] =
	"WITH page AS (SELECT * FROM experiment WHERE ?2 = 0 OR id < ?2 ORDER BY id DESC LIMIT ?1)"
	"SELECT json_object('experiments', json((SELECT json_group_array(json_object("
	" 'id', id, 'name', name, 'kind', kind, 'machine', machine, 'subject', subject, 'state', state,"
	" 'reason', reason, 'emulated', " SQL_BOOL("emulated") ","
	" 'arms', json((SELECT json_group_array(name) FROM (SELECT name FROM arm"
	"   WHERE experiment = page.id ORDER BY position))),"
	" 'boots_done', (SELECT count(*) FROM slot WHERE experiment = page.id AND state <> 'planned'),"
	" 'boots_total', (SELECT count(*) FROM slot WHERE experiment = page.id),"
	" 'created', " SQL_TIME("created") ", 'started', " SQL_TIME("started") ","
	" 'ended', " SQL_TIME("ended") ")) FROM page)),"
	" 'next', (SELECT CASE WHEN min(id) > (SELECT min(id) FROM experiment)"
	"   THEN min(id) END FROM page))";
/* clang-format on */

/** experiments_list() - GET /api/v1/experiments, newest first */
void experiments_list(struct request *req)
{
	respond_page(req, list_sql, "experiment");
}

/* clang-format off */
static const char get_sql[] =
	"SELECT json_object('id', id, 'name', name, 'kind', kind, 'machine', machine, 'subject', subject,"
	" 'state', state, 'reason', reason, 'emulated', " SQL_BOOL("emulated") ","
	" 'machine_description', json(machine_json), 'plan_sha256', plan_sha256,"
	" 'created', " SQL_TIME("created") ", 'started', " SQL_TIME("started") ","
	" 'ended', " SQL_TIME("ended") ", 'spec', json(spec),"
	" 'arms', json((SELECT json_group_array(json_object('name', name, 'build', build,"
	"   'manifest', json(build_json))) FROM (SELECT * FROM arm WHERE experiment = e.id"
	"   ORDER BY position))),"
	" 'scenarios', json((SELECT json_group_array(json_object('name', name, 'workload', workload,"
	"   'args', json(args))) FROM (SELECT * FROM scenario WHERE experiment = e.id"
	"   ORDER BY position))),"
	" 'metrics', json((SELECT json_group_array(json_object('name', name, 'unit', unit, 'agg', agg,"
	"   'better', CASE better WHEN -1 THEN 'lower' WHEN 1 THEN 'higher' END,"
	"   'primary', " SQL_BOOL("is_primary") ", 'not_a_result', not_a_result))"
	"   FROM (SELECT * FROM metric WHERE experiment = e.id ORDER BY position))),"
	" 'progress', json(?2),"
	" 'links', json_object('page', '/experiments/' || id,"
	"   'results', '/api/v1/experiments/' || id || '/results',"
	"   'report', '/api/v1/experiments/' || id || '/report',"
	"   'stream', '/api/v1/experiments/' || id || '/stream',"
	"   'boots', '/api/v1/experiments/' || id || '/boots',"
	"   'runs', '/api/v1/experiments/' || id || '/runs'))"
	" FROM experiment e WHERE id = ?1";
/* clang-format on */

/** experiments_get() - GET /api/v1/experiments/{id} */
void experiments_get(struct request *req)
{
	char *progress = NULL, *text = NULL;
	int ret;

	ret = progress_json(req->http->db, req->id, &progress);
	if (!ret)
		ret = db_get_text(req->http->db, &text, get_sql, "it", req->id, progress);
	free(progress);
	respond_row(req, ret, text, "experiment");
}

/**
 * experiments_submit() - POST /api/v1/experiments
 *
 * With an Idempotency-Key that was used before the same experiment is named again, with 200.
 */
void experiments_submit(struct request *req)
{
	struct problem problem = {0};
	const char *key;
	bool created;
	int64_t id;

	key = MHD_lookup_connection_value(req->connection, MHD_HEADER_KIND, "Idempotency-Key");
	if (key && (!*key || strlen(key) > IDEMPOTENCY_KEY_MAX)) {
		respond_error(req, MHD_HTTP_BAD_REQUEST, "Idempotency-Key",
			      "must have 1 to %d characters", IDEMPOTENCY_KEY_MAX);
		return;
	}
	if (sched_submit(req->http->sched, req->body ? req->body : "", req->length, key, &id,
			 &created, &problem))
		respond_problem(req, &problem);
	else
		respond_location(req, created ? MHD_HTTP_CREATED : MHD_HTTP_OK, "experiments", id);
}

/** experiments_cancel() - POST /api/v1/experiments/{id}/cancel; the body is ignored */
void experiments_cancel(struct request *req)
{
	struct problem problem = {0};

	if (sched_cancel(req->http->sched, req->id, &problem))
		respond_problem(req, &problem);
	else
		respond_location(req, MHD_HTTP_ACCEPTED, "experiments", req->id);
}

/** experiments_aa() - POST /api/v1/experiments/{id}/aa; the body is ignored */
void experiments_aa(struct request *req)
{
	struct problem problem = {0};
	int64_t id;

	if (sched_aa(req->http->sched, req->id, &id, &problem))
		respond_problem(req, &problem);
	else
		respond_location(req, MHD_HTTP_CREATED, "experiments", id);
}

/* clang-format off */
static const char boots_sql[] =
	"WITH page AS (SELECT * FROM slot WHERE experiment = ?1 AND position > ?3"
	"  ORDER BY position LIMIT ?2)"
	"SELECT json_object('boots', json((SELECT json_group_array(json_object('position', position,"
	" 'round', round, 'arm', arm, 'state', state, 'reason', reason, 'seed', seed,"
	" 'attempts', json((SELECT json_group_array(json_object('boot', id, 'attempt', attempt,"
	"   'state', state, 'detail', detail, 'kernel', kernel, 'build_id', build_id,"
	"   'started', " SQL_TIME("started") ", 'ended', " SQL_TIME("ended") ","
	"   'boot_ms', (hello - started) / 1000000, 'took_ms', (ended - started) / 1000000,"
	"   'runs', (SELECT count(*) FROM run WHERE run.boot = b.id),"
	"   'lost', (SELECT sum(lost) FROM run WHERE run.boot = b.id)))"
	"   FROM (SELECT * FROM boot WHERE slot = page.id ORDER BY attempt) AS b)))) FROM page)),"
	" 'next', (SELECT CASE WHEN max(position) < (SELECT max(position) FROM slot"
	"   WHERE experiment = ?1) THEN max(position) END FROM page))"
	" FROM experiment WHERE id = ?1";
/* clang-format on */

/* clang-format off */
static const char runs_sql[] =
	"WITH page AS (SELECT * FROM v_run WHERE experiment = ?1 AND run > ?3 ORDER BY run LIMIT ?2)"
	"SELECT json_object('runs', json((SELECT json_group_array(json_object('run', run,"
	" 'round', round, 'arm', arm, 'scenario', scenario, 'boot', boot, 'state', state,"
	" 'reason', reason, 'events', events, 'lost', lost, 'complete', " SQL_BOOL("complete")
	","
	" 'capture', capture, 'sha256', sha256, 'xen_capture', xen_capture,"
	" 'xen_sha256', xen_sha256, 'measure_ns', measure_ns)) FROM page)),"
	" 'next', (SELECT max(run) FROM page WHERE (SELECT count(*) FROM page) = ?2))"
	" FROM experiment WHERE id = ?1";
/* clang-format on */

static void list_below(struct request *req, const char *sql)
{
	int64_t limit, after;
	char *text = NULL;
	int ret;

	if (request_page(req, &limit, &after))
		return;
	ret = db_get_text(req->http->db, &text, sql, "iii", req->id, limit, after);
	respond_row(req, ret, text, "experiment");
}

/** experiments_boots() - GET /api/v1/experiments/{id}/boots, in the order of the plan */
void experiments_boots(struct request *req)
{
	list_below(req, boots_sql);
}

/** experiments_runs() - GET /api/v1/experiments/{id}/runs, in the order in which they ran */
void experiments_runs(struct request *req)
{
	list_below(req, runs_sql);
}
