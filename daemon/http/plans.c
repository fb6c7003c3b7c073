// SPDX-License-Identifier: GPL-2.0-only
/* /api/v1/plans: what a spec would become. */
#include "http/request.h"
#include "plan/sched.h"

/** plans_preview() - POST /api/v1/plans, with a spec as body; stores nothing */
void plans_preview(struct request *req)
{
	struct problem problem = {0};
	json_t *preview;

	if (sched_preview(req->http->sched, req->body ? req->body : "", req->length, &preview,
			  &problem))
		respond_problem(req, &problem);
	else
		respond_json(req, MHD_HTTP_OK, preview);
}
