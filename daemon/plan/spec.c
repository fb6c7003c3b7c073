// SPDX-License-Identifier: GPL-2.0-only
/*
 * The experiment's spec from JSON. Each object has one table of its keys; a key is one line of a
 * table, a field of a struct and a reader. What a reader cannot see alone is in spec_check.c.
 *
 * Left out keys mean: kind ab, repeats 1, seed 1, alpha 0.05, test rank, primary the second arm in
 * all scenarios, timeout_s 120, boot_timeout_s 120, max_lost 0, no cmdline, no xen_cmdline, no
 * margin, and a trace that records nothing (buffers of 16 MiB per CPU, clock mono).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "plan/spec_read.h"

#define TIMEOUT_DEFAULT_S 120
#define BOOT_TIMEOUT_DEFAULT_S 120
#define BUFFER_DEFAULT_KIB (16 * 1024)
#define CMDLINE_MAX 1024
#define ALPHA_DEFAULT 0.05

static const struct spec_key arm_keys[] = {
	{"name", spec_read_name, offsetof(struct spec_arm, name), true},
	{"build", spec_read_name, offsetof(struct spec_arm, build), true},
	{NULL}};

static int read_arm(struct spec_reader *reader, json_t *value, void *slot)
{
	return spec_read_object(reader, arm_keys, value, slot);
}

/* The agent starts /bin/<workload> and takes no other characters. */
static int read_workload(struct spec_reader *reader, const struct spec_key *key, json_t *value,
			 void *object)
{
	const char *text;
	int ret;

	ret = spec_take_string(reader, value, SPEC_NAME_MAX, &text);
	if (ret)
		return ret;
	if (text[0] == '-' || strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(text))
		return spec_problem(reader, NULL,
				    "Must be a program's name of lower-case letters, digits "
				    "and '-'.");
	return spec_store_string((char **)((char *)object + key->offset), text);
}

static int read_args(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		     void *object)
{
	struct spec_scenario *scenario = object;
	json_t *argv;
	int ret;

	ret = spec_workload_argv(value, &argv, reader->problem, reader->path);
	if (ret)
		return ret;
	json_decref(argv);
	scenario->args = json_incref(value);
	return 0;
}

static const struct spec_key scenario_keys[] = {
	{"name", spec_read_name, offsetof(struct spec_scenario, name), true},
	{"workload", read_workload, offsetof(struct spec_scenario, workload), true},
	{"args", read_args, 0},
	{"timeout_s", spec_read_uint, offsetof(struct spec_scenario, timeout_s), false, 1, 3600},
	{NULL}};

static int read_scenario(struct spec_reader *reader, json_t *value, void *slot)
{
	struct spec_scenario *scenario = slot;
	int ret;

	scenario->timeout_s = TIMEOUT_DEFAULT_S;
	ret = spec_read_object(reader, scenario_keys, value, scenario);
	if (!ret && !scenario->args)
		scenario->args = json_object();
	return ret ?: scenario->args ? 0 : -ENOMEM;
}

static int read_margin(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		       void *object)
{
	double margin = json_number_value(value);
	struct spec *spec = object;

	if (!json_is_number(value) || !(margin > 0 && margin <= 1))
		return spec_problem(reader, NULL,
				    "Must be a fraction above 0 and at most 1, like 0.05.");
	spec->margin = margin;
	return 0;
}

static int read_alpha(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		      void *object)
{
	double alpha = json_number_value(value);
	struct spec *spec = object;

	if (!json_is_number(value) || !(alpha > 0 && alpha < 1))
		return spec_problem(reader, NULL,
				    "Must be a number above 0 and below 1, like 0.05.");
	spec->alpha = alpha;
	return 0;
}

static int read_kind(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		     void *object)
{
	static const char *const kinds[] = {"ab", "aa"};
	struct spec *spec = object;
	size_t kind;
	int ret;

	ret = spec_take_choice(reader, value, kinds, ARRAY_SIZE(kinds), &kind);
	if (!ret)
		spec->aa = kind == 1;
	return ret;
}

