// SPDX-License-Identifier: GPL-2.0-only
/* Answers: each function here sets the request's one response, which the server then queues. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "http/request.h"
#include "store/db.h"

static const char *const security_headers[][2] = {
	{"Content-Security-Policy",
	 "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
	 "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
};

static const char *status_title(unsigned int status)
{
	const char *title = MHD_get_reason_phrase_for(status);

	return title ? title : "Error";
}

/** respond_header() - add a header to the answer that was set before */
void respond_header(struct request *req, const char *name, const char *value)
{
	if (req->response && MHD_add_response_header(req->response, name, value) != MHD_YES)
		log_warn("http: header %s not added", name);
}

static void set_response(struct request *req, unsigned int status, const char *type,
			 struct MHD_Response *response)
{
	req->response = response;
	req->status = status;
	if (!response)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(security_headers); i++)
		respond_header(req, security_headers[i][0], security_headers[i][1]);
	respond_header(req, MHD_HTTP_HEADER_CONTENT_TYPE, type);
}

/**
 * respond_text() - answer with bytes
 * @text: from malloc(), owned by the answer from now on; NULL says that memory ran out
 */
void respond_text(struct request *req, unsigned int status, const char *type, char *text,
		  size_t length)
{
	struct MHD_Response *response = NULL;

	if (text)
		response = MHD_create_response_from_buffer(length, text, MHD_RESPMEM_MUST_FREE);
	if (text && !response)
		free(text);
	set_response(req, status, type, response);
	respond_header(req, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
}

/** respond_json_text() - answer with a JSON text; ownership as in respond_text() */
void respond_json_text(struct request *req, unsigned int status, char *json)
{
	respond_text(req, status, "application/json", json, json ? strlen(json) : 0);
}

/** respond_json() - answer with a JSON value, whose reference is stolen; NULL says no memory */
void respond_json(struct request *req, unsigned int status, json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

	json_decref(json);
	respond_json_text(req, status, text);
}

/** respond_problem() - answer with an RFC 9457 problem */
void respond_problem(struct request *req, const struct problem *problem)
{
	json_t *json;
	char *text;

	json = json_pack("{s:s, s:s, s:i, s:s}", "type", "about:blank", "title",
			 status_title(problem->status), "status", problem->status, "detail",
			 problem->detail);
	/* A detail that quotes foreign bytes may be no UTF-8: then the title has to do. */
	if (!json)
		json = json_pack("{s:s, s:s, s:i}", "type", "about:blank", "title",
				 status_title(problem->status), "status", problem->status);
	if (json && *problem->key)
		json_object_set_new(json, "key", json_string(problem->key));
	text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	respond_text(req, problem->status, "application/problem+json", text,
		     text ? strlen(text) : 0);
}

/** respond_error() - answer with a problem made on the spot; @key may be NULL */
void respond_error(struct request *req, unsigned int status, const char *key, const char *fmt, ...)
{
	struct problem problem = {.status = (int)status};
	va_list args;

	snprintf(problem.key, sizeof(problem.key), "%s", key ? key : "");
	va_start(args, fmt);
	vsnprintf(problem.detail, sizeof(problem.detail), fmt, args);
	va_end(args);
	respond_problem(req, &problem);
}

/**
 * respond_errno() - log what failed here and answer that it did
 * @error: negative errno
 * @what: what was tried, for the log and the client
 */
void respond_errno(struct request *req, int error, const char *what)
{
	unsigned int status = MHD_HTTP_INTERNAL_SERVER_ERROR;

	if (error == -EBUSY || error == -ESHUTDOWN)
		status = MHD_HTTP_SERVICE_UNAVAILABLE;
	else if (error == -ENOSPC)
		status = MHD_HTTP_INSUFFICIENT_STORAGE;
	log_err("http: %s: %s", what, strerror(-error));
	respond_error(req, status, NULL, "%s: %s", what, strerror(-error));
}

/* Paths in the database are labd's own, but a database can come from elsewhere: stay below. */
static int open_below(const char *dir, const char *path)
{
	int dir_fd, fd;

	if (*path == '/' || !strncmp(path, "../", 3) || strstr(path, "/../"))
		return -EPERM;
	dir_fd = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return -errno;
	fd = openat(dir_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	close(dir_fd);
	return fd;
}

/**
 * respond_file() - answer with a file of the data directory
 * @path: relative to the data directory
 * @download: name to save it under, or NULL to show it
 */
void respond_file(struct request *req, const char *path, const char *type, const char *download)
{
	struct MHD_Response *response;
	char disposition[160];
	struct stat st;
	int fd;

	fd = open_below(req->http->data_dir, path);
	if (fd < 0) {
		log_warn("http: %s: %s", path, strerror(-fd));
		respond_error(req, MHD_HTTP_NOT_FOUND, NULL, "the file %s is gone: %s", path,
			      strerror(-fd));
		return;
	}
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		respond_error(req, MHD_HTTP_NOT_FOUND, NULL, "%s is not a file", path);
		return;
	}
	response = MHD_create_response_from_fd64((uint64_t)st.st_size, fd);
	if (!response)
		close(fd);
	set_response(req, MHD_HTTP_OK, type, response);
	respond_header(req, MHD_HTTP_HEADER_CACHE_CONTROL, "no-cache");
	if (!download)
		return;
	snprintf(disposition, sizeof(disposition), "attachment; filename=\"%s\"", download);
	respond_header(req, MHD_HTTP_HEADER_CONTENT_DISPOSITION, disposition);
}

/**
 * respond_stream() - answer with bytes that come over time
 * @block: bytes asked of @reader at once
 * @arg: given to @reader, and to @release at the end, also when this fails
 */
void respond_stream(struct request *req, const char *type, size_t block,
		    MHD_ContentReaderCallback reader, void *arg,
		    MHD_ContentReaderFreeCallback release)
{
	struct MHD_Response *response;

	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, block, reader, arg, release);
	if (!response)
		release(arg);
	set_response(req, MHD_HTTP_OK, type, response);
	respond_header(req, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
}

/** respond_not_modified() - the client has it already */
void respond_not_modified(struct request *req)
{
	respond_text(req, MHD_HTTP_NOT_MODIFIED, "application/json", strdup(""), 0);
}

/** request_has_etag() - does the client's If-None-Match name @etag (quotes included)? */
bool request_has_etag(struct request *req, const char *etag)
{
	const char *given = MHD_lookup_connection_value(req->connection, MHD_HEADER_KIND,
							MHD_HTTP_HEADER_IF_NONE_MATCH);

	return given && (strstr(given, etag) || !strcmp(given, "*"));
}

static int page_argument(struct request *req, const char *name, int64_t max, int64_t *value)
{
	const char *text =
		MHD_lookup_connection_value(req->connection, MHD_GET_ARGUMENT_KIND, name);

	if (!text || !parse_i64(text, 1, max, value))
		return 0;
	respond_error(req, MHD_HTTP_BAD_REQUEST, name, "must be a number from 1 to %lld",
		      (long long)max);
	return -EINVAL;
}

/**
 * request_page() - which part of a list is asked for
 * @ret_limit: rows, 1..PAGE_LIMIT_MAX
 * @ret_after: the last row's number of the page before, 0 at the start
 *
 * Return: 0, or -EINVAL with the answer set.
 */
int request_page(struct request *req, int64_t *ret_limit, int64_t *ret_after)
{
	int64_t limit = PAGE_LIMIT_DEFAULT, after = 0;

	if (page_argument(req, "limit", PAGE_LIMIT_MAX, &limit) ||
	    page_argument(req, "after", INT64_MAX, &after))
		return -EINVAL;
	*ret_limit = limit;
	*ret_after = after;
	return 0;
}

/**
 * respond_page() - a page of a list
 * @sql: a row of JSON for ?1, the limit, and ?2, the number after which to go on
 * @what: what the list is of
 */
void respond_page(struct request *req, const char *sql, const char *what)
{
	int64_t limit, after;
	char *text = NULL;
	int ret;

	if (request_page(req, &limit, &after))
		return;
	ret = db_get_text(req->http->db, &text, sql, "ii", limit, after);
	respond_row(req, ret, text, what);
}

/** respond_location() - where to look for what was asked for: number @id of @collection */
void respond_location(struct request *req, unsigned int status, const char *collection, int64_t id)
{
	char location[64];

	snprintf(location, sizeof(location), "/api/v1/%s/%lld", collection, (long long)id);
	respond_json(req, status,
		     json_pack("{s:I, s:s}", "id", (json_int_t)id, "location", location));
	respond_header(req, MHD_HTTP_HEADER_LOCATION, location);
}
