// SPDX-License-Identifier: GPL-2.0-only
/*
 * One boot of a slot: power on, proof, the runs that are left, power off. Each step's intent is
 * stored before the step, so that whoever finds the database later knows what may have happened.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/log.h"
#include "base/sha256.h"
#include "base/util.h"
#include "plan/exec.h"
#include "plan/slot_boot.h"
#include "store/build_event.h"
#include "store/db.h"

/* Boots of one slot that the lab, not the kernel, lost; after that many the slot is void. */
#define INFRA_TRIES 3
/* Restarts of labd in one slot; more than that is a crash loop. */
#define DISTURBED_TRIES 10

/**
 * struct slot_boot - a boot in work
 * @jobs: of the runs that it does, in their order
 * @is_done: by place: the run is in the books already
 * @console: relative to the data directory
 */
struct slot_boot {
	struct exec *exec;
	const struct plan_slot *slot;
	int64_t slot_id;
	int64_t id;
	int64_t attempt;
	json_t *jobs;
	bool *is_done;
	char console[64];
	struct slot_request request;
	struct boot *boot;
	bool workload_failed;
};

/* Which runs an earlier boot of the slot has finished. */
static int find_done(struct slot_boot *sb)
{
	struct sched *sched = sb->exec->sched;
	sqlite3_stmt *stmt;
	int ret;

	sb->is_done = calloc(sb->slot->n_runs, sizeof(*sb->is_done));
	if (!sb->is_done)
		return -ENOMEM;
	pthread_mutex_lock(&sched->lock);
	ret = db_prepare(sched->db, &stmt,
			 "SELECT place FROM run WHERE slot = ?1 AND place < ?2 "
			 "AND state IN ('captured', 'ok', 'failed')",
			 "ii", sb->slot_id, (int64_t)sb->slot->n_runs);
	if (ret)
		goto unlock;
	while ((ret = sqlite3_step(stmt)) == SQLITE_ROW)
		sb->is_done[sqlite3_column_int64(stmt, 0)] = true;
	ret = ret == SQLITE_DONE ? 0 : db_error(sched->db, "the slot's runs");
	sqlite3_finalize(stmt);
unlock:
	pthread_mutex_unlock(&sched->lock);
	return ret;
}

/*
 * What a deterministic machine does in a run depends on the runs before it: there a boot does all
 * of them, and those that are done already once more, for nothing but that.
 */
static int find_jobs(struct slot_boot *sb)
{
	int ret;

	ret = find_done(sb);
	if (ret)
		return ret;
	sb->jobs = jobs_make(sb->exec->spec, sb->slot);
	if (!sb->jobs)
		return -ENOMEM;
	for (size_t place = sb->slot->n_runs; !sb->exec->ops->deterministic && place--;)
		if (sb->is_done[place])
			json_array_remove(sb->jobs, place);
	return 0;
}

static int note_boot(struct slot_boot *sb)
{
	struct sched *sched = sb->exec->sched;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_get_int(sched->db, &sb->attempt,
			 "SELECT 1 + coalesce(max(attempt), 0) FROM boot WHERE slot = ?1", "i",
			 sb->slot_id);
	snprintf(sb->console, sizeof(sb->console), "consoles/%lld-%u-%lld.log",
		 (long long)sb->exec->id, sb->slot->position, (long long)sb->attempt);
	ret = ret ?: slot_request_make(sb->exec, sb->slot, sb->jobs, sb->console, &sb->request);
	if (!ret)
		ret = db_run(sched->db,
			     "INSERT INTO boot (slot, attempt, state, token, console, started) "
			     "VALUES (?1, ?2, 'running', ?3, ?4, ?5)",
			     "iitti", sb->slot_id, sb->attempt, sb->request.token, sb->console,
			     wall_ns());
	if (!ret)
		sb->id = sqlite3_last_insert_rowid(sched->db);
	pthread_mutex_unlock(&sched->lock);
	return ret;
}

/*
 * What both arms of a pair must have in common: the guest's environment, the machine and the image.
 * The command line counts without the boot's own token.
 */
static int environment_key(struct exec *exec, const json_t *hello, char ret_key[SHA256_HEX_LEN + 1])
{
	json_t *all = json_pack("{s:O?, s:O, s:s*, s:s*}", "env", json_object_get(hello, "env"),
				"machine", exec->machine, "cmdline", exec->spec->cmdline,
				"xen_cmdline", exec->spec->xen_cmdline);
	char *text = all ? json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS) : NULL;

	json_decref(all);
	if (!text)
		return -ENOMEM;
	sha256_hex(text, strlen(text), ret_key);
	free(text);
	return 0;
}

