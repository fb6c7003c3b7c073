/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_HTTP_REQUEST_H
#define LABD_HTTP_REQUEST_H

#include <jansson.h>
#include <microhttpd.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/problem.h"
#include "http/http.h"
#include "http/route.h"

/* Shared by the files of http/ only. */

#define PAGE_LIMIT_DEFAULT 50
#define PAGE_LIMIT_MAX 500

struct static_file;

/**
 * struct http - the server
 * @db: read-only connection, used on the server's thread only
 * @lock: protects @busy, @slow, @unsent and @closing
 * @idle: signalled when @busy or @unsent falls
 * @busy: requests that have a thread of their own
 * @slow: those of them that are slow GETs
 * @unsent: those, and those of them whose answer is not out yet
 * @requests: answered since the start; server's thread
 */
struct http {
	char *data_dir;
	char *builds_dir;
	char *token;
	uint16_t port;
	struct sched *sched;
	struct hub *hub;
	struct MHD_Daemon *daemon;
	sqlite3 *db;
	struct static_file *files;
	pthread_mutex_t lock;
	pthread_cond_t idle;
	unsigned int busy;
	unsigned int slow;
	unsigned int unsent;
	bool closing;
	uint64_t requests;
};

/**
 * struct request - one request, from its headers to its completion
 * @id: the number in the path, 0 without one
 * @name: the name in the path, "" without one
 * @refusal: set while the headers are read; answered once the body has gone by
 * @response, @status: the answer, set by exactly one respond_…() call
 * @working: a thread of its own is making the answer
 * @db: read-only connection of that thread, for a slow GET only; whatever is set on it (limits, an
 * authorizer) ends with the request
 */
struct request {
	struct http *http;
	struct MHD_Connection *connection;
	const struct route *route;
	int64_t id;
	char name[ROUTE_NAME_MAX + 1];
	struct problem refusal;
	char allow[64];
	char *body;
	size_t length;
	uint64_t received;
	struct MHD_Response *response;
	unsigned int status;
	bool working;
	sqlite3 *db;
};

/* respond.c */
void respond_text(struct request *req, unsigned int status, const char *type, char *text,
		  size_t length);
void respond_json_text(struct request *req, unsigned int status, char *json);
void respond_json(struct request *req, unsigned int status, json_t *json);
void respond_problem(struct request *req, const struct problem *problem);
void respond_error(struct request *req, unsigned int status, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void respond_errno(struct request *req, int error, const char *what);
void respond_file(struct request *req, const char *path, const char *type, const char *download);
void respond_stream(struct request *req, const char *type, size_t block,
		    MHD_ContentReaderCallback reader, void *arg,
		    MHD_ContentReaderFreeCallback release);
void respond_not_modified(struct request *req);
void respond_header(struct request *req, const char *name, const char *value);
bool request_has_etag(struct request *req, const char *etag);
int request_page(struct request *req, int64_t *ret_limit, int64_t *ret_after);

/* query.c */
int request_argument(struct request *req, const char *name, size_t max, char **ret_text);
void respond_page(struct request *req, const char *sql, const char *what);
void respond_location(struct request *req, unsigned int status, const char *collection, int64_t id);
void respond_row(struct request *req, int ret, char *text, const char *what);

/* A column of wall-clock ns as RFC 3339 with milliseconds: JavaScript is exact up to 2^53 only. */
#define SQL_TIME(column) "strftime('%Y-%m-%dT%H:%M:%fZ', " column " / 1e9, 'unixepoch')"
#define SQL_BOOL(column) \
	"json(CASE WHEN " column " THEN 'true' WHEN NOT (" column ") THEN 'false' ELSE 'null' END)"

/* One file per resource. */
void experiments_list(struct request *req);
void experiments_get(struct request *req);
void experiments_submit(struct request *req);
void experiments_cancel(struct request *req);
void experiments_aa(struct request *req);
void experiments_results(struct request *req);
void experiments_report(struct request *req);
void experiments_ecdf(struct request *req);
void experiments_stream(struct request *req);
void experiments_boots(struct request *req);
void experiments_runs(struct request *req);
void boots_get(struct request *req);
void boots_console(struct request *req);
void runs_get(struct request *req);
void runs_capture(struct request *req);
void runs_xentrace(struct request *req);
void runs_reproduce(struct request *req);
void reproductions_list(struct request *req);
void reproductions_get(struct request *req);
void plans_preview(struct request *req);
void builds_list(struct request *req);
void builds_register(struct request *req);
void builds_get(struct request *req);
void builds_log(struct request *req);
void builds_config(struct request *req);
void builds_series(struct request *req);
void builds_events(struct request *req);
void machines_list(struct request *req);
void machines_get(struct request *req);
void sql_get(struct request *req);
void imports_list(struct request *req);
void imports_get(struct request *req);
void imports_create(struct request *req);
void metrics_get(struct request *req);
void health_get(struct request *req);

/* static.c */
int static_load(struct static_file **ret_files);
void static_free(struct static_file *files);
const struct static_file *static_find(const struct static_file *files, const char *path);
void static_serve(struct request *req, const struct static_file *file);

#endif
