// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server's life and the life of a request.
 *
 * libmicrohttpd calls answer() once with the headers, then with each piece of the body, then once
 * more: the request is judged at the first call and answered at the last, because a client that
 * is still sending would not read an earlier answer. A GET is answered on the server's thread; a
 * POST, which may have to wait for the scheduler, and a slow GET on a thread of its own while its
 * connection sleeps.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "http/auth.h"
#include "http/request.h"
#include "http/route.h"
#include "plan/spec.h"
#include "store/db.h"

#define CONNECTIONS_MAX 128
#define TIMEOUT_S 60
/* Threads for POSTs, and beside them for slow GETs, which could not keep anybody from a POST. */
#define WORKERS_MAX 8
#define SLOW_MAX 4
#define GOODBYE_S 2
/* A body that is too large is read to its end, so that the client reads the answer; up to this. */
#define SWALLOW_MAX (64u << 20)

static const char *header(struct request *req, const char *name)
{
	return MHD_lookup_connection_value(req->connection, MHD_HEADER_KIND, name);
}

/* Headers only: sets req->refusal, or req->route. */
static void judge(struct request *req, const char *method, const char *path)
{
	struct problem *refusal = &req->refusal;
	const struct http *http = req->http;
	bool reads = !strcmp(method, "GET") || !strcmp(method, "HEAD");
	struct route_args args = {0};
	const char *length;
	int64_t bytes;
	int ret;

	if (!auth_host_allowed(header(req, MHD_HTTP_HEADER_HOST), http->port)) {
		problem_set(refusal, MHD_HTTP_MISDIRECTED_REQUEST, NULL,
			    "this server answers to 127.0.0.1:%u and localhost:%u only", http->port,
			    http->port);
		return;
	}
	ret = route_find(routes, method, path, &req->route, &args, req->allow, sizeof(req->allow));
	req->id = args.id;
	memcpy(req->name, args.name, sizeof(req->name));
	if (ret == -ENOENT) {
		const struct static_file *file = static_find(http->files, path);

		if (file && reads) {
			static_serve(req, file);
			return;
		}
		if (file) {
			snprintf(req->allow, sizeof(req->allow), "GET, HEAD");
			ret = -EPERM;
		}
	}
	if (ret == -ENOENT) {
		problem_set(refusal, MHD_HTTP_NOT_FOUND, NULL, "there is nothing at this address");
		return;
	}
	if (ret) {
		problem_set(refusal, MHD_HTTP_METHOD_NOT_ALLOWED, NULL, "this address takes %s",
			    req->allow);
		return;
	}
	if (reads)
		return;
	length = header(req, MHD_HTTP_HEADER_CONTENT_LENGTH);
	if (!auth_token_matches(header(req, MHD_HTTP_HEADER_AUTHORIZATION), http->token))
		problem_set(
			refusal, MHD_HTTP_UNAUTHORIZED, NULL,
			"this needs the token of the data directory, as \"Authorization: Bearer TOKEN\"");
	else if (!auth_is_json(header(req, MHD_HTTP_HEADER_CONTENT_TYPE)))
		problem_set(refusal, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, NULL,
			    "the content type must be application/json");
	else if (length && (parse_i64(length, 0, SPEC_MAX_BODY, &bytes)))
		problem_set(refusal, MHD_HTTP_CONTENT_TOO_LARGE, NULL,
			    "a body has at most %u bytes", SPEC_MAX_BODY);
}

static void refuse(struct request *req)
{
	respond_problem(req, &req->refusal);
	if (req->refusal.status == MHD_HTTP_METHOD_NOT_ALLOWED)
		respond_header(req, MHD_HTTP_HEADER_ALLOW, req->allow);
	if (req->refusal.status == MHD_HTTP_UNAUTHORIZED)
		respond_header(req, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer realm=\"labd\"");
}

static enum MHD_Result queue(struct request *req)
{
	enum MHD_Result ret;

	if (!req->response) {
		log_err("http: no memory for an answer");
		return MHD_NO;
	}
	ret = MHD_queue_response(req->connection, req->status, req->response);
	MHD_destroy_response(req->response);
	req->response = NULL;
	req->http->requests++;
	return ret;
}

