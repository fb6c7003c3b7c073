// SPDX-License-Identifier: GPL-2.0-only
/* The spec's "primary": the one comparison with the base that verdicts are for. */
#include <stdio.h>
#include <string.h>

#include "plan/spec_read.h"

/**
 * struct primary - the object as it was sent; the texts are the spec's source's
 * @arm: NULL when it was left out
 * @n_scenarios: 0 when they were left out
 */
struct primary {
	const char *arm;
	const char *scenarios[SPEC_MAX_SCENARIOS];
	size_t n_scenarios;
};

static int read_scenario(struct spec_reader *reader, json_t *value, void *slot)
{
	return spec_take_string(reader, value, SPEC_NAME_MAX, slot);
}

static int read_arm(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		    void *object)
{
	return spec_take_string(reader, value, SPEC_NAME_MAX, &((struct primary *)object)->arm);
}

static const struct spec_list scenario_list = {read_scenario, offsetof(struct primary, n_scenarios),
					       sizeof(const char *)};

static const struct spec_key primary_keys[] = {{"arm", read_arm},
					       {"scenarios", spec_read_list,
						offsetof(struct primary, scenarios), false, 1,
						SPEC_MAX_SCENARIOS, &scenario_list},
					       {NULL}};

static int find_arm(struct spec_reader *reader, struct spec *spec, const char *name)
{
	char shown[SPEC_NAME_MAX + 4];

	if (!strcmp(name, spec->arms[0].name))
		return spec_problem(reader, "arm",
				    "Is the base itself, which all others are compared with.");
	for (size_t i = 1; i < spec->n_arms; i++) {
		if (!strcmp(name, spec->arms[i].name)) {
			spec->primary_arm = i;
			return 0;
		}
	}
	return spec_problem(reader, "arm", "There is no arm %s.", spec_show(name, shown));
}

static int find_scenario(struct spec_reader *reader, struct spec *spec, const char *name,
			 size_t index)
{
	char key[32], shown[SPEC_NAME_MAX + 4];

	snprintf(key, sizeof(key), "scenarios[%zu]", index);
	for (size_t i = 0; i < spec->n_scenarios; i++) {
		if (strcmp(name, spec->scenarios[i].name))
			continue;
		if (spec->primary_scenario[i])
			return spec_problem(reader, key, "The scenario %s is listed twice.", name);
		spec->primary_scenario[i] = true;
		return 0;
	}
	return spec_problem(reader, key, "There is no scenario %s.", spec_show(name, shown));
}

/**
 * spec_read_primary() - the object "primary", after the arms and scenarios that it names
 *
 * Without it, or with a part of it left out, that is the second arm and all scenarios.
 *
 * Return: 0 or -EINVAL with the problem set.
 */
int spec_read_primary(struct spec_reader *reader, struct spec *spec)
{
	json_t *value = json_object_get(spec->source, "primary");
	struct primary primary = {0};
	int ret = 0;

	strcpy(reader->path, "primary");
	if (value)
		ret = spec_read_object(reader, primary_keys, value, &primary);
	spec->primary_arm = 1;
	if (!ret && primary.arm)
		ret = find_arm(reader, spec, primary.arm);
	for (size_t i = 0; !ret && i < primary.n_scenarios; i++)
		ret = find_scenario(reader, spec, primary.scenarios[i], i);
	for (size_t i = 0; !primary.n_scenarios && i < spec->n_scenarios; i++)
		spec->primary_scenario[i] = true;
	reader->path[0] = '\0';
	return ret;
}
