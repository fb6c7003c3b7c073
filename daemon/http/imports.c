// SPDX-License-Identifier: GPL-2.0-only
/* /api/v1/imports: captures that were recorded elsewhere, and experiments of other labds. */
#include "http/request.h"
#include "plan/sched.h"
#include "store/db.h"

#define IMPORT_JSON                                                                           \
	"json_object('id', id, 'name', name, 'path', path, 'state', state, 'reason', reason," \
	" 'capture', capture, 'sha256', sha256, 'events', events, 'lost', lost,"              \
	" 'database', database, 'experiment', experiment, 'created', " SQL_TIME("created") ")"

/* clang-format off */
static const char list_sql[] =
	"WITH page AS (SELECT * FROM import WHERE ?2 = 0 OR id < ?2 ORDER BY id DESC LIMIT ?1)"
	"SELECT json_object('imports', json((SELECT json_group_array(" IMPORT_JSON
	") FROM page)),"
	" 'next', (SELECT CASE WHEN min(id) > (SELECT min(id) FROM import)"
	"   THEN min(id) END FROM page))";
/* clang-format on */

/** imports_list() - GET /api/v1/imports, newest first */
void imports_list(struct request *req)
{
	respond_page(req, list_sql, "import");
}

/** imports_get() - GET /api/v1/imports/{id} */
void imports_get(struct request *req)
{
	char *text = NULL;
	int ret;

	ret = db_get_text(req->http->db, &text, "SELECT " IMPORT_JSON " FROM import WHERE id = ?1",
			  "i", req->id);
	respond_row(req, ret, text, "import");
}

/**
 * imports_create() - POST /api/v1/imports {"path": "/abs/file", "name": …}
 *
 * The work is done between boots: the answer says where to look for its end.
 */
void imports_create(struct request *req)
{
	struct problem problem = {0};
	int64_t id;

	if (sched_import(req->http->sched, req->body ? req->body : "", req->length, &id, &problem))
		respond_problem(req, &problem);
	else
		respond_location(req, MHD_HTTP_ACCEPTED, "imports", id);
}
