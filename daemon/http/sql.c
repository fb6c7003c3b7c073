// SPDX-License-Identifier: GPL-2.0-only
/* /api/v1/sql: one query of the user's own on lab.db and an experiment's events. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "http/request.h"
#include "http/sql.h"

/* At once: each keeps a CPU busy, and maybe a machine is being measured on this host. */
#define SQL_MAX_QUERIES 2

static atomic_uint running;

/**
 * struct query - what is asked for
 * @text: decoded, the query's to free
 * @experiment: 0 for none
 * @csv: else JSON
 */
struct query {
	char *text;
	int64_t experiment;
	bool csv;
};

static const char *header(struct request *req, const char *name)
{
	return MHD_lookup_connection_value(req->connection, MHD_HEADER_KIND, name);
}

/* Returns false with the answer set. */
static bool read_query(struct request *req, struct query *query)
{
	char *format = NULL, *number = NULL;
	bool good = false;

	if (request_argument(req, "query", SQL_MAX_TEXT, &query->text) ||
	    request_argument(req, "format", 8, &format) ||
	    request_argument(req, "experiment", 20, &number))
		goto out;
	if (!query->text)
		respond_error(req, 422, "query", "is missing");
	else if (format && strcmp(format, "json") && strcmp(format, "csv"))
		respond_error(req, 422, "format", "must be json or csv");
	else if (number && *number && parse_i64(number, 1, INT64_MAX, &query->experiment))
		respond_error(req, 422, "experiment", "must be an experiment's number");
	else
		good = true;
	query->csv = format && !strcmp(format, "csv");
out:
	free(format);
	free(number);
	return good;
}

static void respond_sqlite(struct request *req, struct sql_db *sql)
{
	respond_error(req, 422, "query", "%s%s", sqlite3_errmsg(sql->db),
		      sql->writes ? ": a query can only read here" : "");
}

/* Nothing but white space and comments may follow the statement. */
static bool is_last(struct request *req, struct sql_db *sql, const char *tail)
{
	sqlite3_stmt *next = NULL;
	bool last;

	last = sqlite3_prepare_v2(sql->db, tail, -1, &next, NULL) == SQLITE_OK && !next;
	sqlite3_finalize(next);
	if (!last)
		respond_error(req, 422, "query", "must be one statement, and this is more");
	return last;
}

static bool bind_parameters(struct request *req, const struct query *query, sqlite3_stmt *stmt)
{
	for (int i = 1; i <= sqlite3_bind_parameter_count(stmt); i++) {
		const char *name = sqlite3_bind_parameter_name(stmt, i);

		if (!name || strcmp(name, ":experiment")) {
			respond_error(req, 422, "query",
				      "nobody gives the parameter %s a value, only :experiment",
				      name ? name : "?");
			return false;
		}
		if (!query->experiment) {
			respond_error(req, 422, "experiment",
				      "is missing: the query has the parameter :experiment");
			return false;
		}
		sqlite3_bind_int64(stmt, i, query->experiment);
	}
	return true;
}

static sqlite3_stmt *prepare(struct request *req, const struct query *query, struct sql_db *sql)
{
	sqlite3_stmt *stmt = NULL;
	const char *tail;

	if (sqlite3_prepare_v2(sql->db, query->text, -1, &stmt, &tail) != SQLITE_OK)
		respond_sqlite(req, sql);
	else if (!stmt)
		respond_error(req, 422, "query", "is empty");
	else if (is_last(req, sql, tail) && bind_parameters(req, query, stmt))
		return stmt;
	sqlite3_finalize(stmt);
	return NULL;
}

/* A file that was cut says so in its name, for its rows cannot. */
static void respond_csv(struct request *req, const struct sql_db *sql, char *text, size_t length)
{
	char disposition[64];

	snprintf(disposition, sizeof(disposition), "attachment; filename=\"query%s.csv\"",
		 sql->cut ? "-truncated" : "");
	respond_text(req, MHD_HTTP_OK, "text/csv; charset=utf-8; header=present", text, length);
	respond_header(req, MHD_HTTP_HEADER_CONTENT_DISPOSITION, disposition);
}

static void run(struct request *req, const struct query *query)
{
	int64_t started_ns = mono_ns();
	struct sql_db sql;
	sqlite3_stmt *stmt;
	char *text;
	size_t length;
	int ret;

	ret = sql_begin(&sql, req->db, req->http->data_dir, query->experiment);
	if (ret == -ENOENT) {
		respond_error(req, 422, "experiment", "there is no experiment %lld",
			      (long long)query->experiment);
		return;
	}
	if (ret) {
		respond_errno(req, ret, "attaching the events");
		return;
	}
	stmt = prepare(req, query, &sql);
	if (!stmt)
		return;
	ret = query->csv ? sql_csv(&sql, stmt, &text, &length)
			 : sql_json(&sql, stmt, started_ns, &text, &length);
	if (ret == -ENOMEM)
		respond_errno(req, ret, "making the answer");
	else if (ret)
		respond_sqlite(req, &sql);
	else if (query->csv)
		respond_csv(req, &sql, text, length);
	else
		respond_text(req, MHD_HTTP_OK, "application/json", text, length);
	sqlite3_finalize(stmt);
}

/**
 * sql_get() - GET /api/v1/sql?query=…&experiment=N&format=json|csv
 *
 * On a thread of its own, for it may take seconds. A page of another origin could not read the
 * answer, but it could make labd work: its browser says whose page it is.
 */
void sql_get(struct request *req)
{
	const char *site = header(req, "Sec-Fetch-Site");
	struct query query = {0};

	if (site && strcmp(site, "same-origin") && strcmp(site, "none")) {
		respond_error(req, MHD_HTTP_FORBIDDEN, NULL,
			      "queries are not taken from other sites' pages");
		return;
	}
	if (atomic_fetch_add(&running, 1) >= SQL_MAX_QUERIES)
		respond_error(req, MHD_HTTP_SERVICE_UNAVAILABLE, NULL,
			      "%d queries are running already: try again soon", SQL_MAX_QUERIES);
	else if (read_query(req, &query))
		run(req, &query);
	atomic_fetch_sub(&running, 1);
	free(query.text);
}
