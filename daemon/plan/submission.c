// SPDX-License-Identifier: GPL-2.0-only
/* A request's body as something that could be queued: the spec is read, checked against what the
 * lab has, planned and sealed. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "machine/machine.h"
#include "plan/family.h"
#include "plan/submission.h"
#include "store/build.h"

/** submission_free() - release what a submission holds */
void submission_free(struct submission *sub)
{
	json_decref(sub->plan_json);
	json_decref(sub->builds);
	plan_free(sub->plan);
	spec_free(sub->spec);
}

/**
 * out_of_order() - a problem of the lab's own: a full disk, no memory
 * @what: what could not be done
 * @err: negative errno
 *
 * Return: @err.
 */
int out_of_order(struct problem *problem, const char *what, int err)
{
	problem_set(problem, err == -ENOSPC ? 507 : 500, NULL, "%s: %s", what,
		    err == -ENOSPC  ? "the data directory is full"
		    : err == -EROFS ? "the data directory is read-only"
				    : strerror(-err));
	return err;
}

static int check_machine(const struct spec *spec, struct problem *problem)
{
	const struct machine_ops *const *list;
	char names[128] = "";
	size_t n, len = 0;

	if (machine_find(spec->machine))
		return 0;
	list = machine_list(&n);
	for (size_t i = 0; i < n && len < sizeof(names); i++)
		len += snprintf(names + len, sizeof(names) - len, "%s%s", i ? ", " : "",
				list[i]->name);
	return problem_set(problem, 422, "machine", "no machine \"%s\"; there is: %s",
			   spec->machine, names);
}

static int find_builds(const struct sched_config *config, sqlite3 *db, struct submission *sub,
		       struct problem *problem)
{
	const struct spec *spec = sub->spec;
	json_t *build;
	char key[40];
	int ret;

	sub->builds = json_array();
	for (size_t i = 0; i < spec->n_arms; i++) {
		snprintf(key, sizeof(key), "arms[%zu].build", i);
		ret = build_find(db, config->builds_dir, spec->arms[i].build, &build);
		if (ret == -ENOENT)
			return problem_set(
				problem, 422, key,
				"no build \"%s\" (labctl builds lists them, make kernels builds them)",
				spec->arms[i].build);
		if (ret)
			return out_of_order(problem, "builds cannot be read", ret);
		json_array_append_new(sub->builds, build);
		if (strcmp(json_string_value(json_object_get(build, "subject")), spec->subject))
			return problem_set(problem, 422, key,
					   "build \"%s\" is of subject \"%s\", not \"%s\"",
					   spec->arms[i].build,
					   json_string_value(json_object_get(build, "subject")),
					   spec->subject);
	}
	return 0;
}

static bool has_hypervisor(const json_t *build)
{
	return json_object_get(build, "hypervisor") != NULL;
}

/*
 * With a hypervisor the machine is another one, so that the arms would not be comparable; and what
 * is asked of Xen needs one.
 */
static int check_hypervisors(const struct submission *sub, struct problem *problem)
{
	const struct spec *spec = sub->spec;
	bool first = has_hypervisor(json_array_get(sub->builds, 0));
	char key[40];

	for (size_t i = 1; i < spec->n_arms; i++) {
		if (has_hypervisor(json_array_get(sub->builds, i)) == first)
			continue;
		snprintf(key, sizeof(key), "arms[%zu].build", i);
		return problem_set(
			problem, 422, key,
			"build \"%s\" has %s hypervisor and build \"%s\" of arm %s has %s: "
			"all arms need one, or none may have one",
			spec->arms[i].build, first ? "no" : "a", spec->arms[0].build,
			spec->arms[0].name, first ? "one" : "none");
	}
	if (first)
		return 0;
	if (spec->xen_cmdline && *spec->xen_cmdline)
		return problem_set(problem, 422, "xen_cmdline", "the builds have no hypervisor");
	if (spec_xen_mask(spec))
		return problem_set(problem, 422, "trace",
				   "Xen's events are asked for, and the builds have no hypervisor");
	return 0;
}

static bool image_has(const json_t *image, const char *workload)
{
	const json_t *file;
	char path[80];
	size_t i;

	snprintf(path, sizeof(path), "/bin/%s", workload);
	json_array_foreach (json_object_get(image, "files"), i, file) {
		const char *name = json_string_value(json_object_get(file, "path"));

		if (name && !strcmp(name, path))
			return true;
	}
	return false;
}

static int check_workloads(const struct sched_config *config, const struct spec *spec,
			   struct problem *problem)
{
	json_t *image;
	char key[48];
	int ret;

	ret = image_find(config->images_dir, spec->subject, &image);
	if (ret)
		return problem_set(problem, 422, "subject",
				   "no image for subject \"%s\" (make image builds it)",
				   spec->subject);
	for (size_t i = 0; !ret && i < spec->n_scenarios; i++) {
		snprintf(key, sizeof(key), "scenarios[%zu].workload", i);
		if (!image_has(image, spec->scenarios[i].workload))
			ret = problem_set(problem, 422, key,
					  "the image of subject \"%s\" has no /bin/%s",
					  spec->subject, spec->scenarios[i].workload);
	}
	json_decref(image);
	return ret;
}

/**
 * submission_prepare() - everything between a body and an experiment: read, check, plan and seal
 * @db: any connection to lab.db; only read
 * @sub: zeroed; freed with submission_free(), also after a failure
 *
 * Return: 0, or negative errno with @problem set.
 */
int submission_prepare(const struct sched_config *config, sqlite3 *db, const char *body,
		       size_t length, struct submission *sub, struct problem *problem)
{
	int ret;

	ret = spec_parse(body, length, &sub->spec, problem);
	if (ret)
		return ret;
	ret = check_machine(sub->spec, problem)
		      ?: check_workloads(config, sub->spec, problem)
		      ?: find_builds(config, db, sub, problem)
		      ?: check_hypervisors(sub, problem) ?: family_check(sub->spec, problem);
	if (ret)
		return ret;
	ret = plan_make(sub->spec, &sub->plan);
	if (ret)
		return out_of_order(problem, "the plan could not be made", ret);
	sub->plan_json = plan_to_json(sub->spec, sub->plan);
	return sub->plan_json ? 0 : out_of_order(problem, "the plan could not be made", -ENOMEM);
}