static const char *const test_names[] = {[SPEC_TEST_RANK] = "rank", [SPEC_TEST_PAIRED] = "paired"};

/** spec_test_name() - as the spec spells it */
const char *spec_test_name(enum spec_test test)
{
	return test_names[test];
}

static int read_test(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		     void *object)
{
	struct spec *spec = object;
	size_t test;
	int ret;

	ret = spec_take_choice(reader, value, test_names, ARRAY_SIZE(test_names), &test);
	if (!ret)
		spec->test = test;
	return ret;
}

/* Names arms and scenarios, which may come after it: see spec_read_primary(). */
static int leave_for_later(struct spec_reader *reader, const struct spec_key *key, json_t *value,
			   void *object)
{
	return 0;
}

static const struct spec_list arm_list = {read_arm, offsetof(struct spec, n_arms),
					  sizeof(struct spec_arm)};
static const struct spec_list scenario_list = {read_scenario, offsetof(struct spec, n_scenarios),
					       sizeof(struct spec_scenario)};
static const struct spec_list metric_list = {spec_read_metric, offsetof(struct spec, n_metrics),
					     sizeof(struct spec_metric)};

static const struct spec_key spec_keys[] = {
	{"name", spec_read_text, offsetof(struct spec, name), true, 1, 120},
	{"kind", read_kind},
	{"machine", spec_read_name, offsetof(struct spec, machine), true},
	{"subject", spec_read_name, offsetof(struct spec, subject), true},
	{"arms", spec_read_list, offsetof(struct spec, arms), true, 2, SPEC_MAX_ARMS, &arm_list},
	{"rounds", spec_read_uint, offsetof(struct spec, rounds), true, 1, SPEC_MAX_ROUNDS},
	{"repeats", spec_read_uint, offsetof(struct spec, repeats), false, 1, SPEC_MAX_REPEATS},
	{"seed", spec_read_u64, offsetof(struct spec, seed), false, 0, INT64_MAX},
	{"scenarios", spec_read_list, offsetof(struct spec, scenarios), true, 1, SPEC_MAX_SCENARIOS,
	 &scenario_list},
	{"trace", spec_read_trace, 0},
	{"metrics", spec_read_list, offsetof(struct spec, metrics), true, 1, SPEC_MAX_METRICS,
	 &metric_list},
	{"primary", leave_for_later},
	{"alpha", read_alpha},
	{"test", read_test},
	{"margin", read_margin},
	{"boot_timeout_s", spec_read_uint, offsetof(struct spec, boot_timeout_s), false, 1, 600},
	{"max_lost", spec_read_u64, offsetof(struct spec, max_lost), false, 0, INT64_MAX},
	{"cmdline", spec_read_ascii, offsetof(struct spec, cmdline), false, 0, CMDLINE_MAX},
	{"xen_cmdline", spec_read_ascii, offsetof(struct spec, xen_cmdline), false, 0, CMDLINE_MAX},
	{NULL}};

/* jansson's error for a person; its text may quote the body, so it is shown only as ASCII. */
static int syntax_problem(struct problem *problem, const json_error_t *error)
{
	char text[JSON_ERROR_TEXT_LENGTH];
	size_t i;

	for (i = 0; error->text[i]; i++)
		text[i] = error->text[i] >= ' ' && error->text[i] <= '~' ? error->text[i] : '?';
	text[i] = '\0';
	switch (json_error_code(error)) {
	case json_error_invalid_utf8:
		return problem_set(problem, 400, NULL,
				   "The body is not valid UTF-8 in line %d, column %d.",
				   error->line, error->column);
	case json_error_null_character:
	case json_error_null_byte_in_key:
		return problem_set(problem, 400, NULL,
				   "The body holds a NUL character in line %d, column %d.",
				   error->line, error->column);
	case json_error_duplicate_key:
		return problem_set(problem, 400, NULL,
				   "A key is there twice in line %d, column %d: %s.", error->line,
				   error->column, text);
	default:
		return problem_set(problem, 400, NULL,
				   "The body is not JSON in line %d, column %d: %s.", error->line,
				   error->column, text);
	}
}