/* Returns false when the client sends more than anybody would read. */
static bool receive(struct request *req, const char *data, size_t size)
{
	char *grown;

	req->received += size;
	if (req->received > SWALLOW_MAX)
		return false;
	if (!req->refusal.status && req->received > SPEC_MAX_BODY)
		problem_set(&req->refusal, MHD_HTTP_CONTENT_TOO_LARGE, NULL,
			    "a body has at most %u bytes", SPEC_MAX_BODY);
	if (req->refusal.status)
		return true;
	grown = realloc(req->body, req->length + size + 1);
	if (!grown)
		return false;
	req->body = grown;
	memcpy(req->body + req->length, data, size);
	req->length += size;
	req->body[req->length] = '\0';
	return true;
}

static void handle_slow(struct request *req)
{
	int ret;

	ret = db_open_reader(req->http->data_dir, &req->db);
	if (ret) {
		respond_errno(req, ret, "opening the database");
		return;
	}
	req->route->handle(req);
	db_close(req->db);
	req->db = NULL;
}

static void *work_main(void *arg)
{
	struct request *req = arg;
	struct http *http = req->http;
	bool slow = req->route->slow;

	if (slow)
		handle_slow(req);
	else
		req->route->handle(req);
	/* The request may be gone as soon as its connection runs again: count down through http. */
	MHD_resume_connection(req->connection);
	pthread_mutex_lock(&http->lock);
	http->slow -= slow;
	if (!--http->busy)
		pthread_cond_signal(&http->idle);
	pthread_mutex_unlock(&http->lock);
	return NULL;
}

static void work(struct request *req)
{
	struct http *http = req->http;
	bool slow = req->route->slow, full;
	pthread_attr_t attr;
	pthread_t thread;
	int ret;

	pthread_mutex_lock(&http->lock);
	full = http->closing ||
	       (slow ? http->slow >= SLOW_MAX : http->busy - http->slow >= WORKERS_MAX);
	if (!full) {
		http->slow += slow;
		http->busy++;
		http->unsent++;
	}
	pthread_mutex_unlock(&http->lock);
	if (full) {
		respond_error(req, MHD_HTTP_SERVICE_UNAVAILABLE, NULL, "too many requests at once");
		return;
	}
	req->working = true;
	MHD_suspend_connection(req->connection);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	ret = pthread_create(&thread, &attr, work_main, req);
	pthread_attr_destroy(&attr);
	if (ret) {
		respond_errno(req, -ret, "starting a thread");
		MHD_resume_connection(req->connection);
		pthread_mutex_lock(&http->lock);
		http->slow -= slow;
		http->busy--;
		pthread_mutex_unlock(&http->lock);
	}
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *connection, const char *path,
			      const char *method, const char *version, const char *data,
			      size_t *size, void **context)
{
	struct request *req = *context;

	if (!req) {
		req = calloc(1, sizeof(*req));
		if (!req)
			return MHD_NO;
		req->http = arg;
		req->connection = connection;
		*context = req;
		judge(req, method, path);
		/* A client that asks before it sends ("Expect: 100-continue") need not send. */
		if (req->refusal.status && header(req, MHD_HTTP_HEADER_EXPECT)) {
			refuse(req);
			return queue(req);
		}
		return MHD_YES;
	}
	if (*size) {
		bool more = receive(req, data, *size);

		*size = 0;
		return more ? MHD_YES : MHD_NO;
	}
	if (req->response || req->working)
		return queue(req);
	if (req->refusal.status) {
		refuse(req);
	} else if (!strcmp(req->route->method, "GET") && !req->route->slow) {
		req->route->handle(req);
	} else {
		work(req);
		if (req->working)
			return MHD_YES;
	}
	return queue(req);
}

static void completed(void *arg, struct MHD_Connection *connection, void **context,
		      enum MHD_RequestTerminationCode code)
{
	struct request *req = *context;

	if (!req)
		return;
	if (req->working) {
		pthread_mutex_lock(&req->http->lock);
		req->http->unsent--;
		pthread_cond_signal(&req->http->idle);
		pthread_mutex_unlock(&req->http->lock);
	}
	if (req->response)
		MHD_destroy_response(req->response);
	free(req->body);
	free(req);
	*context = NULL;
}

/*
 * No address here needs an escaped character, and an unescaped NUL would end a path early: what is
 * escaped stays so, and is not found.
 */
