// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue of runs to be done again. The work is done on the scheduler's thread between two
 * experiments; whatever ends labd meanwhile, the row that was being worked on is taken up again.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "plan/reproduce.h"
#include "store/db.h"

/* More than that is a loop somewhere, and nobody waits so long. */
#define QUEUED_MAX 100

#define FOLDER "captures/reproduce"

/** reproduce_path() - one of the reproduction's own files */
void reproduce_path(const struct reproduction *rep, const char *suffix, char ret_path[PATH_MAX])
{
	snprintf(ret_path, PATH_MAX, "%s/" FOLDER "/%lld.%s", rep->sched->config.data_dir,
		 (long long)rep->id, suffix);
}

/** reproduce_fail() - say why it ends; returns @err */
int reproduce_fail(struct reproduction *rep, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(rep->reason, sizeof(rep->reason), fmt, args);
	va_end(args);
	return err;
}

/* With the lock held. */
static int check_run(struct sched *sched, int64_t run, struct problem *problem)
{
	char *state = NULL, *machine = NULL;
	const struct machine_ops *ops;
	int ret;

	ret = db_get_text(sched->db, &state, "SELECT state FROM run WHERE id = ?1", "i", run);
	if (ret == -ENOENT)
		return problem_set(problem, 404, NULL, "there is no run %lld", (long long)run);
	ret = ret
		      ?: db_get_text(sched->db, &machine,
				     "SELECT e.machine FROM run r JOIN slot s ON s.id = r.slot "
				     "JOIN experiment e ON e.id = s.experiment WHERE r.id = ?1",
				     "i", run);
	if (ret)
		goto out;
	ops = machine_find(machine);
	if (!ops)
		ret = problem_set(problem, 409, NULL,
				  "run %lld needs the machine %s, which this labd does not have",
				  (long long)run, machine);
	else if (!ops->deterministic)
		ret = problem_set(problem, 409, NULL,
				  "run %lld is of the machine %s, whose times are the host's: "
				  "a run cannot be reproduced there",
				  (long long)run, machine);
	else if (strcmp(state, "ok"))
		ret = problem_set(problem, 409, NULL,
				  "run %lld is %s: only one that is ok can be reproduced",
				  (long long)run, state);
out:
	free(state);
	free(machine);
	return ret;
}

static int enqueue(struct sched *sched, int64_t run, int64_t *ret_id, struct problem *problem)
{
	int64_t queued;
	int ret;

	ret = db_get_int(sched->db, &queued,
			 "SELECT count(*) FROM reproduction WHERE state = 'queued'", "");
	if (!ret && queued >= QUEUED_MAX)
		return problem_set(problem, 429, NULL,
				   "%d reproductions are queued already: wait for them",
				   QUEUED_MAX);
	if (!ret)
		ret = db_run(sched->db,
			     "INSERT INTO reproduction (run, state, created) "
			     "VALUES (?1, 'queued', ?2)",
			     "ii", run, wall_ns());
	if (!ret)
		*ret_id = sqlite3_last_insert_rowid(sched->db);
	return ret;
}

/**
 * sched_reproduce() - queue a run to be done again
 *
 * Return: 0, or negative errno with @problem set: 404 for no such run, 409 for one that cannot be
 * reproduced, 429 when too many are queued.
 */
int sched_reproduce(struct sched *sched, int64_t run, int64_t *ret_reproduction,
		    struct problem *problem)
{
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = check_run(sched, run, problem) ?: enqueue(sched, run, ret_reproduction, problem);
	if (!ret)
		pthread_cond_broadcast(&sched->wake);
	pthread_mutex_unlock(&sched->lock);
	if (ret && !problem->status)
		problem_set(problem, 500, NULL, "the reproduction could not be stored: %s",
			    strerror(-ret));
	return ret;
}

