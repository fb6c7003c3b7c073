/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_HTTP_HTTP_H
#define LABD_HTTP_HTTP_H

#include <stdint.h>

#include "http/hub.h"
#include "plan/sched.h"

/*
 * The HTTP server: API under /api/v1, dashboard, metrics. Binds 127.0.0.1. GET reads through a
 * read-only connection on the server's one thread; what changes something is handed to the
 * scheduler on a thread of its own, so that a slow answer holds nobody up.
 */
struct http;

/**
 * struct http_config - what the server needs; strings are copied
 * @port: 1..65535, or 0 for any free one (see http_port())
 * @data_dir: holds lab.db, captures/ and consoles/
 * @builds_dir: manifests of kernel/build.sh
 * @token: what a client must present before it may change anything
 * @sched: must outlive the server
 * @hub: carries the scheduler's progress events; must outlive the server
 */
struct http_config {
	uint16_t port;
	const char *data_dir;
	const char *builds_dir;
	const char *token;
	struct sched *sched;
	struct hub *hub;
};

int http_start(const struct http_config *config, struct http **ret_http);
uint16_t http_port(const struct http *http);
void http_stop(struct http *http);

#endif
