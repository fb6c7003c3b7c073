// SPDX-License-Identifier: GPL-2.0-only
/* One experiment from its sealed plan to its results, slot by slot. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "plan/exec.h"
#include "store/build.h"
#include "store/datadir.h"
#include "store/db.h"

/* A boot is not started with less than this left: a run's capture and its rows must fit. */
#define SPACE_NEEDED (512LL << 20)
#define SPACE_POLL_S 5

/** exec_interrupted() - must the work end now, by the user's wish or labd's? */
bool exec_interrupted(struct exec *exec)
{
	struct sched *sched = exec->sched;
	bool yes;

	pthread_mutex_lock(&sched->lock);
	yes = sched->stopping || sched->cancelling;
	pthread_mutex_unlock(&sched->lock);
	return yes;
}

/** exec_cancelled() - was it the user's wish? */
bool exec_cancelled(struct exec *exec)
{
	struct sched *sched = exec->sched;
	bool yes;

	pthread_mutex_lock(&sched->lock);
	yes = sched->cancelling;
	pthread_mutex_unlock(&sched->lock);
	return yes;
}

static int load_builds(struct exec *exec, char reason[256])
{
	char *text;
	int ret;

	for (size_t i = 0; i < exec->spec->n_arms; i++) {
		ret = db_get_text(
			exec->sched->db, &text,
			"SELECT build_json FROM arm WHERE experiment = ?1 AND position = ?2", "ii",
			exec->id, (int64_t)i);
		if (ret)
			return ret;
		exec->builds[i] = json_loads(text, 0, NULL);
		free(text);
		if (!exec->builds[i]) {
			snprintf(reason, 256, "the stored build of arm %s is no JSON",
				 exec->spec->arms[i].name);
			return -EBADMSG;
		}
	}
	return 0;
}

static int load_plan(struct exec *exec, char reason[256])
{
	char *spec = NULL, *seal = NULL;
	struct problem problem = {0};
	int ret;

	ret = db_get_text(exec->sched->db, &spec, "SELECT spec FROM experiment WHERE id = ?1", "i",
			  exec->id);
	if (!ret)
		ret = db_get_text(exec->sched->db, &seal,
				  "SELECT plan_sha256 FROM experiment WHERE id = ?1", "i",
				  exec->id);
	if (ret)
		goto out;
	ret = spec_parse(spec, strlen(spec), &exec->spec, &problem);
	if (ret) {
		snprintf(reason, 256, "this labd refuses the stored spec: %.60s %.150s",
			 problem.key, problem.detail);
		goto out;
	}
	ret = plan_make(exec->spec, &exec->plan);
	if (!ret && strcmp(exec->plan->sha256, seal)) {
		snprintf(reason, 256,
			 "this labd would plan the spec in another way: submit it again");
		ret = -ESTALE;
	}
	if (!ret)
		ret = load_builds(exec, reason);
out:
	free(spec);
	free(seal);
	return ret;
}

/**
 * exec_load() - an experiment's spec, plan, builds, machine and image; changes nothing
 * @ret_exec: freed by exec_close(); without its events
 * @reason: one sentence for the user where the error alone would not say it
 *
 * Return: 0 or negative errno.
 */
int exec_load(struct sched *sched, int64_t id, struct exec **ret_exec, char reason[256])
{
	struct exec *exec;
	bool hypervisor;
	int ret;

	exec = calloc(1, sizeof(*exec));
	if (!exec)
		return -ENOMEM;
	exec->sched = sched;
	exec->id = id;
	pthread_mutex_init(&exec->store_lock, NULL);
	pthread_mutex_lock(&sched->lock);
	ret = load_plan(exec, reason);
	pthread_mutex_unlock(&sched->lock);
	if (ret)
		goto close;

	exec->ops = machine_find(exec->spec->machine);
	if (!exec->ops) {
		snprintf(reason, 256, "this labd has no machine %.64s", exec->spec->machine);
		ret = -ENOENT;
		goto close;
	}
	hypervisor = json_object_get(exec->builds[0], "hypervisor");
	ret = exec->ops->describe(hypervisor, &exec->machine);
	if (ret) {
		snprintf(reason, 256, "the machine %.64s cannot be used here: %s",
			 exec->spec->machine,
			 ret == -ENOENT ? "what it needs is not installed; labd's log names it"
					: strerror(-ret));
		goto close;
	}
	ret = image_find(sched->config.images_dir, exec->spec->subject, &exec->image);
	if (ret) {
		snprintf(reason, 256, "no image for subject %.64s in %.128s", exec->spec->subject,
			 sched->config.images_dir);
		goto close;
	}
	json_object_set(exec->machine, "image_sha256", json_object_get(exec->image, "sha256"));
	*ret_exec = exec;
	return 0;

close:
	exec_close(exec);
	return ret;
}

