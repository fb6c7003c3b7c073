// SPDX-License-Identifier: GPL-2.0-only
/* /metrics in Prometheus' text format, and /healthz. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "http/request.h"
#include "store/db.h"

/* Each statement gives rows of a label's value (or NULL for no label) and a number. */
static const struct {
	const char *name;
	const char *type;
	const char *help;
	const char *label;
	const char *sql;
} tables[] = {
	{"labd_experiments", "gauge", "Experiments by state.", "state",
	 "SELECT state, count(*) FROM experiment GROUP BY state"},
	{"labd_boots_total", "counter", "Boots by how they ended.", "state",
	 "SELECT state, count(*) FROM boot GROUP BY state"},
	{"labd_runs_total", "counter", "Runs by how they ended.", "state",
	 "SELECT state, count(*) FROM run GROUP BY state"},
	{"labd_events_total", "counter", "Trace events stored.", NULL,
	 "SELECT NULL, coalesce(sum(events), 0) FROM run"},
	{"labd_events_lost_total", "counter", "Trace events that the rings lost.", NULL,
	 "SELECT NULL, coalesce(sum(lost), 0) FROM run"},
	{"labd_void_pairs_total", "counter", "Pairs that do not count.", NULL,
	 "SELECT NULL, count(*) FROM void_pair"},
};

static int write_table(sqlite3 *db, size_t i, FILE *out)
{
	sqlite3_stmt *stmt;
	int ret, rc;

	ret = db_prepare(db, &stmt, tables[i].sql, "");
	if (ret)
		return ret;
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", tables[i].name, tables[i].help, tables[i].name,
		tables[i].type);
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		long long value = sqlite3_column_int64(stmt, 1);

		if (tables[i].label)
			fprintf(out, "%s{%s=\"%s\"} %lld\n", tables[i].name, tables[i].label,
				sqlite3_column_text(stmt, 0), value);
		else
			fprintf(out, "%s %lld\n", tables[i].name, value);
	}
	if (rc != SQLITE_DONE)
		ret = db_error(db, tables[i].sql);
	sqlite3_finalize(stmt);
	return ret;
}

static int write_metrics(struct http *http, FILE *out)
{
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(tables) && !ret; i++)
		ret = write_table(http->db, i, out);
	fprintf(out,
		"# HELP labd_http_requests_total Requests answered.\n"
		"# TYPE labd_http_requests_total counter\n"
		"labd_http_requests_total %" PRIu64 "\n"
		"# HELP labd_stream_clients Clients that follow an experiment.\n"
		"# TYPE labd_stream_clients gauge\n"
		"labd_stream_clients %zu\n",
		http->requests, hub_clients(http->hub));
	return ret;
}

/** metrics_get() - GET /metrics */
void metrics_get(struct request *req)
{
	char *text = NULL;
	size_t length;
	FILE *out;
	int ret;

	out = open_memstream(&text, &length);
	if (!out)
		return;
	ret = write_metrics(req->http, out);
	if (fclose(out) && !ret)
		ret = -ENOMEM;
	if (ret) {
		free(text);
		respond_errno(req, ret, "reading the database");
		return;
	}
	respond_text(req, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", text, length);
}

/** health_get() - GET /healthz: the server answers and the database can be read */
void health_get(struct request *req)
{
	int64_t experiments;
	int ret;

	ret = db_get_int(req->http->db, &experiments, "SELECT count(*) FROM experiment", "");
	if (ret)
		respond_errno(req, ret, "reading the database");
	else
		respond_json(req, MHD_HTTP_OK,
			     json_pack("{s:s, s:I}", "status", "ok", "experiments",
				       (json_int_t)experiments));
}
