// SPDX-License-Identifier: GPL-2.0-only
/*
 * Server-sent events of one experiment: "progress" with the whole state, at the start, after each
 * change and every 15 seconds. A client that comes back after a lost connection therefore misses
 * nothing that it needs. "console" has the last lines of the current boot's console, at the start
 * and whenever it has grown, looked at once a second. The last event of an ended experiment is
 * "end".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "http/request.h"
#include "plan/progress.h"
#include "store/db.h"

#define STREAM_BLOCK 4096
#define CONSOLE_BYTES 4096
#define CONSOLE_LINES 12

/**
 * struct stream - one client
 * @text: being sent, or NULL
 * @last: nothing follows @text
 * @boot: whose console was sent last, 0 for none
 * @console_end: bytes of it by then
 */
struct stream {
	struct http *http;
	struct hub_client *client;
	int64_t experiment;
	char *text;
	size_t length;
	size_t sent;
	bool last;
	int64_t boot;
	size_t console_end;
};

static bool is_final(const char *progress)
{
	json_t *json = json_loads(progress, 0, NULL);
	const char *state = json_string_value(json_object_get(json, "state"));
	bool final = state && strcmp(state, "queued") && strcmp(state, "running");

	json_decref(json);
	return final;
}

/* The boot that "current" of progress names, and its console's file; 0 without one. */
static int find_console(struct stream *stream, int64_t *ret_boot, char **ret_path)
{
	sqlite3_stmt *stmt;
	int ret;

	*ret_boot = 0;
	ret = db_prepare(stream->http->db, &stmt,
			 "SELECT b.id, b.console FROM slot s JOIN boot b ON b.slot = s.id "
			 "WHERE s.experiment = ?1 AND b.ended IS NULL ORDER BY b.id LIMIT 1",
			 "i", stream->experiment);
	if (ret)
		return ret;
	if (sqlite3_step(stmt) == SQLITE_ROW) {
		*ret_path = str_printf("%s/%s", stream->http->data_dir,
				       (const char *)sqlite3_column_text(stmt, 1));
		ret = *ret_path ? 0 : -ENOMEM;
		if (!ret)
			*ret_boot = sqlite3_column_int64(stmt, 0);
	}
	sqlite3_finalize(stmt);
	return ret;
}

static json_t *line_json(char *line, size_t length)
{
	json_t *json = json_stringn(line, length);

	for (size_t i = 0; !json && i < length; i++)
		if ((unsigned char)line[i] > '~')
			line[i] = '?';
	return json ? json : json_stringn(line, length);
}

/* The last whole lines of @text; cuts off what is behind the last of them. */
static json_t *last_lines(char *text, size_t length)
{
	json_t *lines = json_array();
	size_t start = length;

	for (int n = 0; lines && start && n < CONSOLE_LINES; n++) {
		size_t end = start - 1; /* at a newline */

		for (start = end; start && text[start - 1] != '\n'; start--)
			;
		json_array_insert_new(lines, 0, line_json(text + start, end - start));
	}
	return lines;
}

/*
 * The event "console", NULL when the client has it already. Only a hint for people: a console that
 * cannot be read is none.
 */
static char *console_event(struct stream *stream)
{
	size_t length, left_out;
	char *path = NULL, *text = NULL, *json = NULL, *event = NULL;
	int64_t boot;
	json_t *object;

	if (find_console(stream, &boot, &path) || !boot ||
	    read_tail(path, CONSOLE_BYTES, &text, &length, &left_out))
		goto out;
	while (length && text[length - 1] != '\n')
		length--;
	if (!length || (boot == stream->boot && left_out + length == stream->console_end))
		goto out;
	object = json_pack("{s:I, s:o}", "boot", (json_int_t)boot, "lines",
			   last_lines(text, length));
	json = object ? json_dumps(object, JSON_COMPACT) : NULL;
	json_decref(object);
	event = json ? str_printf("event: console\ndata: %s\n\n", json) : NULL;
	if (event) {
		stream->boot = boot;
		stream->console_end = left_out + length;
	}
out:
	free(path);
	free(text);
	free(json);
	return event;
}

static void set_text(struct stream *stream, char *text)
{
	stream->text = text;
	stream->length = strlen(text);
	stream->sent = 0;
}

static int load_progress(struct stream *stream)
{
	char *progress, *console, *text;
	bool final;
	int ret;

	ret = progress_json(stream->http->db, stream->experiment, &progress);
	if (ret)
		return ret;
	final = is_final(progress);
	console = final ? NULL : console_event(stream);
	text = str_printf("event: progress\ndata: %s\n\n%s%s", progress, console ? console : "",
			  final ? "event: end\ndata: {}\n\n" : "");
	free(console);
	free(progress);
	if (!text)
		return -ENOMEM;
	set_text(stream, text);
	stream->last = final;
	return 0;
}

static ssize_t send_text(struct stream *stream, char *buffer, size_t size)
{
	size_t length = stream->length - stream->sent;

	if (length > size)
		length = size;
	memcpy(buffer, stream->text + stream->sent, length);
	stream->sent += length;
	if (stream->sent == stream->length) {
		free(stream->text);
		stream->text = NULL;
	}
	return (ssize_t)length;
}

static ssize_t read_stream(void *arg, uint64_t position, char *buffer, size_t size)
{
	struct stream *stream = arg;
	enum hub_news news;
	char *console;

	if (stream->text)
		return send_text(stream, buffer, size);
	if (stream->last)
		return MHD_CONTENT_READER_END_OF_STREAM;
	while ((news = hub_wait(stream->client)) == HUB_TICK) {
		console = console_event(stream);
		if (!console)
			continue;
		set_text(stream, console);
		return send_text(stream, buffer, size);
	}
	if (news == HUB_WAIT)
		return 0;
	if (news == HUB_CLOSE)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!load_progress(stream))
		return send_text(stream, buffer, size);
	log_err("http: progress of experiment %lld cannot be read", (long long)stream->experiment);
	return MHD_CONTENT_READER_END_WITH_ERROR;
}

static void free_stream(void *arg)
{
	struct stream *stream = arg;

	hub_leave(stream->client);
	free(stream->text);
	free(stream);
}

/** experiments_stream() - GET /api/v1/experiments/{id}/stream */
void experiments_stream(struct request *req)
{
	static const char hello[] = "retry: 2000\n\n";
	struct stream *stream;
	char *progress;
	int ret;

	ret = progress_json(req->http->db, req->id, &progress);
	if (ret) {
		respond_row(req, ret, NULL, "experiment");
		return;
	}
	free(progress);
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return;
	stream->http = req->http;
	stream->experiment = req->id;
	stream->text = strdup(hello);
	stream->length = sizeof(hello) - 1;
	ret = stream->text ? hub_join(req->http->hub, req->connection, req->id, &stream->client)
			   : -ENOMEM;
	if (ret) {
		free(stream->text);
		free(stream);
		respond_errno(req, ret, "following an experiment");
		return;
	}
	respond_stream(req, "text/event-stream", STREAM_BLOCK, read_stream, stream, free_stream);
}