/* The oldest that is queued, or that a labd which ended left half done. With the lock held. */
static int load_next(struct reproduction *rep)
{
	static const char sql[] =
		"SELECT p.id, p.run, s.experiment, s.position, r.place, r.sha256, r.xen_sha256,"
		" e.machine_json FROM reproduction p JOIN run r ON r.id = p.run "
		"JOIN slot s ON s.id = r.slot JOIN experiment e ON e.id = s.experiment "
		"WHERE p.state IN ('queued', 'running') ORDER BY p.id LIMIT 1";
	sqlite3_stmt *stmt;
	int ret, rc;

	ret = db_prepare(rep->sched->db, &stmt, sql, "");
	if (ret)
		return ret;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		rep->id = sqlite3_column_int64(stmt, 0);
		rep->run = sqlite3_column_int64(stmt, 1);
		rep->experiment = sqlite3_column_int64(stmt, 2);
		rep->position = sqlite3_column_int64(stmt, 3);
		rep->place = sqlite3_column_int64(stmt, 4);
		rep->sha256 = strdup((const char *)sqlite3_column_text(stmt, 5) ?: "");
		rep->xen_sha256 = strdup((const char *)sqlite3_column_text(stmt, 6) ?: "");
		rep->machine = strdup((const char *)sqlite3_column_text(stmt, 7) ?: "");
		if (!rep->sha256 || !rep->xen_sha256 || !rep->machine)
			ret = -ENOMEM;
	} else {
		ret = rc == SQLITE_DONE ? -ENOENT : db_error(rep->sched->db, sql);
	}
	sqlite3_finalize(stmt);
	return ret;
}

static int note_done(struct reproduction *rep, const struct likeness *like)
{
	char *detail = json_dumps(like->detail, JSON_COMPACT);
	int ret;

	if (!detail)
		return -ENOMEM;
	ret = db_run(rep->sched->db,
		     "UPDATE reproduction SET state = 'done', metrics_equal = ?2, "
		     "events_equal = ?3, identical = ?2 AND ?3, capture_equal = ?4, "
		     "detail_json = ?5, ended = ?6 WHERE id = ?1",
		     "iiiiti", rep->id, (int64_t)like->metrics, (int64_t)like->events,
		     (int64_t)like->captures, detail, wall_ns());
	free(detail);
	return ret;
}

static void remove_files(const struct reproduction *rep)
{
	static const char *const suffixes[] = {
		REPRODUCE_CAPTURE,	 REPRODUCE_CAPTURE ".part", REPRODUCE_XEN,
		REPRODUCE_XEN ".part",	 REPRODUCE_EVENTS,	    REPRODUCE_EVENTS "-wal",
		REPRODUCE_EVENTS "-shm",
	};
	char path[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		reproduce_path(rep, suffixes[i], path);
		unlink(path);
	}
}

static int make_folder(const struct reproduction *rep)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" FOLDER, rep->sched->config.data_dir);
	return make_dir(path, 0755);
}

static int reproduce_one(struct reproduction *rep)
{
	struct sched *sched = rep->sched;
	struct likeness like = {0};
	int ret;

	log_info("run %lld: is reproduced", (long long)rep->run);
	remove_files(rep);
	ret = make_folder(rep) ?: rerun(rep) ?: likeness_find(rep, &like);
	remove_files(rep);
	if (ret == -ECANCELED)
		return ret;
	if (ret && !*rep->reason)
		reproduce_fail(rep, ret, "%s", strerror(-ret));
	log_info("run %lld: %s%s", (long long)rep->run,
		 ret			       ? "cannot be reproduced: "
		 : like.metrics && like.events ? "is reproduced, identical"
					       : "is reproduced, and differs",
		 rep->reason);
	pthread_mutex_lock(&sched->lock);
	if (ret)
		ret = db_run(sched->db,
			     "UPDATE reproduction SET state = 'failed', reason = ?2, ended = ?3 "
			     "WHERE id = ?1",
			     "iti", rep->id, rep->reason, wall_ns());
	else
		ret = note_done(rep, &like);
	pthread_mutex_unlock(&sched->lock);
	json_decref(like.detail);
	return ret;
}

/**
 * reproduce_next() - do the oldest queued reproduction
 *
 * Return: 0 when one was done (or failed for a reason of its own, which is stored), -ENOENT when
 * none is queued, -ECANCELED when labd ends, or another negative errno.
 */
int reproduce_next(struct sched *sched)
{
	struct reproduction rep = {.sched = sched};
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = load_next(&rep);
	if (!ret) {
		sched_rearm(sched);
		ret = db_run(sched->db, "UPDATE reproduction SET state = 'running' WHERE id = ?1",
			     "i", rep.id);
	}
	pthread_mutex_unlock(&sched->lock);
	if (!ret)
		ret = reproduce_one(&rep);
	exec_close(rep.exec);
	json_decref(rep.done);
	free(rep.sha256);
	free(rep.xen_sha256);
	free(rep.machine);
	return ret;
}