static size_t keep_escapes(void *arg, struct MHD_Connection *connection, char *text)
{
	return strlen(text);
}

static void log_line(void *arg, const char *fmt, va_list args)
{
	char line[256];

	vsnprintf(line, sizeof(line), fmt, args);
	line[strcspn(line, "\n")] = '\0';
	log_debug("http: %s", line);
}

static void free_http(struct http *http)
{
	db_close(http->db);
	static_free(http->files);
	pthread_cond_destroy(&http->idle);
	pthread_mutex_destroy(&http->lock);
	free(http->data_dir);
	free(http->builds_dir);
	free(http->token);
	free(http);
}

/* The port must be known before the server's thread looks at its first Host header. */
static int listen_on(uint16_t port, int *ret_fd, uint16_t *ret_port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	socklen_t length = sizeof(address);
	int fd, one = 1, ret;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, SOMAXCONN) ||
	    getsockname(fd, (struct sockaddr *)&address, &length)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	*ret_fd = fd;
	*ret_port = ntohs(address.sin_port);
	return 0;
}

static int start_daemon(struct http *http, uint16_t port)
{
	unsigned int flags =
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
	int fd = -1, ret;

	ret = listen_on(port, &fd, &http->port);
	if (ret)
		return ret;
	http->daemon = MHD_start_daemon(
		flags, http->port, NULL, NULL, answer, http, MHD_OPTION_EXTERNAL_LOGGER, log_line,
		NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_NOTIFY_COMPLETED, completed, NULL,
		MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL, MHD_OPTION_CONNECTION_LIMIT,
		CONNECTIONS_MAX, MHD_OPTION_CONNECTION_TIMEOUT, TIMEOUT_S, MHD_OPTION_END);
	if (!http->daemon) {
		close(fd);
		return -EIO;
	}
	return 0;
}

/**
 * http_start() - serve
 * @ret_http: ended by http_stop()
 *
 * lab.db must exist. Return: 0, -EADDRINUSE when the port is taken, or another negative errno;
 * logged.
 */
int http_start(const struct http_config *config, struct http **ret_http)
{
	struct http *http;
	int ret;

	http = calloc(1, sizeof(*http));
	if (!http)
		return -ENOMEM;
	pthread_mutex_init(&http->lock, NULL);
	pthread_cond_init(&http->idle, NULL);
	http->sched = config->sched;
	http->hub = config->hub;
	http->port = config->port;
	http->data_dir = strdup(config->data_dir);
	http->builds_dir = strdup(config->builds_dir);
	http->token = strdup(config->token);
	ret = http->data_dir && http->builds_dir && http->token ? 0 : -ENOMEM;
	if (!ret)
		ret = static_load(&http->files);
	if (!ret)
		ret = db_open_reader(http->data_dir, &http->db);
	if (ret)
		goto out_free;
	ret = start_daemon(http, config->port);
	if (ret) {
		log_err("cannot listen on 127.0.0.1:%u: %s", config->port, strerror(-ret));
		goto out_free;
	}
	*ret_http = http;
	return 0;

out_free:
	free_http(http);
	return ret;
}

/** http_port() - where it listens */
uint16_t http_port(const struct http *http)
{
	return http->port;
}

/*
 * The daemon must not be stopped while a connection is suspended; and who has changed something is
 * told so, if he listens.
 */
static void wait_for_work(struct http *http)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += GOODBYE_S;
	pthread_mutex_lock(&http->lock);
	http->closing = true;
	while (http->busy)
		pthread_cond_wait(&http->idle, &http->lock);
	while (http->unsent) {
		if (pthread_cond_timedwait(&http->idle, &http->lock, &until) == ETIMEDOUT)
			break;
	}
	pthread_mutex_unlock(&http->lock);
}

/** http_stop() - send followers away, finish what is with the scheduler, end; NULL is allowed */
void http_stop(struct http *http)
{
	MHD_socket listener;

	if (!http)
		return;
	listener = MHD_quiesce_daemon(http->daemon);
	hub_close(http->hub);
	wait_for_work(http);
	MHD_stop_daemon(http->daemon);
	if (listener != MHD_INVALID_SOCKET)
		close(listener);
	free_http(http);
}
