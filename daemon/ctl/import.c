// SPDX-License-Identifier: GPL-2.0-only
/* labctl import: a capture or an experiment of elsewhere. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/util.h"
#include "ctl/ctl.h"

/* Waits for the scheduler, which imports between two boots. */
static int wait_for(const struct ctl *ctl, int64_t id)
{
	char path[64];
	json_int_t experiment;
	json_t *json;

	snprintf(path, sizeof(path), "/api/v1/imports/%lld", (long long)id);
	if (client_wait(ctl, path, &json))
		return CTL_ERROR;
	if (strcmp(json_text(json, "state"), "done")) {
		const char *reason = json_string_value(json_object_get(json, "reason"));

		ctl_fail("the import failed: %s", reason ? reason : "no reason given");
		json_decref(json);
		return CTL_ERROR;
	}
	experiment = json_integer_value(json_object_get(json, "experiment"));
	if (experiment) {
		printf("experiment %lld: %s/experiments/%lld\n", (long long)experiment, ctl->url,
		       (long long)experiment);
		json_decref(json);
		return CTL_OK;
	}
	printf("import %lld: %lld events, %lld lost, in %s\n", (long long)id,
	       (long long)json_integer_value(json_object_get(json, "events")),
	       (long long)json_integer_value(json_object_get(json, "lost")),
	       json_string_value(json_object_get(json, "database")));
	json_decref(json);
	return CTL_OK;
}

/** cmd_import() - labctl import FILE [--name NAME] [--tsc-khz KHZ] */
int cmd_import(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {{"name", required_argument, NULL, 'n'},
					      {"tsc-khz", required_argument, NULL, 't'},
					      {0}};
	char path[PATH_MAX], *body;
	const char *name = NULL;
	int64_t id, khz = 0;
	json_t *json;
	int c, ret;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c != 'n' && c != 't')
			return CTL_ERROR;
		if (c == 'n')
			name = optarg;
		else if (parse_i64(optarg, 1, INT32_MAX, &khz))
			return ctl_fail("--tsc-khz %s is no frequency in kHz", optarg);
	}
	if (argc - optind != 1)
		return ctl_fail("import takes one file");
	if (!realpath(argv[optind], path))
		return ctl_fail("%s cannot be read: %s", argv[optind], strerror(errno));
	json = json_pack("{s:s, s:s*, s:o*}", "path", path, "name", name, "tsc_khz",
			 khz ? json_integer(khz) : NULL);
	body = json ? json_dumps(json, JSON_COMPACT) : NULL;
	json_decref(json);
	if (!body)
		return ctl_fail("the file's name is no UTF-8");
	ret = client_post(ctl, "/api/v1/imports", body, strlen(body), &json);
	free(body);
	if (ret)
		return CTL_ERROR;
	id = json_integer_value(json_object_get(json, "id"));
	json_decref(json);
	return wait_for(ctl, id);
}
