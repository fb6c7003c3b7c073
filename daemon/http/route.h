/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_HTTP_ROUTE_H
#define LABD_HTTP_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;

#define ROUTE_NAME_MAX 64

/**
 * struct route - one method of one path
 * @method: "GET" (HEAD too) or "POST"
 * @pattern: the path; "{id}" stands for a number from 1, "{name}" for the name of a build or a
 * machine
 * @handle: makes the answer; for GET on the server's thread, else on one of its own
 * @slow: a GET that may take more than some milliseconds: it gets a thread of its own as well, and
 * reads lab.db through req->db, its own connection; req->http->db is the server's thread's
 */
struct route {
	const char *method;
	const char *pattern;
	void (*handle)(struct request *req);
	bool slow;
};

/**
 * struct route_args - what stands in the path for the pattern's placeholders
 * @id: 0 without "{id}"
 * @name: "" without "{name}"
 */
struct route_args {
	int64_t id;
	char name[ROUTE_NAME_MAX + 1];
};

extern const struct route routes[];

bool route_match(const char *pattern, const char *path, struct route_args *ret_args);
int route_find(const struct route *table, const char *method, const char *path,
	       const struct route **ret_route, struct route_args *ret_args, char *ret_allow,
	       size_t allow_size);

#endif