static int note_hello(struct slot_boot *sb, const json_t *hello)
{
	const json_t *xen = json_object_get(hello, "hypervisor");
	struct sched *sched = sb->exec->sched;
	char key[SHA256_HEX_LEN + 1], *env, *observed, *kernel, *hypervisor = NULL;
	int ret;

	ret = environment_key(sb->exec, hello, key);
	if (ret)
		return ret;
	env = json_dumps(json_object_get(hello, "env"), JSON_COMPACT | JSON_SORT_KEYS);
	observed = json_dumps(json_object_get(hello, "observed"), JSON_COMPACT | JSON_SORT_KEYS);
	kernel = str_printf("%s %s", json_text(hello, "release"), json_text(hello, "version"));
	if (json_is_object(xen))
		hypervisor = str_printf("Xen %s", json_text(xen, "version"));
	pthread_mutex_lock(&sched->lock);
	ret = db_run(
		sched->db,
		"UPDATE boot SET boot_id = ?2, build_id = ?3, kernel = ?4, cmdline = ?5, env_json = ?6, "
		"env_key = ?7, observed_json = ?8, hello = ?9, hypervisor = ?10, "
		"hypervisor_build_id = ?11 WHERE id = ?1",
		"itttttttitt", sb->id, json_text(hello, "boot_id"), json_text(hello, "build_id"),
		kernel, json_text(hello, "cmdline"), env, key, observed, wall_ns(), hypervisor,
		hypervisor ? json_text(xen, "build_id") : NULL);
	pthread_mutex_unlock(&sched->lock);
	free(env);
	free(observed);
	free(kernel);
	free(hypervisor);
	return ret;
}

static int64_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* The ring's books, and what the host knows to be missing. Called with the writer's lock held. */
static int note_rings(sqlite3 *db, int64_t run, const json_t *done)
{
	const json_t *rings = json_object_get(done, "rings"), *ring;
	size_t i;
	int ret = 0;

	json_array_foreach ((json_t *)rings, i, ring) {
		int64_t left = number(ring, "entries"), overrun = number(ring, "overrun");
		int64_t dropped = number(ring, "dropped") + number(ring, "commit_overrun");
		int64_t read = number(ring, "read"), cpu = number(ring, "cpu");
		char *detail = json_dumps(ring, JSON_COMPACT | JSON_SORT_KEYS);

		if (!detail)
			return -ENOMEM;
		/* "read" becomes what was decoded once the capture is stored (exec_store). */
		ret = db_run(
			db,
			"INSERT OR REPLACE INTO ring (run, source, cpu, written, read, lost, detail) "
			"VALUES (?1, 'linux', ?2, ?3, 0, ?4, ?5)",
			"iiiit", run, cpu, read + left + overrun + dropped,
			left + overrun + dropped, detail);
		free(detail);
		if (ret)
			break;
	}
	return ret;
}

/**
 * struct run_file - a capture of a run
 * @relative: its name in the data directory, empty when the run makes none
 * @path: the same with the data directory
 * @there: the agent sent it; the rest is valid
 */
struct run_file {
	char relative[64];
	char path[PATH_MAX];
	bool there;
	int64_t bytes;
	char sha256[SHA256_HEX_LEN + 1];
};

static void name_file(struct run_file *file, const struct exec *exec, int64_t run,
		      const char *suffix)
{
	snprintf(file->relative, sizeof(file->relative), "captures/%lld/%lld.%s",
		 (long long)exec->id, (long long)run, suffix);
	snprintf(file->path, sizeof(file->path), "%s/%s", exec->sched->config.data_dir,
		 file->relative);
}

static int look_at(struct run_file *file)
{
	struct stat st;

	if (!*file->relative)
		return 0;
	if (stat(file->path, &st))
		return errno == ENOENT ? 0 : -errno;
	file->there = true;
	file->bytes = st.st_size;
	return sha256_file_hex(file->path, file->sha256);
}

/* Why there is nothing to decode, or NULL. What the agent itself calls a failure has its words. */
static const char *what_is_missing(const struct run_file *capture, const struct run_file *xen,
				   const json_t *done)
{
	if (capture->there && (xen->there || !*xen->relative))
		return NULL;
	if (strcmp(json_text(done, "state"), "ok"))
		return json_text(done, "error");
	return capture->there ? "the agent sent no trace of Xen" : "the agent sent no capture";
}

/*
 * The captures are on disk under their final names: from here on the run is finished whatever
 * happens. One without them has nothing to decode and failed.
 */
