// SPDX-License-Identifier: GPL-2.0-only
/* /api/v1/builds: the kernels that an arm can name, how each was made, and what it can trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/util.h"
#include "http/request.h"
#include "plan/sched.h"
#include "store/build.h"
#include "store/build_event.h"
#include "store/db.h"

/* A log is shown from its end, where an error would be. */
#define TEXT_MAX (4u << 20)

/* clang-format off */
static const char used_sql[] =
	"SELECT json_group_array(json_object('experiment', id, 'name', name, 'state', state,"
	" 'kind', kind, 'arm', arm, 'created', " SQL_TIME("created") ","
	" 'build_id', json_extract(build_json, '$.build_id'),"
	" 'hypervisor_build_id', json_extract(build_json, '$.hypervisor_build_id')))"
	" FROM (SELECT e.id, e.name, e.state, e.kind, e.created, a.name AS arm, a.build_json"
	"   FROM arm a JOIN experiment e ON e.id = a.experiment WHERE a.build = ?1"
	"   ORDER BY e.id DESC, a.position LIMIT 100)";
/* clang-format on */

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

/* The build that the path names; NULL with the answer set. */
static json_t *find(struct request *req)
{
	json_t *build = NULL;
	int ret;

	ret = build_find(req->http->db, req->http->builds_dir, req->name, &build);
	if (ret == -ENOENT)
		respond_error(req, MHD_HTTP_NOT_FOUND, NULL, "there is no build \"%s\"", req->name);
	else if (ret)
		respond_errno(req, ret, "reading the builds");
	return build;
}

/* The same, if it was made by the lab's own scripts. */
static json_t *find_made(struct request *req)
{
	json_t *build = NULL;
	int ret;

	ret = build_find_made(req->http->builds_dir, req->name, &build);
	if (!ret)
		return build;
	if (ret != -ENOENT) {
		respond_errno(req, ret, "reading the builds");
		return NULL;
	}
	build = find(req);
	if (build)
		respond_error(
			req, MHD_HTTP_NOT_FOUND, NULL,
			"build \"%s\" was registered over HTTP: only files of builds made here are shown",
			req->name);
	json_decref(build);
	return NULL;
}

/** builds_get() - GET /api/v1/builds/{name}: its manifest, and who used it, newest first */
void builds_get(struct request *req)
{
	json_t *build = find(req), *made = NULL;
	char *text = NULL;
	int ret;

	if (!build)
		return;
	ret = db_get_text(req->http->db, &text, used_sql, "t", req->name);
	if (ret) {
		respond_errno(req, ret, "reading the database");
	} else {
		bool is_made = !build_find_made(req->http->builds_dir, req->name, &made);

		json_object_set_new(build, "registered", json_boolean(!is_made));
		json_object_set_new(build, "used_by", json_loads(text, 0, NULL));
		respond_json(req, MHD_HTTP_OK, json_incref(build));
	}
	json_decref(made);
	json_decref(build);
	free(text);
}

/* In front of the rest of a file that is longer than what is sent of it. */
static char *with_note(char *text, size_t *length, size_t left_out)
{
	char *noted;

	if (!left_out)
		return text;
	noted = str_printf("[the first %zu bytes are left out]\n%s", left_out, text);
	free(text);
	*length = noted ? strlen(noted) : 0;
	return noted;
}

/* A file that the manifest names under @key. */
static void respond_named(struct request *req, const char *key)
{
	json_t *build = find_made(req);
	const char *path = json_text(build, key);
	size_t length = 0, left_out = 0;
	char *text = NULL;
	int ret;

	if (!build)
		return;
	if (!*path) {
		respond_error(req, MHD_HTTP_NOT_FOUND, key,
			      "is not in the manifest of build \"%s\": build it again to have it",
			      req->name);
		goto out;
	}
	ret = read_tail(path, TEXT_MAX, &text, &length, &left_out);
	if (ret) {
		respond_error(req, MHD_HTTP_NOT_FOUND, key,
			      "the file of build \"%s\" cannot be read: %s", req->name,
			      strerror(-ret));
		goto out;
	}
	text = with_note(text, &length, left_out);
	respond_text(req, MHD_HTTP_OK, "text/plain; charset=utf-8", text, length);
out:
	json_decref(build);
}

/** builds_log() - GET /api/v1/builds/{name}/log: what make said */
void builds_log(struct request *req)
{
	respond_named(req, "log");
}

/** builds_config() - GET /api/v1/builds/{name}/config */
void builds_config(struct request *req)
{
	respond_named(req, "config");
}

/** builds_series() - GET /api/v1/builds/{name}/series: its patches in their order */
void builds_series(struct request *req)
{
	respond_named(req, "series_text");
}

/** builds_events() - GET /api/v1/builds/{name}/events: what an experiment with it can trace */
void builds_events(struct request *req)
{
	json_t *build = find(req), *events;
	bool booted = false;
	int ret;

	if (!build)
		return;
	ret = build_event_list(req->http->db, build, &booted, &events);
	if (ret)
		respond_errno(req, ret, "reading the database");
	else if (booted)
		respond_json(
			req, MHD_HTTP_OK,
			json_pack("{s:o, s:o, s:n}", "events", events, "source",
				  json_sprintf("boot of build-id %s", json_text(build, "build_id")),
				  "why"));
	else
		respond_json(req, MHD_HTTP_OK,
			     json_pack("{s:o, s:n, s:s}", "events", events, "source", "why",
				       "no boot of this kernel has listed its events yet: one on "
				       "the machine qemu does"));
	json_decref(build);
}