static int check_cancel(struct sched *sched, int64_t id)
{
	int64_t cancel;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_get_int(sched->db, &cancel, "SELECT cancel FROM experiment WHERE id = ?1", "i",
			 id);
	pthread_mutex_unlock(&sched->lock);
	return ret ?: cancel ? -ECANCELED : 0;
}

static int note_machine(struct exec *exec)
{
	json_t *emulated = json_object_get(exec->machine, "emulated");
	char *text = json_dumps(exec->machine, JSON_COMPACT | JSON_SORT_KEYS);
	struct sched *sched = exec->sched;
	int ret;

	if (!text)
		return -ENOMEM;
	pthread_mutex_lock(&sched->lock);
	ret = db_run(sched->db,
		     "UPDATE experiment SET state = 'running', started = coalesce(started, ?2), "
		     "machine_json = ?3, emulated = ?4 WHERE id = ?1",
		     "iiti", exec->id, wall_ns(), text, (int64_t)json_is_true(emulated));
	pthread_mutex_unlock(&sched->lock);
	free(text);
	return ret;
}

/**
 * exec_open() - begin an experiment: load it, open its events and note that it runs
 * @ret_exec: freed by exec_close()
 * @reason: one sentence for the user where the error alone would not say it
 *
 * Return: 0, -ECANCELED when it was cancelled before it started, or another negative errno.
 */
int exec_open(struct sched *sched, int64_t id, struct exec **ret_exec, char reason[256])
{
	struct exec *exec = NULL;
	char path[PATH_MAX];
	int ret;

	ret = check_cancel(sched, id) ?: exec_load(sched, id, &exec, reason);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/events/%lld.db", sched->config.data_dir, (long long)id);
	ret = events_open(path, &exec->events);
	if (ret)
		snprintf(reason, 256, "the events file cannot be opened: %s", strerror(-ret));
	else
		ret = note_machine(exec);
	if (ret)
		exec_close(exec);
	else
		*ret_exec = exec;
	return ret;
}

/** exec_close() - NULL is allowed */
void exec_close(struct exec *exec)
{
	if (!exec)
		return;
	events_close(exec->events);
	json_decref(exec->image);
	json_decref(exec->machine);
	for (size_t i = 0; i < SPEC_MAX_ARMS; i++)
		json_decref(exec->builds[i]);
	plan_free(exec->plan);
	spec_free(exec->spec);
	pthread_mutex_destroy(&exec->store_lock);
	free(exec);
}

/**
 * exec_wait_for_space() - wait until a boot's captures and rows fit, saying so where the user looks
 * @refused: something could not be written just now, so wait even if there seems to be space
 *
 * Return: 0 or -ECANCELED.
 */
int exec_wait_for_space(struct exec *exec, bool refused)
{
	struct sched *sched = exec->sched;
	struct timespec until;
	bool waited = false;

	while (refused || datadir_free_bytes(sched->config.data_dir) < SPACE_NEEDED) {
		refused = false;
		pthread_mutex_lock(&sched->lock);
		if (!waited) {
			log_err("experiment %lld: waits for %lld MiB in %s", (long long)exec->id,
				SPACE_NEEDED >> 20, sched->config.data_dir);
			db_run(sched->db,
			       "UPDATE experiment SET reason = 'waits: the data directory is full' "
			       "WHERE id = ?1",
			       "i", exec->id);
		}
		if (!sched->stopping && !sched->cancelling) {
			clock_gettime(CLOCK_REALTIME, &until);
			until.tv_sec += SPACE_POLL_S;
			pthread_cond_timedwait(&sched->wake, &sched->lock, &until);
		}
		pthread_mutex_unlock(&sched->lock);
		if (!waited)
			sched_publish(exec->sched, exec->id);
		waited = true;
		if (exec_interrupted(exec))
			return -ECANCELED;
	}
	if (waited) {
		pthread_mutex_lock(&sched->lock);
		db_run(sched->db, "UPDATE experiment SET reason = '' WHERE id = ?1", "i", exec->id);
		pthread_mutex_unlock(&sched->lock);
	}
	return 0;
}

