// SPDX-License-Identifier: GPL-2.0-only
/* Subcommands that make an experiment: submit, aa. */
#include <getopt.h>
#include <stdio.h>

#include "ctl/ctl.h"

/* Takes one operand and --watch. */
static int take_operand(int argc, char **argv, const char *what, bool *watch, char **ret_operand)
{
	static const struct option longs[] = {{"watch", no_argument, NULL, 'w'}, {0}};
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c != 'w')
			return CTL_ERROR;
		*watch = true;
	}
	if (argc - optind != 1)
		return ctl_fail("%s takes %s", argv[0], what);
	*ret_operand = argv[optind];
	return CTL_OK;
}

/* Ends @json, which names a new experiment. */
static int show_new(const struct ctl *ctl, json_t *json, bool watch)
{
	int64_t id = json_integer_value(json_object_get(json, "id"));

	json_decref(json);
	printf("experiment %lld: %s/experiments/%lld\n", (long long)id, ctl->url, (long long)id);
	fflush(stdout);
	return watch ? watch_experiment(ctl, id) : CTL_OK;
}

/** cmd_submit() - labctl submit FILE [--watch] */
int cmd_submit(const struct ctl *ctl, int argc, char **argv)
{
	bool watch = false;
	json_t *json;
	char *file;

	if (take_operand(argc, argv, "one file; - reads from stdin", &watch, &file) ||
	    client_post_file(ctl, "/api/v1/experiments", file, &json))
		return CTL_ERROR;
	return show_new(ctl, json, watch);
}

/** cmd_aa() - labctl aa ID [--watch] */
int cmd_aa(const struct ctl *ctl, int argc, char **argv)
{
	bool watch = false;
	char path[96], *text;
	json_t *json;
	int64_t id;

	if (take_operand(argc, argv, "the number of an experiment", &watch, &text) ||
	    ctl_id(text, &id))
		return CTL_ERROR;
	snprintf(path, sizeof(path), "/api/v1/experiments/%lld/aa", (long long)id);
	if (client_post(ctl, path, "{}", 2, &json))
		return CTL_ERROR;
	return show_new(ctl, json, watch);
}
