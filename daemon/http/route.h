/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_HTTP_ROUTE_H
#define LABD_HTTP_ROUTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct request;

/**
 * struct route - one method of one path
 * @method: "GET" (HEAD too) or "POST"
 * @pattern: the path; "{id}" stands for a number from 1
 * @handle: makes the answer; for GET on the server's thread, else on one of its own
 */
struct route {
	const char *method;
	const char *pattern;
	void (*handle)(struct request *req);
};

extern const struct route routes[];

bool route_match(const char *pattern, const char *path, int64_t *ret_id);
int route_find(const struct route *table, const char *method, const char *path,
	       const struct route **ret_route, int64_t *ret_id, char *ret_allow, size_t allow_size);

#endif
