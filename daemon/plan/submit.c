// SPDX-License-Identifier: GPL-2.0-only
/* From a request's body to a queued experiment: the spec is checked, planned, sealed, and stored
 * whole. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "plan/exec.h"
#include "store/build.h"
#include "store/db.h"

/* Everything that a submission becomes before it is stored. */
struct submission {
	struct spec *spec;
	struct plan *plan;
	json_t *builds; /* manifests by arm */
	char *spec_text;
	char *plan_text;
};

static void submission_free(struct submission *sub)
{
	free(sub->plan_text);
	free(sub->spec_text);
	json_decref(sub->builds);
	plan_free(sub->plan);
	spec_free(sub->spec);
}

static int out_of_order(struct problem *problem, const char *what, int err)
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

static int find_builds(struct sched *sched, struct submission *sub, struct problem *problem)
{
	const struct spec *spec = sub->spec;
	json_t *build;
	char key[32];
	int ret;

	sub->builds = json_array();
	for (size_t i = 0; i < spec->n_arms; i++) {
		snprintf(key, sizeof(key), "arms[%zu].build", i);
		ret = build_find(sched->db, sched->config.builds_dir, spec->arms[i].build, &build);
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

static int check_workloads(struct sched *sched, const struct spec *spec, struct problem *problem)
{
	json_t *image;
	char key[40];
	int ret;

	ret = image_find(sched->config.images_dir, spec->subject, &image);
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

static int prepare(struct sched *sched, const char *body, size_t length, struct submission *sub,
		   struct problem *problem)
{
	json_t *plan;
	int ret;

	ret = spec_parse(body, length, &sub->spec, problem);
	if (ret)
		return ret;
	ret = check_machine(sub->spec, problem)
		      ?: check_workloads(sched, sub->spec, problem)
		      ?: find_builds(sched, sub, problem) ?: check_hypervisors(sub, problem);
	if (ret)
		return ret;
	ret = plan_make(sub->spec, &sub->plan);
	if (ret)
		return out_of_order(problem, "the plan could not be made", ret);
	plan = plan_to_json(sub->spec, sub->plan);
	sub->plan_text = json_dumps(plan, JSON_COMPACT | JSON_SORT_KEYS);
	sub->spec_text = json_dumps(sub->spec->source, JSON_COMPACT);
	json_decref(plan);
	return sub->plan_text && sub->spec_text ? 0 : out_of_order(problem, "submission", -ENOMEM);
}

static int insert_parts(sqlite3 *db, int64_t id, const struct submission *sub)
{
	const struct spec *spec = sub->spec;
	char *text, seed[24];
	int ret = 0;

	for (size_t i = 0; !ret && i < spec->n_arms; i++) {
		text = json_dumps(json_array_get(sub->builds, i), JSON_COMPACT | JSON_SORT_KEYS);
		ret = db_run(db,
			     "INSERT INTO arm (experiment, position, name, build, build_json) "
			     "VALUES (?1, ?2, ?3, ?4, ?5)",
			     "iittt", id, (int64_t)i, spec->arms[i].name, spec->arms[i].build,
			     text);
		free(text);
	}
	for (size_t i = 0; !ret && i < spec->n_scenarios; i++) {
		text = json_dumps(spec->scenarios[i].args, JSON_COMPACT);
		ret = db_run(db,
			     "INSERT INTO scenario (experiment, position, name, workload, args) "
			     "VALUES (?1, ?2, ?3, ?4, ?5)",
			     "iittt", id, (int64_t)i, spec->scenarios[i].name,
			     spec->scenarios[i].workload, text ?: "{}");
		free(text);
	}
	for (size_t i = 0; !ret && i < spec->n_metrics; i++) {
		const struct spec_metric *metric = &spec->metrics[i];

		ret = db_run(
			db,
			"INSERT INTO metric (experiment, position, name, unit, agg, better, is_primary,"
			" not_a_result) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
			"iitttiit", id, (int64_t)i, metric->name, metric->unit,
			metric_agg_name(metric->agg), (int64_t)metric->better,
			(int64_t)metric->primary, metric->not_a_result);
	}
	for (size_t i = 0; !ret && i < sub->plan->n_slots; i++) {
		const struct plan_slot *slot = &sub->plan->slots[i];

		snprintf(seed, sizeof(seed), "%llu", (unsigned long long)slot->seed);
		ret = db_run(db,
			     "INSERT INTO slot (experiment, round, position, arm, seed) "
			     "VALUES (?1, ?2, ?3, ?4, ?5)",
			     "iiitt", id, (int64_t)slot->round, (int64_t)slot->position,
			     spec->arms[slot->arm].name, seed);
	}
	return ret;
}

static int insert(sqlite3 *db, const struct submission *sub, const char *idempotency_key,
		  int64_t *ret_id)
{
	const struct spec *spec = sub->spec;
	int64_t id = 0;
	int ret;

	ret = db_begin(db);
	if (ret)
		return ret;
	ret = db_run(
		db,
		"INSERT INTO experiment (name, machine, subject, state, spec, plan, plan_sha256,"
		" idempotency_key, created) VALUES (?1, ?2, ?3, 'queued', ?4, ?5, ?6, ?7, ?8)",
		"ttttttti", spec->name, spec->machine, spec->subject, sub->spec_text,
		sub->plan_text, sub->plan->sha256, idempotency_key, wall_ns());
	if (!ret) {
		id = sqlite3_last_insert_rowid(db);
		ret = insert_parts(db, id, sub);
	}
	ret = db_end(db, ret);
	if (!ret)
		*ret_id = id;
	return ret;
}

/* The same key with the same spec is the same submission, sent again by a client that got no
 * answer. */
static int find_earlier(sqlite3 *db, const char *key, const struct submission *sub, int64_t *ret_id,
			struct problem *problem)
{
	char *spec = NULL;
	int64_t id;
	int ret;

	ret = db_get_int(db, &id, "SELECT id FROM experiment WHERE idempotency_key = ?1", "t", key);
	if (ret)
		return ret;
	ret = db_get_text(db, &spec, "SELECT spec FROM experiment WHERE id = ?1", "i", id);
	if (ret)
		return ret;
	if (strcmp(spec, sub->spec_text))
		ret = problem_set(
			problem, 409, NULL,
			"this Idempotency-Key was used for another spec (experiment %lld)",
			(long long)id);
	else
		*ret_id = id;
	free(spec);
	return ret;
}

/**
 * sched_submit() - queue an experiment
 * @idempotency_key: NULL, or what the client says to recognise a repeated submission by
 * @ret_created: false when @ret_experiment is an earlier one of the same key
 *
 * Return: 0, or negative errno with @problem set; nothing is stored then.
 */
int sched_submit(struct sched *sched, const char *body, size_t length, const char *idempotency_key,
		 int64_t *ret_experiment, bool *ret_created, struct problem *problem)
{
	struct submission sub = {0};
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = prepare(sched, body, length, &sub, problem);
	if (ret)
		goto out;
	if (idempotency_key) {
		ret = find_earlier(sched->db, idempotency_key, &sub, ret_experiment, problem);
		if (ret != -ENOENT) {
			if (!ret)
				*ret_created = false;
			goto out;
		}
	}
	ret = insert(sched->db, &sub, idempotency_key, ret_experiment);
	if (ret) {
		out_of_order(problem, "the experiment could not be stored", ret);
	} else {
		*ret_created = true;
		pthread_cond_broadcast(&sched->wake);
	}
out:
	pthread_mutex_unlock(&sched->lock);
	submission_free(&sub);
	return ret;
}

/**
 * sched_register_build() - make a kernel that somebody else built known by a name
 * @ret_name: its name, the caller's to free
 *
 * Return: 0, or negative errno with @problem set.
 */
int sched_register_build(struct sched *sched, const char *body, size_t length, char **ret_name,
			 struct problem *problem)
{
	json_t *build, *found = NULL;
	json_error_t error;
	const char *name;
	char *text = NULL;
	int ret;

	build = json_loadb(body, length, JSON_REJECT_DUPLICATES, &error);
	if (!build)
		return problem_set(problem, 400, NULL, "line %d, column %d: %s", error.line,
				   error.column, error.text);
	ret = build_check(build, problem);
	if (ret)
		goto out_decref;
	name = json_string_value(json_object_get(build, "name"));
	text = json_dumps(build, JSON_COMPACT | JSON_SORT_KEYS);
	pthread_mutex_lock(&sched->lock);
	if (!build_find(sched->db, sched->config.builds_dir, name, &found))
		ret = problem_set(problem, 409, "name", "there is a build \"%s\" already", name);
	else
		ret = db_run(sched->db,
			     "INSERT INTO build (name, manifest, created) VALUES (?1, ?2, ?3)",
			     "tti", name, text, wall_ns());
	pthread_mutex_unlock(&sched->lock);
	if (!ret)
		*ret_name = strdup(name);
	else if (!problem->status)
		out_of_order(problem, "the build could not be stored", ret);
	json_decref(found);
	free(text);
out_decref:
	json_decref(build);
	return ret;
}
