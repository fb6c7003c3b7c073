// SPDX-License-Identifier: GPL-2.0-only
/* The scheduler's thread: what to do next, and what a labd that was killed had left half done. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "plan/exec.h"
#include "plan/judge.h"
#include "store/db.h"

#define STORE_RETRY_S 5

static bool stopping(struct sched *sched)
{
	bool stop;

	pthread_mutex_lock(&sched->lock);
	stop = sched->stopping;
	pthread_mutex_unlock(&sched->lock);
	return stop;
}

/** sched_publish() - tell the listener that something about an experiment has changed */
void sched_publish(struct sched *sched, int64_t experiment)
{
	if (sched->config.listen)
		sched->config.listen(sched->config.listen_arg, experiment);
}

/* Waits until there may be work, at most @seconds (0: until woken). */
static void rest(struct sched *sched, unsigned int seconds)
{
	struct timespec until;

	pthread_mutex_lock(&sched->lock);
	if (!sched->stopping) {
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec += seconds;
		if (seconds)
			pthread_cond_timedwait(&sched->wake, &sched->lock, &until);
		else
			pthread_cond_wait(&sched->wake, &sched->lock);
	}
	pthread_mutex_unlock(&sched->lock);
}

/*
 * What was running when labd ended did not finish, and nobody will ever know how it would have: its
 * boot is 'disturbed' and its run 'interrupted'. Finished runs keep their state, so none is done
 * twice.
 */
static int recover(struct sched *sched)
{
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_begin(sched->db);
	if (ret)
		goto out;
	ret = db_run(sched->db,
		     "UPDATE run SET state = 'interrupted', reason = 'labd ended during the run', ended = ?1 "
		     "WHERE state = 'running'",
		     "i", wall_ns())
		      ?: db_run(sched->db,
				"UPDATE boot SET state = 'disturbed', detail = 'labd ended during the boot', ended = ?1 "
				"WHERE state = 'running'",
				"i", wall_ns());
	ret = db_end(sched->db, ret);
out:
	pthread_mutex_unlock(&sched->lock);
	return ret;
}

/**
 * sched_rearm() - with the lock held, before the boots of something new
 *
 * A cancellation of the experiment before it must not end its first boot.
 */
void sched_rearm(struct sched *sched)
{
	eventfd_t drained;

	sched->cancelling = false;
	if (!sched->stopping)
		eventfd_read(sched->cancel_fd, &drained);
}

static int next_experiment(struct sched *sched, int64_t *ret_id)
{
	int ret;

	pthread_mutex_lock(&sched->lock);
	sched_rearm(sched);
	ret = db_get_int(sched->db, ret_id,
			 "SELECT id FROM experiment WHERE state IN ('running', 'queued') "
			 "ORDER BY state DESC, id LIMIT 1",
			 "");
	if (!ret)
		sched->current = *ret_id;
	pthread_mutex_unlock(&sched->lock);
	return ret;
}

static bool stop_judging(void *sched)
{
	return stopping(sched);
}

/* The lock is held to read what there is, but not for the statistics. */
static int make_judgement(struct sched *sched, int64_t id, const char *state,
			  struct judgement **ret_judgement)
{
	struct judgement *judgement;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = judge_load(sched->db, id, state, &judgement);
	pthread_mutex_unlock(&sched->lock);
	if (ret)
		return ret;
	ret = judge_compute(judgement, stop_judging, sched);
	if (ret)
		judge_free(judgement);
	else
		*ret_judgement = judgement;
	return ret;
}

/* With its verdicts, so that nobody ever sees an experiment that is done and has none. */
static int store_end(struct sched *sched, int64_t id, const char *state, const char *reason,
		     const struct judgement *judgement)
{
	int ret;

	ret = db_begin(sched->db);
	if (ret)
		return ret;
	ret = db_run(sched->db,
		     "UPDATE experiment SET state = ?2, reason = ?3, ended = ?4 WHERE id = ?1",
		     "itti", id, state, reason, wall_ns())
		      ?: judge_store(sched->db, judgement);
	if (!ret && !strcmp(state, "done"))
		ret = judge_others(sched->db, id);
	return db_end(sched->db, ret);
}

/*
 * The end of an experiment must reach the disk: on a full one the scheduler waits here for space,
 * and says so, rather than forget what it knows.
 *
 * Return: false when labd ends first; the experiment goes on, or ends, when it starts again.
 */
static bool end_experiment(struct sched *sched, int64_t id, const char *state, const char *reason)
{
	struct judgement *judgement = NULL;
	int ret = -ECANCELED;
	bool said = false;

	while (!stopping(sched)) {
		ret = judgement ? 0 : make_judgement(sched, id, state, &judgement);
		if (!ret) {
			pthread_mutex_lock(&sched->lock);
			ret = store_end(sched, id, state, reason, judgement);
			pthread_mutex_unlock(&sched->lock);
		}
		if (!ret)
			break;
		if (!said && ret != -ECANCELED)
			log_err("experiment %lld: its end (%s) cannot be stored yet; trying on",
				(long long)id, state);
		said = true;
		rest(sched, STORE_RETRY_S);
	}
	judge_free(judgement);
	return !ret;
}