static int note_captured(struct slot_boot *sb, int64_t run, struct run_file *capture,
			 struct run_file *xen, const json_t *done, int64_t ship_ns)
{
	struct sched *sched = sb->exec->sched;
	bool ok = !strcmp(json_text(done, "state"), "ok");
	const char *missing;
	char *text, *workload;
	int ret;

	ret = look_at(capture) ?: look_at(xen);
	if (ret)
		return ret;
	missing = what_is_missing(capture, xen, done);
	text = json_dumps(done, JSON_COMPACT);
	workload = json_dumps(json_object_get(done, "workload"), JSON_COMPACT);
	pthread_mutex_lock(&sched->lock);
	ret = db_begin(sched->db);
	if (ret)
		goto out;
	ret = db_run(sched->db,
		     "UPDATE run SET state = ?2, reason = ?3, workload = ?4, done_json = ?5, "
		     "measure_ns = ?6, ship_ns = ?7, ended = ?8 WHERE id = ?1",
		     "ittttiii", run, missing ? "failed" : "captured",
		     missing ?: (ok ? "" : json_text(done, "error")), workload, text,
		     number(done, "measure_ns"), ship_ns, wall_ns());
	if (!ret && capture->there)
		ret = db_run(sched->db,
			     "UPDATE run SET capture = ?2, sha256 = ?3, bytes = ?4 WHERE id = ?1",
			     "itti", run, capture->relative, capture->sha256, capture->bytes);
	if (!ret && xen->there)
		ret = db_run(sched->db,
			     "UPDATE run SET xen_capture = ?2, xen_sha256 = ?3, xen_bytes = ?4 "
			     "WHERE id = ?1",
			     "itti", run, xen->relative, xen->sha256, xen->bytes);
	ret = ret ?: note_rings(sched->db, run, done);
	ret = db_end(sched->db, ret);
out:
	pthread_mutex_unlock(&sched->lock);
	free(text);
	free(workload);
	if (!ok || missing)
		sb->workload_failed = true;
	return ret;
}

static void note_interrupted(struct slot_boot *sb, int64_t run, const char *why)
{
	struct sched *sched = sb->exec->sched;

	pthread_mutex_lock(&sched->lock);
	db_run(sched->db,
	       "UPDATE run SET state = 'interrupted', reason = ?2, ended = ?3 WHERE id = ?1", "iti",
	       run, why, wall_ns());
	pthread_mutex_unlock(&sched->lock);
}

static int do_run(struct slot_boot *sb, const json_t *job)
{
	struct exec *exec = sb->exec;
	struct sched *sched = exec->sched;
	size_t place = job_place(job);
	const struct spec_scenario *what = &exec->spec->scenarios[sb->slot->runs[place]];
	struct run_file capture = {0}, xen = {0};
	struct run_request request = {0};
	json_t *done = NULL;
	int64_t run, sent;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_run(sched->db,
		     "INSERT INTO run (boot, slot, place, scenario, state, started) "
		     "VALUES (?1, ?2, ?3, ?4, 'running', ?5)",
		     "iiiti", sb->id, sb->slot_id, (int64_t)place, what->name, wall_ns());
	run = sqlite3_last_insert_rowid(sched->db);
	pthread_mutex_unlock(&sched->lock);
	if (ret)
		return ret;
	sched_publish(exec->sched, exec->id);

	name_file(&capture, exec, run, "dat");
	if (spec_xen_mask(exec->spec))
		name_file(&xen, exec, run, "xentrace");
	request.job = job;
	request.capture_path = capture.path;
	request.xen_path = *xen.relative ? xen.path : NULL;
	request.capture_max = CAPTURE_MAX;
	request.timeout_ms = job_timeout_ms(exec->spec, sb->slot, place);
	sent = mono_ns();
	ret = boot_run(sb->boot, &request, &done);
	if (!ret)
		ret = note_captured(sb, run, &capture, &xen, done,
				    mono_ns() - sent - number(done, "measure_ns"));
	if (ret)
		note_interrupted(sb, run,
				 ret == -ENOSPC ? "the data directory is full" : "the boot ended");
	json_decref(done);
	return ret;
}

