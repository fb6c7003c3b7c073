// SPDX-License-Identifier: GPL-2.0-only
/* labctl plan: what a spec would become, as a table. */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "ctl/ctl.h"

/* Of the arms and the runs together, at best. */
#define COLUMNS 60
#define WIDTH_MIN 12

static long long number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* Names, as many as fit into @columns, and how many there are where they do not. */
static void print_names(const json_t *names, const char *between, size_t columns)
{
	size_t i, used = 0;
	json_t *name;

	json_array_foreach ((json_t *)names, i, name) {
		used += json_string_length(name) + strlen(between);
		if (i && used > columns) {
			printf("%s… (%zu)", between, json_array_size(names));
			return;
		}
		printf("%s%s", i ? between : "", json_string_value(name));
	}
}

/* The arms of a round in the order of their boots; all of them do the same runs. */
static size_t print_round(const json_t *slots, size_t first, int width)
{
	const json_t *slot = json_array_get(slots, first);
	long long round = number(slot, "round");
	size_t i;

	printf("%5lld", round);
	for (i = first; number(json_array_get(slots, i), "round") == round; i++)
		printf("%s%s", i > first ? ", " : "  ", json_text(json_array_get(slots, i), "arm"));
	printf("%*s", width < WIDTH_MIN ? WIDTH_MIN + 2 - width : 2, "");
	print_names(json_object_get(slot, "runs"), " ",
		    width < COLUMNS / 2 ? COLUMNS - width : COLUMNS / 2);
	putchar('\n');
	return i;
}

static void print_order(const json_t *slots)
{
	int width = 0;

	/* Every round has the same arms. */
	for (size_t i = 0; number(json_array_get(slots, i), "round") == 1; i++)
		width += (i ? 2 : 0) + (int)strlen(json_text(json_array_get(slots, i), "arm"));
	printf("round  %-*s  runs of each\n", width < WIDTH_MIN ? WIDTH_MIN : width, "boots");
	for (size_t i = 0; i < json_array_size(slots);)
		i = print_round(slots, i, width);
}

static void print_family(const json_t *plan)
{
	const json_t *family = json_object_get(plan, "family");
	const json_t *slots = json_object_get(plan, "slots");
	double p_floor = json_number_value(json_object_get(family, "p_floor"));
	long long size = number(family, "size");

	if (!size) {
		puts("verdicts  none: no metric is primary, so all is descriptive");
		return;
	}
	printf("verdicts  on %s: ", json_text(family, "arm"));
	print_names(json_object_get(family, "metrics"), ", ", COLUMNS);
	fputs(" in ", stdout);
	print_names(json_object_get(family, "scenarios"), ", ", COLUMNS);
	printf("\n          %lld comparison%s at %lld rounds: the %s test's smallest p is %.3g",
	       size, size == 1 ? "" : "s",
	       number(json_array_get(slots, json_array_size(slots) - 1), "round"),
	       json_text(family, "test"), p_floor);
	if (size > 1)
		printf(",\n          times %lld is %.3g", size, p_floor * size);
	printf("; alpha is %g\n", json_number_value(json_object_get(family, "alpha")));
}

static void print_time(const json_t *estimate)
{
	const json_t *seconds = json_object_get(estimate, "seconds");
	long long s = json_integer_value(seconds), parallel = number(estimate, "parallel");

	fputs("time      ", stdout);
	if (!json_is_integer(seconds))
		fputs("unknown", stdout);
	else if (s < 120)
		printf("%lld s", s);
	else if (s < 7200)
		printf("%lld min", (s + 30) / 60);
	else
		printf("%lld h %lld min", s / 3600, s / 60 % 60);
	printf(", %lld boot%s at a time\n          %s\n", parallel, parallel == 1 ? "" : "s",
	       json_text(estimate, "why"));
}

/** cmd_plan() - labctl plan FILE */
int cmd_plan(const struct ctl *ctl, int argc, char **argv)
{
	json_t *plan;

	if (argc != 2 || (argv[1][0] == '-' && argv[1][1]))
		return ctl_fail("plan takes one file; - reads from stdin");
	if (client_post_file(ctl, "/api/v1/plans", argv[1], &plan))
		return CTL_ERROR;
	print_order(json_object_get(plan, "slots"));
	printf("\nplan      %lld boots, %lld runs%s, sha256 %.16s\n", number(plan, "boots_total"),
	       number(plan, "runs_total"), strcmp(json_text(plan, "kind"), "aa") ? "" : ", A/A",
	       json_text(plan, "plan_sha256"));
	print_family(plan);
	print_time(json_object_get(plan, "estimate"));
	json_decref(plan);
	return CTL_OK;
}
