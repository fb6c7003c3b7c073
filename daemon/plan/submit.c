// SPDX-License-Identifier: GPL-2.0-only
/* From a request's body to a queued experiment, which is stored whole. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "plan/exec.h"
#include "plan/submission.h"
#include "store/build.h"
#include "store/db.h"

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

static int insert(sqlite3 *db, const struct submission *sub, const char *spec_text,
		  const char *idempotency_key, int64_t *ret_id)
{
	char *plan_text = json_dumps(sub->plan_json, JSON_COMPACT | JSON_SORT_KEYS);
	const struct spec *spec = sub->spec;
	int64_t id = 0;
	int ret;

	ret = plan_text ? db_begin(db) : -ENOMEM;
	if (ret)
		goto out;
	ret = db_run(
		db,
		"INSERT INTO experiment (name, kind, machine, subject, state, spec, plan, plan_sha256,"
		" idempotency_key, created) VALUES (?1, ?2, ?3, ?4, 'queued', ?5, ?6, ?7, ?8, ?9)",
		"tttttttti", spec->name, spec->aa ? "aa" : "ab", spec->machine, spec->subject,
		spec_text, plan_text, sub->plan->sha256, idempotency_key, wall_ns());
	if (!ret) {
		id = sqlite3_last_insert_rowid(db);
		ret = insert_parts(db, id, sub);
	}
	ret = db_end(db, ret);
	if (!ret)
		*ret_id = id;
out:
	free(plan_text);
	return ret;
}

/* The same key with the same spec is the same submission, sent again by a client that got no
 * answer. */
static int find_earlier(sqlite3 *db, const char *key, const char *spec_text, int64_t *ret_id,
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
	if (strcmp(spec, spec_text))
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
	char *spec_text = NULL;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = submission_prepare(&sched->config, sched->db, body, length, &sub, problem);
	if (ret)
		goto out;
	spec_text = json_dumps(sub.spec->source, JSON_COMPACT);
	if (!spec_text) {
		ret = out_of_order(problem, "submission", -ENOMEM);
		goto out;
	}
	if (idempotency_key) {
		ret = find_earlier(sched->db, idempotency_key, spec_text, ret_experiment, problem);
		if (ret != -ENOENT) {
			if (!ret)
				*ret_created = false;
			goto out;
		}
	}
	ret = insert(sched->db, &sub, spec_text, idempotency_key, ret_experiment);
	if (ret) {
		out_of_order(problem, "the experiment could not be stored", ret);
	} else {
		*ret_created = true;
		pthread_cond_broadcast(&sched->wake);
	}
out:
	pthread_mutex_unlock(&sched->lock);
	free(spec_text);
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