/* A run that is in the books already; what it captures is thrown away. */
static int do_run_again(struct slot_boot *sb, const json_t *job)
{
	struct exec *exec = sb->exec;
	char path[PATH_MAX], xen_path[PATH_MAX];
	struct run_request request = {
		.job = job,
		.capture_path = path,
		.xen_path = spec_xen_mask(exec->spec) ? xen_path : NULL,
		.capture_max = CAPTURE_MAX,
		.timeout_ms = job_timeout_ms(exec->spec, sb->slot, job_place(job)),
	};
	json_t *done = NULL;
	int ret;

	snprintf(path, sizeof(path), "%s/captures/%lld/again-%u.dat", exec->sched->config.data_dir,
		 (long long)exec->id, sb->slot->position);
	snprintf(xen_path, sizeof(xen_path), "%s/captures/%lld/again-%u.xentrace",
		 exec->sched->config.data_dir, (long long)exec->id, sb->slot->position);
	ret = boot_run(sb->boot, &request, &done);
	unlink(path);
	unlink(xen_path);
	json_decref(done);
	return ret;
}

static int do_runs(struct slot_boot *sb)
{
	json_t *job;
	int ret = 0;
	size_t i;

	json_array_foreach (sb->jobs, i, job) {
		ret = sb->is_done[job_place(job)] ? do_run_again(sb, job) : do_run(sb, job);
		if (!ret && exec_interrupted(sb->exec))
			ret = -ECANCELED;
		if (ret)
			break;
	}
	return ret;
}

/*
 * Once per build, which tracepoints it has: behind the runs, so that no run differs for it. On a
 * deterministic machine it is not asked for at all: there the whole boot is what is compared.
 */
static int find_events(struct slot_boot *sb, const json_t *hello)
{
	struct sched *sched = sb->exec->sched;
	const char *build_id = json_text(hello, "build_id");
	json_t *events;
	bool known = true;
	int ret;

	if (sb->exec->ops->deterministic || !json_is_true(json_object_get(hello, "lists_events")))
		return 0;
	pthread_mutex_lock(&sched->lock);
	ret = build_event_known(sched->db, build_id, &known);
	pthread_mutex_unlock(&sched->lock);
	if (ret || known)
		return 0;
	ret = boot_list_events(sb->boot, &events);
	if (ret == -ETIMEDOUT)
		log_warn("the agent did not list the events of build-id %s", build_id);
	if (ret)
		return ret == -ETIMEDOUT ? 0 : ret;
	pthread_mutex_lock(&sched->lock);
	if (build_event_note(sched->db, build_id, json_object_get(events, "events")))
		log_warn("the events of build-id %s are not stored", build_id);
	pthread_mutex_unlock(&sched->lock);
	json_decref(events);
	return 0;
}

/* Powers on and runs; a negative return says that the boot did not do all its runs. */
static int do_boot(struct slot_boot *sb)
{
	struct exec *exec = sb->exec;
	char captures[PATH_MAX];
	json_t *hello = NULL;
	int ret;

	snprintf(captures, sizeof(captures), "%s/captures/%lld", exec->sched->config.data_dir,
		 (long long)exec->id);
	ret = make_dir(captures, 0755);
	if (!ret)
		ret = boot_start(exec->ops, &sb->request.boot, &sb->boot);
	if (!ret)
		ret = boot_wait_hello(sb->boot, &hello);
	if (!ret)
		ret = note_hello(sb, hello);
	if (!ret)
		ret = do_runs(sb);
	if (!ret)
		ret = find_events(sb, hello);
	json_decref(hello);
	return ret;
}

static bool lab_is_to_blame(enum boot_state state)
{
	return state == BOOT_INFRA_FAILED || state == BOOT_LOST_CONNECTION;
}

/*
 * A kernel's failure is a result and voids the slot; the lab's own is tried again, within bounds,
 * and the runs that finished before it count.
 */
static int note_end(struct slot_boot *sb, const struct boot_end *end, bool complete)
{
	struct sched *sched = sb->exec->sched;
	const char *name = boot_state_name(end->state), *slot_state = "planned";
	int64_t lost = 0, disturbed = 0;
	char reason[256] = "";
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_begin(sched->db);
	if (ret)
		goto out;
	ret = db_run(
		sched->db,
		"UPDATE boot SET state = ?2, detail = ?3, console_lines = ?4, ended = ?5 WHERE id = ?1",
		"ittti", sb->id, name, end->detail, end->console_lines, wall_ns());
	if (!ret)
		ret = db_get_int(sched->db, &lost,
				 "SELECT count(*) FROM boot WHERE slot = ?1 "
				 "AND state IN ('infra-failed', 'lost-connection')",
				 "i", sb->slot_id);
	if (!ret)
		ret = db_get_int(
			sched->db, &disturbed,
			"SELECT count(*) FROM boot WHERE slot = ?1 AND state = 'disturbed'", "i",
			sb->slot_id);
	if (complete)
		slot_state = "done";
	else if (lab_is_to_blame(end->state) ? lost >= INFRA_TRIES
		 : end->state == BOOT_DISTURBED || end->state == BOOT_CANCELLED
			 ? disturbed >= DISTURBED_TRIES
			 : true)
		slot_state = "void";
	if (!strcmp(slot_state, "void"))
		snprintf(reason, sizeof(reason), "boot %lld ended: %s", (long long)sb->id, name);
	if (!ret)
		ret = db_run(sched->db, "UPDATE slot SET state = ?2, reason = ?3 WHERE id = ?1",
			     "itt", sb->slot_id, slot_state, reason);
	ret = db_end(sched->db, ret);
out:
	pthread_mutex_unlock(&sched->lock);
	return ret;
}

