// SPDX-License-Identifier: GPL-2.0-only
/* What a spec would become, without becoming it. */
#include <errno.h>
#include <math.h>

#include "machine/machine.h"
#include "plan/estimate.h"
#include "plan/exec.h"
#include "plan/family.h"
#include "plan/submission.h"
#include "store/db.h"

static json_t *estimate_to_json(const struct estimate *estimate)
{
	return json_pack("{s:o, s:i, s:I, s:I, s:s}", "seconds",
			 estimate->known ? json_integer(llround(estimate->seconds)) : json_null(),
			 "parallel", (int)estimate->parallel, "boots_seen",
			 (json_int_t)estimate->boots_seen, "runs_seen",
			 (json_int_t)estimate->runs_seen, "why", estimate->why);
}

static json_t *preview_to_json(const struct submission *sub, const struct estimate *estimate)
{
	const struct plan *plan = sub->plan;

	return json_pack("{s:s, s:s, s:I, s:I, s:o, s:O, s:o}", "plan_sha256", plan->sha256, "kind",
			 sub->spec->aa ? "aa" : "ab", "boots_total", (json_int_t)plan->n_slots,
			 "runs_total", (json_int_t)(plan->n_slots * plan->slots[0].n_runs),
			 "family", family_to_json(sub->spec), "slots",
			 json_object_get(sub->plan_json, "slots"), "estimate",
			 estimate_to_json(estimate));
}

/**
 * sched_preview() - the plan that a spec would be given, what it could say, and how long it takes
 * @ret_preview: new reference
 *
 * Reads with a connection of its own, so that it waits for nobody and can store nothing.
 *
 * Return: 0, or negative errno with @problem set, the same as sched_submit()'s.
 */
int sched_preview(struct sched *sched, const char *body, size_t length, json_t **ret_preview,
		  struct problem *problem)
{
	const struct machine_ops *ops;
	struct submission sub = {0};
	struct estimate estimate;
	sqlite3 *db = NULL;
	int ret;

	ret = db_open_reader(sched->config.data_dir, &db);
	if (ret)
		return out_of_order(problem, "the database cannot be read", ret);
	ret = submission_prepare(&sched->config, db, body, length, &sub, problem);
	if (ret)
		goto out;
	ops = machine_find(sub.spec->machine);
	ret = estimate_make(db, sub.spec, ops->capacity ? ops->capacity() : 1, &estimate);
	if (ret) {
		out_of_order(problem, "the time it takes cannot be estimated", ret);
		goto out;
	}
	*ret_preview = preview_to_json(&sub, &estimate);
	if (!*ret_preview)
		ret = out_of_order(problem, "the preview could not be made", -ENOMEM);
out:
	submission_free(&sub);
	db_close(db);
	return ret;
}