static void carry_out(struct sched *sched, int64_t id)
{
	struct exec *exec = NULL;
	char reason[256] = "";
	const char *state;
	bool ended = false;
	int ret;

	log_info("experiment %lld: starts", (long long)id);
	ret = exec_open(sched, id, &exec, reason);
	if (!ret)
		ret = exec_experiment(exec, reason);
	state = !ret ? "done" : ret == -ECANCELED ? "cancelled" : "failed";
	if (ret != -ECANCELED || !stopping(sched)) {
		/* That somebody cancelled it is its state, and needs no reason. */
		if (ret && ret != -ECANCELED && !*reason)
			snprintf(reason, sizeof(reason), "%s", strerror(-ret));
		ended = end_experiment(sched, id, state, reason);
	}
	if (ended) {
		log_info("experiment %lld: %s%s%s", (long long)id, state, *reason ? ": " : "",
			 reason);
		sched_publish(sched, id);
	} else {
		log_info("experiment %lld: goes on when labd starts again", (long long)id);
	}
	exec_close(exec);

	pthread_mutex_lock(&sched->lock);
	sched->current = 0;
	pthread_mutex_unlock(&sched->lock);
}

/*
 * One experiment that is over and was not judged by this version of the statistics, or whose noise
 * floor has changed. Its old verdicts stand until the new ones are stored.
 *
 * Return: 0 when one was judged, -ENOENT when there is none, or another negative errno.
 */
static int judge_next(struct sched *sched)
{
	struct judgement *judgement;
	char *state = NULL;
	int64_t id;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = judge_find(sched->db, &id)
		      ?: db_get_text(sched->db, &state,
				     "SELECT state FROM experiment WHERE id = ?1", "i", id);
	pthread_mutex_unlock(&sched->lock);
	ret = ret ?: make_judgement(sched, id, state, &judgement);
	free(state);
	if (ret)
		return ret;
	pthread_mutex_lock(&sched->lock);
	ret = db_begin(sched->db);
	if (!ret)
		ret = db_end(sched->db, judge_store(sched->db, judgement));
	pthread_mutex_unlock(&sched->lock);
	judge_free(judgement);
	if (!ret)
		sched_publish(sched, id);
	return ret;
}

static void *sched_main(void *arg)
{
	struct sched *sched = arg;
	int64_t id;
	int ret;

	while (!stopping(sched)) {
		ret = judge_next(sched);
		if (ret == -ENOENT)
			ret = import_next(sched);
		if (ret == -ENOENT)
			ret = reproduce_next(sched);
		if (!ret)
			continue;
		if (ret == -ENOENT)
			ret = next_experiment(sched, &id);
		if (!ret)
			carry_out(sched, id);
		else
			rest(sched, ret == -ENOENT ? 0 : STORE_RETRY_S);
	}
	return NULL;
}

static void sched_free(struct sched *sched)
{
	db_close(sched->db);
	if (sched->cancel_fd >= 0)
		close(sched->cancel_fd);
	pthread_cond_destroy(&sched->wake);
	pthread_mutex_destroy(&sched->lock);
	free(sched);
}

/**
 * sched_start() - open lab.db and go on where the last labd was
 * @config: its strings must outlive the scheduler; the data directory is open and locked
 *
 * Return: 0 or negative errno, logged.
 */
int sched_start(const struct sched_config *config, struct sched **ret_sched)
{
	struct sched *sched;
	int ret;

	sched = calloc(1, sizeof(*sched));
	if (!sched)
		return -ENOMEM;
	sched->config = *config;
	pthread_mutex_init(&sched->lock, NULL);
	pthread_cond_init(&sched->wake, NULL);
	sched->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (sched->cancel_fd < 0) {
		ret = -errno;
		goto out_free;
	}
	ret = db_open_writer(config->data_dir, &sched->db);
	if (ret)
		goto out_free;
	ret = recover(sched);
	if (ret)
		goto out_free;
	archive_clean(sched);
	ret = -pthread_create(&sched->thread, NULL, sched_main, sched);
	if (ret)
		goto out_free;
	*ret_sched = sched;
	return 0;

out_free:
	sched_free(sched);
	return ret;
}

/**
 * sched_stop() - end the boots in progress, which start again with the next labd, and free
 * everything
 */
void sched_stop(struct sched *sched)
{
	pthread_mutex_lock(&sched->lock);
	sched->stopping = true;
	eventfd_write(sched->cancel_fd, 1);
	pthread_cond_broadcast(&sched->wake);
	pthread_mutex_unlock(&sched->lock);
	pthread_join(sched->thread, NULL);
	sched_free(sched);
}

/**
 * sched_cancel() - end an experiment; its finished runs stay
 *
 * Return: 0, or -EINVAL with @problem set (404 for no such experiment, 409 when it has ended
 * already).
 */
int sched_cancel(struct sched *sched, int64_t experiment, struct problem *problem)
{
	char *state = NULL;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_get_text(sched->db, &state, "SELECT state FROM experiment WHERE id = ?1", "i",
			  experiment);
	if (ret == -ENOENT) {
		ret = problem_set(problem, 404, NULL, "there is no experiment %lld",
				  (long long)experiment);
	} else if (!ret && strcmp(state, "queued") && strcmp(state, "running")) {
		ret = problem_set(problem, 409, NULL, "experiment %lld has ended already: it is %s",
				  (long long)experiment, state);
	} else if (!ret) {
		ret = db_run(sched->db, "UPDATE experiment SET cancel = 1 WHERE id = ?1", "i",
			     experiment);
		if (!ret && sched->current == experiment) {
			sched->cancelling = true;
			eventfd_write(sched->cancel_fd, 1);
		} else if (!ret) {
			ret = db_run(
				sched->db,
				"UPDATE experiment SET state = 'cancelled', ended = ?2 WHERE id = ?1",
				"ii", experiment, wall_ns());
		}
	}
	pthread_mutex_unlock(&sched->lock);
	if (ret && !problem->status)
		problem_set(problem, 500, NULL, "the cancellation could not be stored: %s",
			    strerror(-ret));
	free(state);
	if (!ret)
		sched_publish(sched, experiment);
	return ret ? -EINVAL : 0;
}