/*
 * What the boot is called in the books, where the machine alone does not know it. @interrupted: the
 * user or the end of labd kept it from its runs.
 */
static void judge_end(struct slot_boot *sb, int error, bool interrupted, struct boot_end *end)
{
	if (interrupted) {
		end->state = exec_cancelled(sb->exec) ? BOOT_CANCELLED : BOOT_DISTURBED;
		snprintf(end->detail, sizeof(end->detail), "%s",
			 end->state == BOOT_CANCELLED ? "the experiment was cancelled"
						      : "labd was stopped");
	} else if (error && end->state == BOOT_OK) {
		/* The machine was fine; what failed is the lab's own: a full disk, a database. */
		end->state = BOOT_INFRA_FAILED;
		snprintf(end->detail, sizeof(end->detail), "the lab could not go on: %s",
			 strerror(-error));
	} else if (!error && end->state == BOOT_OK && sb->workload_failed) {
		end->state = BOOT_WORKLOAD_FAILED;
		snprintf(end->detail, sizeof(end->detail), "a run's workload failed; see the runs");
	}
	if (end->state != BOOT_OK)
		log_warn("experiment %lld, boot %lld (%s, round %u): %s: %s",
			 (long long)sb->exec->id, (long long)sb->id,
			 sb->exec->spec->arms[sb->slot->arm].name, sb->slot->round,
			 boot_state_name(end->state), end->detail);
}

/* Its intent is stored; from here on its end is, too. */
static int carry_out(struct slot_boot *sb, char reason[256])
{
	struct boot_end end = {.state = BOOT_INFRA_FAILED};
	bool complete, interrupted;
	int ret, err;

	sched_publish(sb->exec->sched, sb->exec->id);
	ret = do_boot(sb);
	if (sb->boot)
		boot_finish(sb->boot, &end);
	else
		snprintf(end.detail, sizeof(end.detail), "the machine did not start: %s",
			 strerror(-ret));
	interrupted = ret && exec_interrupted(sb->exec);
	judge_end(sb, ret, interrupted, &end);
	complete = !ret && (end.state == BOOT_OK || end.state == BOOT_WORKLOAD_FAILED);
	do {
		err = note_end(sb, &end, complete);
	} while (err == -ENOSPC && !exec_wait_for_space(sb->exec, true));
	if (err) {
		snprintf(reason, 256, "a boot's end could not be stored: %s", strerror(-err));
		return err;
	}
	return interrupted ? -ECANCELED : 0;
}

/**
 * exec_slot() - boot a slot's arm once and do the runs that are left
 * @reason: filled when the experiment cannot go on
 *
 * The slot's state says afterwards whether it is done, void, or to be booted again.
 *
 * Return: 0, -ECANCELED, or another negative errno when the lab itself cannot go on.
 */
int exec_slot(struct exec *exec, const struct plan_slot *slot, int64_t slot_id, char reason[256])
{
	struct slot_boot *sb = calloc(1, sizeof(*sb));
	int ret;

	if (!sb)
		return -ENOMEM;
	sb->exec = exec;
	sb->slot = slot;
	sb->slot_id = slot_id;
	ret = find_jobs(sb);
	if (ret) {
		snprintf(reason, 256, "the jobs of slot %u could not be made: %s", slot->position,
			 strerror(-ret));
		goto free;
	}
	do {
		ret = note_boot(sb);
	} while (ret == -ENOSPC && !exec_wait_for_space(exec, true));
	if (ret)
		snprintf(reason, 256, "a boot's intent could not be stored: %s", strerror(-ret));
	else
		ret = carry_out(sb, reason);
free:
	json_decref(sb->jobs);
	free(sb->is_done);
	free(sb);
	return ret;
}
