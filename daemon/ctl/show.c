// SPDX-License-Identifier: GPL-2.0-only
/* Subcommands of one request: report, list, builds, cancel. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/util.h"
#include "ctl/ctl.h"

/* Foreign text on a terminal: control characters must not steer it. */
static void put(const char *string)
{
	for (; *string; string++) {
		unsigned char c = (unsigned char)*string;

		putchar((c < 0x20 && c != '\n') || c == 0x7f ? '?' : c);
	}
}

/** cmd_report() - labctl report ID [--format FORMAT] */
int cmd_report(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {{"format", required_argument, NULL, 'f'}, {0}};
	const char *format = "text";
	char path[128], *body;
	size_t length;
	int64_t id;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c != 'f')
			return CTL_ERROR;
		format = optarg;
	}
	/* A name; what would be more than that in a URL is none. */
	if (strspn(format, "abcdefghijklmnopqrstuvwxyz") != strlen(format) || strlen(format) > 32)
		return ctl_fail("--format %s: a report's format is text, csv, json or benchstat",
				format);
	if (ctl_id(argc - optind == 1 ? argv[optind] : NULL, &id))
		return CTL_ERROR;
	snprintf(path, sizeof(path), "/api/v1/experiments/%lld/report?format=%s", (long long)id,
		 format);
	if (client_get(ctl, path, &body, &length))
		return CTL_ERROR;
	fwrite(body, 1, length, stdout);
	free(body);
	return CTL_OK;
}

/** cmd_list() - labctl list */
int cmd_list(const struct ctl *ctl, int argc, char **argv)
{
	json_t *json, *row;
	size_t i;

	if (argc != 1)
		return ctl_fail("list takes no arguments");
	if (client_get_json(ctl, "/api/v1/experiments?limit=500", &json))
		return CTL_ERROR;
	json_array_foreach (json_object_get(json, "experiments"), i, row) {
		char boots[48];

		snprintf(boots, sizeof(boots), "%lld/%lld",
			 (long long)json_integer_value(json_object_get(row, "boots_done")),
			 (long long)json_integer_value(json_object_get(row, "boots_total")));
		printf("%5lld  %-9s  %9s  ",
		       (long long)json_integer_value(json_object_get(row, "id")),
		       json_text(row, "state"), boots);
		put(json_text(row, "name"));
		if (*json_text(row, "reason")) {
			fputs("  (", stdout);
			put(json_text(row, "reason"));
			fputs(")", stdout);
		}
		putchar('\n');
	}
	if (json_is_integer(json_object_get(json, "next")))
		puts("older ones are not shown");
	json_decref(json);
	return CTL_OK;
}

/** cmd_builds() - labctl builds */
int cmd_builds(const struct ctl *ctl, int argc, char **argv)
{
	json_t *json, *row;
	size_t i;

	if (argc != 1)
		return ctl_fail("builds takes no arguments");
	if (client_get_json(ctl, "/api/v1/builds", &json))
		return CTL_ERROR;
	json_array_foreach (json_object_get(json, "builds"), i, row) {
		printf("%-20s  %-12s  %.12s  ", json_text(row, "name"), json_text(row, "release"),
		       json_text(row, "build_id"));
		put(json_text(row, "base"));
		printf("  (%zu patches)\n", json_array_size(json_object_get(row, "series")));
	}
	json_decref(json);
	return CTL_OK;
}

/** cmd_cancel() - labctl cancel ID */
int cmd_cancel(const struct ctl *ctl, int argc, char **argv)
{
	char path[96];
	json_t *json;
	int64_t id;

	if (ctl_id(argc == 2 ? argv[1] : NULL, &id))
		return CTL_ERROR;
	snprintf(path, sizeof(path), "/api/v1/experiments/%lld/cancel", (long long)id);
	if (client_post(ctl, path, "{}", 2, &json))
		return CTL_ERROR;
	json_decref(json);
	printf("experiment %lld: cancelled\n", (long long)id);
	return CTL_OK;
}