static int load(const char *body, size_t length, json_t **ret_source, struct problem *problem)
{
	json_error_t error;
	json_t *source;

	if (length > SPEC_MAX_BODY)
		return problem_set(problem, 413, NULL,
				   "The spec has %zu bytes; at most %u are taken.", length,
				   SPEC_MAX_BODY);
	if (memchr(body, '\0', length))
		return problem_set(problem, 400, NULL, "The body holds a NUL character.");
	source = json_loadb(body, length, JSON_REJECT_DUPLICATES, &error);
	if (!source)
		return json_error_code(&error) == json_error_out_of_memory
			       ? -ENOMEM
			       : syntax_problem(problem, &error);
	*ret_source = source;
	return 0;
}

/**
 * spec_parse() - read and check an experiment's spec
 * @body: JSON, not NUL-terminated
 * @length: its bytes; more than SPEC_MAX_BODY are refused
 * @ret_spec: freed with spec_free()
 * @problem: zeroed by the caller; the first mistake with the path of its key: 400 for what is no
 * JSON, 413 for too much of it, 422 for what breaks a rule
 *
 * Whether the machine, the builds and the workloads exist is not looked at here.
 *
 * Return: 0, -EINVAL with @problem set, or -ENOMEM.
 */
int spec_parse(const char *body, size_t length, struct spec **ret_spec, struct problem *problem)
{
	struct spec_reader reader = {.problem = problem};
	struct spec *spec;
	int ret;

	spec = calloc(1, sizeof(*spec));
	if (!spec)
		return -ENOMEM;
	ret = load(body, length, &spec->source, problem);
	if (ret)
		goto fail;

	spec->repeats = 1;
	spec->seed = 1;
	spec->alpha = ALPHA_DEFAULT;
	spec->boot_timeout_s = BOOT_TIMEOUT_DEFAULT_S;
	spec->buffer_kib_per_cpu = BUFFER_DEFAULT_KIB;
	ret = -ENOMEM;
	if (spec_store_string(&spec->clock, "mono") || spec_store_string(&spec->cmdline, "") ||
	    spec_store_string(&spec->xen_cmdline, ""))
		goto fail;
	ret = spec_read_object(&reader, spec_keys, spec->source, spec);
	if (ret)
		goto fail;
	ret = spec_check(spec, problem) ?: spec_read_primary(&reader, spec);
	if (ret)
		goto fail;
	*ret_spec = spec;
	return 0;

fail:
	spec_free(spec);
	return ret;
}

/** spec_free() - release a spec and all that it holds; NULL is fine */
void spec_free(struct spec *spec)
{
	if (!spec)
		return;
	for (size_t i = 0; i < spec->n_arms; i++) {
		free(spec->arms[i].name);
		free(spec->arms[i].build);
	}
	for (size_t i = 0; i < spec->n_scenarios; i++) {
		free(spec->scenarios[i].name);
		free(spec->scenarios[i].workload);
		json_decref(spec->scenarios[i].args);
	}
	for (size_t i = 0; i < spec->n_events; i++)
		free(spec->events[i]);
	for (size_t i = 0; i < spec->n_kprobes; i++)
		free(spec->kprobes[i]);
	for (size_t i = 0; i < spec->n_metrics; i++)
		spec_metric_free(&spec->metrics[i]);
	free(spec->name);
	free(spec->machine);
	free(spec->subject);
	free(spec->clock);
	free(spec->cmdline);
	free(spec->xen_cmdline);
	json_decref(spec->source);
	free(spec);
}