static int slot_state(struct exec *exec, const struct plan_slot *slot, int64_t *ret_id,
		      bool *ret_planned)
{
	struct sched *sched = exec->sched;
	int64_t planned;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_get_int(sched->db, ret_id,
			 "SELECT id FROM slot WHERE experiment = ?1 AND position = ?2", "ii",
			 exec->id, (int64_t)slot->position)
		      ?: db_get_int(sched->db, &planned,
				    "SELECT state = 'planned' FROM slot WHERE id = ?1", "i",
				    *ret_id);
	pthread_mutex_unlock(&sched->lock);
	if (!ret)
		*ret_planned = planned;
	return ret;
}

static int update_results(struct exec *exec)
{
	struct sched *sched = exec->sched;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = result_update(sched->db, exec->id, exec->spec);
	pthread_mutex_unlock(&sched->lock);
	return ret;
}

/* What is captured is safe already, so a full disk only delays its rows and results. */
static int store_and_update(struct exec *exec, char reason[256])
{
	int ret;

	pthread_mutex_lock(&exec->store_lock);
	do {
		*reason = '\0';
		ret = exec_store(exec, reason) ?: update_results(exec);
	} while (ret == -ENOSPC && !exec_wait_for_space(exec, true));
	pthread_mutex_unlock(&exec->store_lock);
	return ret == -ENOSPC ? -ECANCELED : ret;
}

/*
 * An experiment of which nothing was measured did not complete. One of which something was is done,
 * with its void pairs: that an arm cannot boot is a result.
 */
static int judge(struct exec *exec, char reason[256])
{
	struct sched *sched = exec->sched;
	int64_t runs, bad = 0;
	char *state = NULL;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_get_int(sched->db, &runs,
			 "SELECT count(*) FROM run r JOIN slot s ON s.id = r.slot "
			 "WHERE s.experiment = ?1 AND r.state IN ('ok', 'failed')",
			 "i", exec->id);
	if (!ret)
		ret = db_get_int(
			sched->db, &bad,
			"SELECT count(*) FROM slot WHERE experiment = ?1 AND state = 'void'", "i",
			exec->id);
	if (!ret && !runs)
		db_get_text(
			sched->db, &state,
			"SELECT state FROM v_boot WHERE experiment = ?1 ORDER BY boot DESC LIMIT 1",
			"i", exec->id);
	pthread_mutex_unlock(&sched->lock);
	if (ret)
		return ret;
	if (!runs) {
		snprintf(
			reason, 256,
			"no run finished in any arm (the last boot ended: %s): look at the machine",
			state ?: "never");
		ret = -ENODATA;
	} else if (bad) {
		snprintf(reason, 256, "%lld of %zu planned boots are void", (long long)bad,
			 exec->plan->n_slots);
	}
	free(state);
	return ret;
}

/* Boots a slot until it is done or void, and stores what each boot captured. */
static int carry_out_slot(void *arg, size_t index, const atomic_bool *stop, char reason[256])
{
	struct exec *exec = arg;
	const struct plan_slot *slot = &exec->plan->slots[index];
	int64_t slot_id;
	bool planned;
	int ret;

	ret = slot_state(exec, slot, &slot_id, &planned);
	while (!ret && planned && !*stop) {
		ret = exec_interrupted(exec) ? -ECANCELED : exec_wait_for_space(exec, false);
		if (!ret)
			ret = exec_slot(exec, slot, slot_id, reason);
		if (!ret)
			ret = store_and_update(exec, reason);
		if (!ret)
			ret = slot_state(exec, slot, &slot_id, &planned);
		sched_publish(exec->sched, exec->id);
	}
	return ret;
}

/**
 * exec_experiment() - carry out what is left of the plan, on as many machines as may run at once
 * @reason: one sentence for the user: what went wrong, or what a finished experiment lacks
 *
 * Return: 0 when every slot is done or void, -ECANCELED, or another negative errno.
 */
int exec_experiment(struct exec *exec, char reason[256])
{
	unsigned int machines = exec->ops->capacity ? exec->ops->capacity() : 1;
	int ret;

	sched_publish(exec->sched, exec->id);
	/* Captures that the last labd could not store any more. */
	ret = store_and_update(exec, reason);
	if (!ret)
		ret = exec_pool(machines, exec->plan->n_slots, carry_out_slot, exec, reason);
	return ret ?: judge(exec, reason);
}
