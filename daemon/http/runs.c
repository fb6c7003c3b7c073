// SPDX-License-Identifier: GPL-2.0-only
/* /api/v1/runs: one run with its samples and the rings' books, and its captures. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "http/request.h"
#include "store/db.h"

/* What the workload printed is text from the machine: it is passed on as JSON only if it is. */
/* clang-format off */
static const char get_sql[] =
	"SELECT json_object('run', r.id, 'experiment', s.experiment, 'boot', r.boot,"
	" 'round', s.round, 'arm', s.arm, 'scenario', r.scenario, 'place', r.place,"
	" 'seed', s.seed, 'state', r.state, 'reason', r.reason, 'events', r.events,"
	" 'lost', r.lost, 'complete', " SQL_BOOL("r.complete") ", 'capture', r.capture,"
	" 'sha256', r.sha256, 'bytes', r.bytes, 'xen_capture', r.xen_capture,"
	" 'xen_sha256', r.xen_sha256, 'xen_bytes', r.xen_bytes,"
	" 'started', " SQL_TIME("r.started") ","
	" 'ended', " SQL_TIME("r.ended") ", 'measure_ns', r.measure_ns,"
	" 'clock', (SELECT json_extract(machine_json, '$.clock') FROM experiment"
	"   WHERE id = s.experiment), 'ship_ns', r.ship_ns,"
	" 'ingest_ns', r.ingest_ns,"
	" 'workload', json(CASE WHEN json_valid(r.workload) THEN r.workload ELSE 'null' END),"
	" 'samples', json((SELECT json_group_array(json_object('metric', metric, 'value', value,"
	"   'n_events', n_events, 'note', note)) FROM sample WHERE run = r.id)),"
	" 'counts', json((SELECT json_group_object(event, count) FROM run_event WHERE run = r.id)),"
	" 'checks', json((SELECT json_group_array(json_object('name', name, 'checked', checked,"
	"   'failed', failed, 'detail', detail)) FROM run_check WHERE run = r.id)),"
	" 'rings', json((SELECT json_group_array(json_object('source', source, 'cpu', cpu,"
	"   'written', written, 'read', read, 'lost', lost)) FROM ring WHERE run = r.id)),"
	" 'losses', json((SELECT json_group_array(json_object('source', source, 'cpu', cpu,"
	"   'lost', count, 'from_ts', CAST(from_ts AS TEXT), 'to_ts', CAST(to_ts AS TEXT),"
	"   'cause', cause))"
	"   FROM (SELECT * FROM loss WHERE run = r.id"
	"    ORDER BY source, cpu, from_ts LIMIT 1000))))"
	" FROM run r JOIN slot s ON s.id = r.slot WHERE r.id = ?1";
/* clang-format on */

/** runs_get() - GET /api/v1/runs/{id} */
void runs_get(struct request *req)
{
	char *text = NULL;
	int ret;

	ret = db_get_text(req->http->db, &text, get_sql, "i", req->id);
	respond_row(req, ret, text, "run");
}

/* A file that the run's row names by @sql. */
static void send_file(struct request *req, const char *sql, const char *suffix, const char *what)
{
	char *path = NULL, name[48];
	int ret;

	ret = db_get_text(req->http->db, &path, sql, "i", req->id);
	if (ret) {
		respond_row(req, ret, NULL, "run");
		return;
	}
	snprintf(name, sizeof(name), "run-%lld.%s", (long long)req->id, suffix);
	if (*path)
		respond_file(req, path, "application/octet-stream", name);
	else
		respond_error(req, MHD_HTTP_NOT_FOUND, NULL, "run %lld has no %s",
			      (long long)req->id, what);
	free(path);
}

/** runs_capture() - GET /api/v1/runs/{id}/capture: the file that trace-cmd opens */
void runs_capture(struct request *req)
{
	send_file(req, "SELECT capture FROM run WHERE id = ?1", "dat", "capture");
}

/** runs_xentrace() - GET /api/v1/runs/{id}/xentrace: the stream that xenalyze opens */
void runs_xentrace(struct request *req)
{
	send_file(req, "SELECT xen_capture FROM run WHERE id = ?1", "xentrace", "trace of Xen");
}
