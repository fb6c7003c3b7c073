// SPDX-License-Identifier: GPL-2.0-only
/* /api/v1/boots: one boot with its runs and its environment, and its console. */
#include <errno.h>
#include <stdlib.h>

#include "http/request.h"
#include "store/db.h"

/* clang-format off */
static const char get_sql[] =
	"SELECT json_object('boot', b.id, 'experiment', s.experiment, 'name', e.name,"
	" 'emulated', " SQL_BOOL("e.emulated") ", 'round', s.round, 'position', s.position,"
	" 'arm', s.arm, 'attempt', b.attempt, 'state', b.state, 'detail', b.detail,"
	" 'console_lines', b.console_lines, 'boot_id', b.boot_id, 'build_id', b.build_id,"
	" 'kernel', b.kernel, 'cmdline', b.cmdline, 'environment', json(b.env_json),"
	" 'environment_key', b.env_key, 'observed', json(b.observed_json),"
	" 'started', " SQL_TIME("b.started") ", 'ended', " SQL_TIME("b.ended") ","
	" 'boot_ms', (b.hello - b.started) / 1000000, 'took_ms', (b.ended - b.started) / 1000000,"
	" 'runs', json((SELECT json_group_array(json_object('run', id, 'scenario', scenario,"
	"   'state', state, 'reason', reason, 'events', events, 'lost', lost,"
	"   'complete', " SQL_BOOL("complete") ", 'bytes', bytes, 'measure_ns', measure_ns,"
	"   'ship_ns', ship_ns, 'ingest_ns', ingest_ns))"
	"   FROM (SELECT * FROM run WHERE boot = b.id ORDER BY id))),"
	" 'console', '/api/v1/boots/' || b.id || '/console')"
	" FROM boot b JOIN slot s ON s.id = b.slot JOIN experiment e ON e.id = s.experiment"
	" WHERE b.id = ?1";
/* clang-format on */

/** boots_get() - GET /api/v1/boots/{id} */
void boots_get(struct request *req)
{
	char *text = NULL;
	int ret;

	ret = db_get_text(req->http->db, &text, get_sql, "i", req->id);
	respond_row(req, ret, text, "boot");
}

/** boots_console() - GET /api/v1/boots/{id}/console: the text, as far as there is one */
void boots_console(struct request *req)
{
	char *path = NULL;
	int ret;

	ret = db_get_text(req->http->db, &path, "SELECT console FROM boot WHERE id = ?1", "i",
			  req->id);
	if (ret)
		respond_row(req, ret, NULL, "boot");
	else
		respond_file(req, path, "text/plain; charset=utf-8", NULL);
	free(path);
}
