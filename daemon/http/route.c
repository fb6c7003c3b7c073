// SPDX-License-Identifier: GPL-2.0-only
/* Paths: the table of what the API offers, and how a path finds its row. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/util.h"
#include "http/request.h"
#include "http/route.h"

const struct route routes[] = {
	{"GET", "/api/v1/experiments", experiments_list},
	{"POST", "/api/v1/experiments", experiments_submit},
	{"GET", "/api/v1/experiments/{id}", experiments_get},
	{"POST", "/api/v1/experiments/{id}/cancel", experiments_cancel},
	{"POST", "/api/v1/experiments/{id}/aa", experiments_aa},
	{"GET", "/api/v1/experiments/{id}/results", experiments_results},
	{"GET", "/api/v1/experiments/{id}/report", experiments_report},
	{"GET", "/api/v1/experiments/{id}/ecdf", experiments_ecdf, .slow = true},
	{"GET", "/api/v1/experiments/{id}/stream", experiments_stream},
	{"GET", "/api/v1/experiments/{id}/boots", experiments_boots},
	{"GET", "/api/v1/experiments/{id}/runs", experiments_runs},
	{"GET", "/api/v1/boots/{id}", boots_get},
	{"GET", "/api/v1/boots/{id}/console", boots_console},
	{"GET", "/api/v1/runs/{id}", runs_get},
	{"GET", "/api/v1/runs/{id}/capture", runs_capture},
	{"GET", "/api/v1/runs/{id}/xentrace", runs_xentrace},
	{"POST", "/api/v1/runs/{id}/reproduce", runs_reproduce},
	{"GET", "/api/v1/reproductions", reproductions_list},
	{"GET", "/api/v1/reproductions/{id}", reproductions_get},
	{"POST", "/api/v1/plans", plans_preview},
	{"GET", "/api/v1/builds", builds_list},
	{"POST", "/api/v1/builds", builds_register},
	{"GET", "/api/v1/builds/{name}", builds_get},
	{"GET", "/api/v1/builds/{name}/log", builds_log},
	{"GET", "/api/v1/builds/{name}/config", builds_config},
	{"GET", "/api/v1/builds/{name}/series", builds_series},
	{"GET", "/api/v1/builds/{name}/events", builds_events},
	{"GET", "/api/v1/machines", machines_list},
	{"GET", "/api/v1/machines/{name}", machines_get, .slow = true},
	{"GET", "/api/v1/sql", sql_get, .slow = true},
	{"GET", "/api/v1/imports", imports_list},
	{"POST", "/api/v1/imports", imports_create},
	{"GET", "/api/v1/imports/{id}", imports_get},
	{"GET", "/metrics", metrics_get},
	{"GET", "/healthz", health_get},
	{0},
};

/* Takes what stands for "{id}" off @path. */
static bool take_id(const char **path, struct route_args *args)
{
	size_t length = strcspn(*path, "/");
	char number[20];

	if (!length || length >= sizeof(number) || **path < '1' || **path > '9')
		return false;
	memcpy(number, *path, length);
	number[length] = '\0';
	*path += length;
	return !parse_i64(number, 1, INT64_MAX, &args->id);
}

/* The same for "{name}": the characters that names of a spec may have. */
static bool take_name(const char **path, struct route_args *args)
{
	size_t length = strspn(*path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-");

	if (!length || length > ROUTE_NAME_MAX || **path == '.')
		return false;
	memcpy(args->name, *path, length);
	args->name[length] = '\0';
	*path += length;
	return true;
}

/** route_match() - does @path fit @pattern? @ret_args is filled if so */
bool route_match(const char *pattern, const char *path, struct route_args *ret_args)
{
	static const struct {
		const char *text;
		bool (*take)(const char **path, struct route_args *args);
	} placeholders[] = {{"{id}", take_id}, {"{name}", take_name}};
	struct route_args args = {0};

	while (*pattern) {
		size_t i;

		for (i = 0; i < ARRAY_SIZE(placeholders); i++)
			if (!strncmp(pattern, placeholders[i].text, strlen(placeholders[i].text)))
				break;
		if (i == ARRAY_SIZE(placeholders)) {
			if (*pattern++ != *path++)
				return false;
			continue;
		}
		if (!placeholders[i].take(&path, &args))
			return false;
		pattern += strlen(placeholders[i].text);
	}
	if (*path)
		return false;
	*ret_args = args;
	return true;
}

static bool method_fits(const char *offered, const char *asked)
{
	return !strcmp(offered, asked) || (!strcmp(offered, "GET") && !strcmp(asked, "HEAD"));
}

/**
 * route_find() - the row for a method and a path
 * @ret_allow: with -EPERM the methods that the path has, for the Allow header
 *
 * Return: 0, -ENOENT for an unknown path, -EPERM for a method that the path does not have.
 */
int route_find(const struct route *table, const char *method, const char *path,
	       const struct route **ret_route, struct route_args *ret_args, char *ret_allow,
	       size_t allow_size)
{
	struct route_args args;
	size_t used = 0;

	for (const struct route *route = table; route->method; route++) {
		if (!route_match(route->pattern, path, &args))
			continue;
		if (method_fits(route->method, method)) {
			*ret_route = route;
			*ret_args = args;
			return 0;
		}
		used += snprintf(ret_allow + used, allow_size - used, "%s%s%s", used ? ", " : "",
				 route->method, strcmp(route->method, "GET") ? "" : ", HEAD");
		if (used >= allow_size)
			used = allow_size - 1;
	}
	return used ? -EPERM : -ENOENT;
}
