// SPDX-License-Identifier: GPL-2.0-only
/* /api/v1/reproductions: runs done again, and what the two have in common. */
#include "http/request.h"
#include "plan/sched.h"
#include "store/db.h"

#define REPRODUCTION_JSON                                                                                                                                                    \
	"json_object('id', reproduction, 'run', run, 'experiment', experiment, 'round', round,"                                                                              \
	" 'arm', arm, 'scenario', scenario, 'state', state, 'reason', reason,"                                                                                               \
	" 'identical', " SQL_BOOL("identical") ", 'metrics_equal', " SQL_BOOL("metrics_equal") ", 'events_equal', " SQL_BOOL("events_equal") ", 'capture_equal', " SQL_BOOL( \
		"capture_equal") ", 'detail', json(coalesce(detail_json, 'null')), 'created', " SQL_TIME("created") ", 'ended', " SQL_TIME("ended") ")"

/* clang-format off */
static const char list_sql[] =
	"WITH page AS (SELECT * FROM v_reproduction WHERE ?2 = 0 OR reproduction < ?2"
	"  ORDER BY reproduction DESC LIMIT ?1)"
	"SELECT json_object('reproductions', json((SELECT json_group_array(" REPRODUCTION_JSON
	") FROM page)),"
	" 'next', (SELECT CASE WHEN min(reproduction) > (SELECT min(id) FROM reproduction)"
	"   THEN min(reproduction) END FROM page))";
/* clang-format on */

/** reproductions_list() - GET /api/v1/reproductions, newest first */
void reproductions_list(struct request *req)
{
	respond_page(req, list_sql, "reproduction");
}

/** reproductions_get() - GET /api/v1/reproductions/{id} */
void reproductions_get(struct request *req)
{
	char *text = NULL;
	int ret;

	ret = db_get_text(req->http->db, &text,
			  "SELECT " REPRODUCTION_JSON
			  " FROM v_reproduction WHERE reproduction = ?1",
			  "i", req->id);
	respond_row(req, ret, text, "reproduction");
}

/**
 * runs_reproduce() - POST /api/v1/runs/{id}/reproduce; the body is ignored
 *
 * The run is done again between two experiments: the answer says where to look for its end.
 */
void runs_reproduce(struct request *req)
{
	struct problem problem = {0};
	int64_t id;

	if (sched_reproduce(req->http->sched, req->id, &id, &problem))
		respond_problem(req, &problem);
	else
		respond_location(req, MHD_HTTP_CREATED, "reproductions", id);
}
