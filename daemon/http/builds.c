// SPDX-License-Identifier: GPL-2.0-only
/* /api/v1/builds: the kernels that an arm can name. */
#include <stdio.h>
#include <stdlib.h>

#include "http/request.h"
#include "plan/sched.h"
#include "store/build.h"

/** builds_list() - GET /api/v1/builds */
void builds_list(struct request *req)
{
	json_t *builds;
	int ret;

	ret = build_list(req->http->db, req->http->builds_dir, &builds);
	if (ret)
		respond_errno(req, ret, "reading the builds");
	else
		respond_json(req, MHD_HTTP_OK, json_pack("{s:o}", "builds", builds));
}

/** builds_register() - POST /api/v1/builds */
void builds_register(struct request *req)
{
	struct problem problem = {0};
	char *name;

	if (sched_register_build(req->http->sched, req->body ? req->body : "", req->length, &name,
				 &problem)) {
		respond_problem(req, &problem);
		return;
	}
	respond_json(req, MHD_HTTP_CREATED, json_pack("{s:s}", "name", name));
	respond_header(req, MHD_HTTP_HEADER_LOCATION, "/api/v1/builds");
	free(name);
}
