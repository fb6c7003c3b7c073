// SPDX-License-Identifier: GPL-2.0-only
/*
 * Server-sent events of one experiment: "progress" with the whole state, at the start, after each
 * change and every 15 seconds. A client that comes back after a lost connection therefore misses
 * nothing that it needs. The last event of an ended experiment is "end".
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "http/request.h"
#include "plan/progress.h"

#define STREAM_BLOCK 4096

/**
 * struct stream - one client
 * @text: being sent, or NULL
 * @last: nothing follows @text
 */
struct stream {
	struct http *http;
	struct hub_client *client;
	int64_t experiment;
	char *text;
	size_t length;
	size_t sent;
	bool last;
};

static bool is_final(const char *progress)
{
	json_t *json = json_loads(progress, 0, NULL);
	const char *state = json_string_value(json_object_get(json, "state"));
	bool final = state && strcmp(state, "queued") && strcmp(state, "running");

	json_decref(json);
	return final;
}

static int load_progress(struct stream *stream)
{
	char *progress, *text;
	bool final;
	int ret;

	ret = progress_json(stream->http->db, stream->experiment, &progress);
	if (ret)
		return ret;
	final = is_final(progress);
	text = str_printf("event: progress\ndata: %s\n\n%s", progress,
			  final ? "event: end\ndata: {}\n\n" : "");
	free(progress);
	if (!text)
		return -ENOMEM;
	stream->text = text;
	stream->length = strlen(text);
	stream->sent = 0;
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

	if (stream->text)
		return send_text(stream, buffer, size);
	if (stream->last)
		return MHD_CONTENT_READER_END_OF_STREAM;
	switch (hub_wait(stream->client)) {
	case HUB_WAIT:
		return 0;
	case HUB_CHANGE:
		if (!load_progress(stream))
			return send_text(stream, buffer, size);
		log_err("http: progress of experiment %lld cannot be read",
			(long long)stream->experiment);
		return MHD_CONTENT_READER_END_WITH_ERROR;
	case HUB_CLOSE:
		break;
	}
	return MHD_CONTENT_READER_END_OF_STREAM;
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
