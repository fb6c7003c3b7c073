// SPDX-License-Identifier: GPL-2.0-only
/* A scenario's "args": the workload's options as an object. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "plan/spec_read.h"

#define ARGS_MAX 32
#define ARG_NAME_MAX 32
#define ARG_VALUE_MAX 256

static bool is_option(const char *name)
{
	size_t len = strlen(name);

	return len && len <= ARG_NAME_MAX && name[0] >= 'a' && name[0] <= 'z' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == len;
}

static int add(json_t *argv, const char *text)
{
	return json_array_append_new(argv, json_string(text)) ? -ENOMEM : 0;
}

static int add_option(json_t *argv, const char *name)
{
	char option[ARG_NAME_MAX + 3];
	size_t n;

	n = snprintf(option, sizeof(option), "--%s", name);
	for (size_t i = 0; i < n; i++)
		if (option[i] == '_')
			option[i] = '-';
	return add(argv, option);
}

static int add_value(struct spec_reader *reader, json_t *argv, const char *name,
		     const json_t *value)
{
	const char *text = json_string_value(value);
	char number[24];

	if (json_is_integer(value)) {
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(value));
		return add(argv, number);
	}
	if (!text)
		return spec_problem(reader, name, "Must be a string, an integer or a boolean.");
	if (json_string_length(value) > ARG_VALUE_MAX)
		return spec_problem(reader, name, "Must be at most %d bytes long.", ARG_VALUE_MAX);
	for (const char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			return spec_problem(reader, name,
					    "May hold only printable ASCII characters.");
	return add(argv, text);
}

/**
 * spec_workload_argv() - turn {"mode":"same","chunk_mib":16,"verify":true} into
 * --mode same --chunk-mib 16 --verify
 * @args: flat object of strings, integers and booleans; false leaves its option out
 * @ret_argv: array of strings without the program's name, in @args' order; new reference
 * @key: path of @args for @problem
 *
 * Return: 0, -EINVAL with @problem set, or -ENOMEM.
 */
int spec_workload_argv(const json_t *args, json_t **ret_argv, struct problem *problem,
		       const char *key)
{
	struct spec_reader reader = {.problem = problem};
	char shown[SPEC_NAME_MAX + 4];
	const char *name;
	json_t *argv, *value;
	int ret = 0;

	snprintf(reader.path, sizeof(reader.path), "%s", key);
	if (!json_is_object(args))
		return spec_problem(&reader, NULL, "Must be an object of the workload's options.");
	if (json_object_size(args) > ARGS_MAX)
		return spec_problem(&reader, NULL, "Must hold at most %d options.", ARGS_MAX);
	argv = json_array();
	if (!argv)
		return -ENOMEM;
	json_object_foreach ((json_t *)args, name, value) {
		if (!is_option(name))
			ret = spec_problem(
				&reader, spec_show(name, shown),
				"An option's name is a lower-case "
				"letter with lower-case letters, digits and '_' behind it, at most "
				"%d characters.",
				ARG_NAME_MAX);
		else if (!json_is_false(value))
			ret = add_option(argv, name);
		if (!ret && !json_is_boolean(value))
			ret = add_value(&reader, argv, name, value);
		if (ret)
			break;
	}
	if (ret)
		json_decref(argv);
	else
		*ret_argv = argv;
	return ret;
}
