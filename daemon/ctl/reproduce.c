// SPDX-License-Identifier: GPL-2.0-only
/* labctl reproduce: a run again, and a table of what the two have in common. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/util.h"
#include "ctl/ctl.h"

/* As cmp(1) has them: a difference is an answer and no error. */
enum {
	REPRODUCE_IDENTICAL = 0,
	REPRODUCE_DIFFERS = 1,
	REPRODUCE_ERROR = 2,
};

static long long number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static const char *equal(const json_t *object, const char *key)
{
	return json_is_true(json_object_get(object, key)) ? "yes" : "no";
}

/* The shortest of two forms that reads back as the same number. */
static const char *value(const json_t *metric, const char *key, char buffer[32])
{
	const json_t *json = json_object_get(metric, key);
	double number = json_number_value(json);

	if (!json_is_number(json))
		return "-";
	snprintf(buffer, 32, "%.15g", number);
	if (strtod(buffer, NULL) != number)
		snprintf(buffer, 32, "%.17g", number);
	return buffer;
}

static void print_row(const char *what, const char *stored, const char *reproduced,
		      const char *is_equal)
{
	printf("%-28s %22s %22s  %s\n", what, stored, reproduced, is_equal);
}

static void print_events(const json_t *reproduction, const json_t *events)
{
	const json_t *first = json_object_get(events, "first_difference");
	char stored[32], reproduced[32];
	int64_t ts;

	snprintf(stored, sizeof(stored), "%lld", number(events, "stored"));
	snprintf(reproduced, sizeof(reproduced), "%lld", number(events, "reproduced"));
	print_row("events", stored, reproduced, equal(reproduction, "events_equal"));
	if (json_is_object(first) && !parse_i64(json_text(first, "ts"), 0, INT64_MAX, &ts))
		printf("  the first that differs: %s on CPU %lld at %lld.%09lld s\n",
		       json_text(first, "event"), number(first, "cpu"),
		       (long long)(ts / 1000000000), (long long)(ts % 1000000000));
}

static int print_comparison(const json_t *reproduction)
{
	const json_t *detail = json_object_get(reproduction, "detail"), *row;
	char stored[32], reproduced[32];
	bool identical = json_is_true(json_object_get(reproduction, "identical"));
	size_t i;

	printf("run %lld of experiment %lld: round %lld, arm %s, scenario %s\n\n",
	       number(reproduction, "run"), number(reproduction, "experiment"),
	       number(reproduction, "round"), json_text(reproduction, "arm"),
	       json_text(reproduction, "scenario"));
	print_row("metric", "stored", "reproduced", "equal");
	json_array_foreach (json_object_get(detail, "metrics"), i, row) {
		print_row(json_text(row, "metric"), value(row, "stored", stored),
			  value(row, "reproduced", reproduced), equal(row, "equal"));
	}
	print_events(reproduction, json_object_get(detail, "events"));
	json_array_foreach (json_object_get(detail, "captures"), i, row) {
		snprintf(stored, sizeof(stored), "%.16s", json_text(row, "stored"));
		snprintf(reproduced, sizeof(reproduced), "%.16s", json_text(row, "reproduced"));
		print_row(json_text(row, "name"), stored, reproduced, equal(row, "equal"));
	}
	printf("\n%s\n", identical ? "identical" : "differs");
	return identical ? REPRODUCE_IDENTICAL : REPRODUCE_DIFFERS;
}

/* Waits for the scheduler, which reproduces between two experiments. */
static int wait_for(const struct ctl *ctl, int64_t id)
{
	char path[64];
	json_t *json;
	int ret;

	snprintf(path, sizeof(path), "/api/v1/reproductions/%lld", (long long)id);
	if (client_wait(ctl, path, &json))
		return REPRODUCE_ERROR;
	if (!strcmp(json_text(json, "state"), "done")) {
		ret = print_comparison(json);
	} else {
		ctl_fail("the run could not be reproduced: %s", json_text(json, "reason"));
		ret = REPRODUCE_ERROR;
	}
	json_decref(json);
	return ret;
}

/** cmd_reproduce() - labctl reproduce RUN [--no-wait]; exit codes of its own, see above */
int cmd_reproduce(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {{"no-wait", no_argument, NULL, 'n'}, {0}};
	bool wait = true;
	int64_t run, id;
	char path[64];
	json_t *json;
	int c;

	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c != 'n')
			return REPRODUCE_ERROR;
		wait = false;
	}
	if (argc - optind != 1 || parse_i64(argv[optind], 1, INT64_MAX, &run)) {
		ctl_fail("reproduce takes the number of a run");
		return REPRODUCE_ERROR;
	}
	snprintf(path, sizeof(path), "/api/v1/runs/%lld/reproduce", (long long)run);
	if (client_post(ctl, path, "{}", 2, &json))
		return REPRODUCE_ERROR;
	id = json_integer_value(json_object_get(json, "id"));
	json_decref(json);
	if (wait)
		return wait_for(ctl, id);
	printf("%lld\n", (long long)id);
	return REPRODUCE_IDENTICAL;
}
