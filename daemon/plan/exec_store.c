// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures into rows and samples, after each boot. The events file commits first: a labd killed
 * between the two commits finds the run's rows there and does not store them twice.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/util.h"
#include "plan/exec.h"
#include "plan/run_check.h"
#include "plan/sample.h"
#include "store/db.h"

/**
 * struct captured - a run that waits to be stored
 * @xen_capture: NULL for a run without a hypervisor's, as @xen_sha256
 * @done: the agent's last word
 */
struct captured {
	int64_t run;
	unsigned int round;
	char *arm;
	char *scenario;
	char *capture;
	char *sha256;
	char *xen_capture;
	char *xen_sha256;
	json_t *done;
};

static void captured_free(struct captured *c)
{
	free(c->arm);
	free(c->scenario);
	free(c->capture);
	free(c->sha256);
	free(c->xen_capture);
	free(c->xen_sha256);
	json_decref(c->done);
}

static char *text_column(sqlite3_stmt *stmt, int column)
{
	const unsigned char *text = sqlite3_column_text(stmt, column);

	return strdup(text ? (const char *)text : "");
}

static char *optional_column(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL ? NULL : text_column(stmt, column);
}

static int next_captured(struct exec *exec, struct captured *ret)
{
	struct sched *sched = exec->sched;
	sqlite3_stmt *stmt;
	int err;

	pthread_mutex_lock(&sched->lock);
	err = db_prepare(
		sched->db, &stmt,
		"SELECT r.id, s.round, s.arm, r.scenario, r.capture, r.sha256, r.done_json,"
		" r.xen_capture, r.xen_sha256 "
		"FROM run r JOIN slot s ON s.id = r.slot "
		"WHERE s.experiment = ?1 AND r.state = 'captured' ORDER BY r.id LIMIT 1",
		"i", exec->id);
	if (err)
		goto out;
	if (sqlite3_step(stmt) == SQLITE_ROW) {
		ret->run = sqlite3_column_int64(stmt, 0);
		ret->round = sqlite3_column_int(stmt, 1);
		ret->arm = text_column(stmt, 2);
		ret->scenario = text_column(stmt, 3);
		ret->capture = text_column(stmt, 4);
		ret->sha256 = text_column(stmt, 5);
		ret->done = json_loads((const char *)sqlite3_column_text(stmt, 6) ?: "", 0, NULL);
		ret->xen_capture = optional_column(stmt, 7);
		ret->xen_sha256 = optional_column(stmt, 8);
	} else {
		err = -ENOENT;
	}
	sqlite3_finalize(stmt);
out:
	pthread_mutex_unlock(&sched->lock);
	return err;
}

static bool ran_well(const struct captured *c)
{
	const char *state = json_string_value(json_object_get(c->done, "state"));

	return state && !strcmp(state, "ok");
}

/*
 * The kernel's rings are there since the capture, with what they wrote. Xen keeps no books: what it
 * wrote is what was read and what it says it lost, if the buffer was read to its end.
 */
static int note_cpu(sqlite3 *db, int64_t run, const struct ingest_cpu *cpu)
{
	int64_t records = cpu->records, lost = cpu->lost;

	if (strcmp(cpu->source, INGEST_XEN))
		return db_run(db,
			      "UPDATE ring SET read = ?3"
			      " WHERE run = ?1 AND source = 'linux' AND cpu = ?2",
			      "iii", run, (int64_t)cpu->cpu, records);
	return db_run(db,
		      "INSERT OR REPLACE INTO ring (run, source, cpu, written, read, lost, detail) "
		      "VALUES (?1, 'xen', ?2, ?3, ?4, ?5, ?6)",
		      "iiiiit", run, (int64_t)cpu->cpu, records + lost, records, lost,
		      cpu->closed ? "{\"closed\": true}" : "{\"closed\": false}");
}

static int note_loss(sqlite3 *db, int64_t run, const struct ingest_loss *loss)
{
	const char *cause =
		strcmp(loss->source, INGEST_XEN) ? "ring overrun" : "xentrace buffer full";

	return db_run(db,
		      "INSERT INTO loss (run, source, cpu, from_ts, to_ts, count, cause) "
		      "VALUES (?1, ?2, ?3, ?4, ?5, iif(?6 < 0, NULL, ?6), ?7)",
		      "itiiiit", run, loss->source, (int64_t)loss->cpu, loss->from_ts, loss->to_ts,
		      loss->count, cause);
}

/* Counts and losses. Called inside the writer's transaction. */
static int note_counts(sqlite3 *db, int64_t run, const struct ingest_result *result)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < result->n_events; i++)
		ret = db_run(db, "INSERT INTO run_event (run, event, count) VALUES (?1, ?2, ?3)",
			     "iti", run, result->events[i].event, (int64_t)result->events[i].count);
	for (size_t i = 0; !ret && i < result->n_cpus; i++)
		ret = note_cpu(db, run, &result->cpus[i]);
	for (size_t i = 0; !ret && i < result->n_losses; i++)
		ret = note_loss(db, run, &result->losses[i]);
	/* What the ring's books say was lost and no gap in the pages shows. */
	if (!ret)
		ret = db_run(db,
			     "INSERT INTO loss (run, source, cpu, from_ts, to_ts, count, cause) "
			     "SELECT run, source, cpu, NULL, NULL, lost, 'ring books' FROM ring g "
			     "WHERE run = ?1 AND source = 'linux' AND lost > 0 AND NOT EXISTS "
			     "(SELECT 1 FROM loss l"
			     " WHERE l.run = g.run AND l.source = g.source AND l.cpu = g.cpu)",
			     "i", run);
	return ret;
}

static int note_sample(sqlite3 *db, int64_t run, const char *metric,
		       const struct sample_value *value)
{
	if (!value->valid)
		return db_run(db,
			      "INSERT INTO sample (run, metric, n_events, note) "
			      "VALUES (?1, ?2, ?3, ?4)",
			      "itit", run, metric, (int64_t)value->n_events, value->note);
	/* SQLite stores a NAN as NULL. */
	return db_run(db,
		      "INSERT INTO sample (run, metric, value, n_events, note, low, high) "
		      "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
		      "itditdd", run, metric, value->value, (int64_t)value->n_events, value->note,
		      value->low, value->high);
}

static int note_stored(struct exec *exec, const struct captured *c,
		       const struct ingest_result *result, const struct sample_value *samples,
		       const struct run_checks *checks, int64_t ingest_ns)
{
	const char *broken = run_checks_reason(checks);
	sqlite3 *db = exec->sched->db;
	int ret;

	ret = db_begin(db);
	if (ret)
		return ret;
	ret = note_counts(db, c->run, result);
	for (size_t i = 0; !ret && i < exec->spec->n_metrics; i++)
		ret = note_sample(db, c->run, exec->spec->metrics[i].name, &samples[i]);
	ret = ret ?: run_checks_note(db, c->run, checks);
	if (!ret)
		ret = db_run(db,
			     "UPDATE run SET state = ?2, events = ?3, ingest_ns = ?4,"
			     " reason = iif(?5 <> '' AND coalesce(reason, '') = '', ?5, reason),"
			     " lost = (SELECT total(lost) FROM ring WHERE run = ?1),"
			     " complete = NOT EXISTS (SELECT 1 FROM ring WHERE run = ?1"
			     "  AND (read + lost <> written OR"
			     "   iif(source = 'xen', json_extract(detail, '$.closed'), 1) = 0))"
			     " WHERE id = ?1",
			     "itiit", c->run, ran_well(c) && !*broken ? "ok" : "failed",
			     (int64_t)result->records, ingest_ns, broken);
	ret = db_end(db, ret);
	return ret;
}

/* A capture that cannot be decoded is kept, and its run is failed with the reason. */
static int note_undecodable(struct exec *exec, const struct captured *c, const char *why)
{
	struct sched *sched = exec->sched;
	int ret;

	log_err("run %lld: its capture cannot be decoded: %s", (long long)c->run, why);
	pthread_mutex_lock(&sched->lock);
	ret = db_run(sched->db,
		     "UPDATE run SET state = 'failed', reason = 'undecodable capture: ' || ?2 "
		     "WHERE id = ?1",
		     "it", c->run, why);
	pthread_mutex_unlock(&sched->lock);
	return ret;
}

static int store_one(struct exec *exec, const struct captured *c, char reason[256])
{
	const json_t *workload = json_object_get(c->done, "workload");
	struct sample_value samples[SPEC_MAX_METRICS];
	struct ingest_result result = {0};
	struct ingest_run info = {
		.run = c->run,
		.round = c->round,
		.arm = c->arm,
		.scenario = c->scenario,
		.capture = c->capture,
		.sha256 = c->sha256,
		.xen_capture = c->xen_capture,
		.xen_sha256 = c->xen_sha256,
	};
	char path[PATH_MAX], xen_path[PATH_MAX], error[256] = "";
	struct run_checks checks = {0};
	int64_t begun = mono_ns();
	int ret;

	snprintf(path, sizeof(path), "%s/%s", exec->sched->config.data_dir, c->capture);
	if (c->xen_capture) {
		snprintf(xen_path, sizeof(xen_path), "%s/%s", exec->sched->config.data_dir,
			 c->xen_capture);
		info.xen_path = xen_path;
	}
	ret = events_ingest(exec->events, path, &info, &result, error, sizeof(error));
	if (ret == -EBADMSG)
		return note_undecodable(exec, c, error);
	if (ret) {
		snprintf(reason, 256, "run %lld's events could not be stored: %.180s",
			 (long long)c->run, *error ? error : strerror(-ret));
		return ret;
	}
	ret = sample_run(exec->events, c->run, exec->spec, c->done, &result, samples);
	if (!ret && c->xen_capture)
		ret = run_checks_do(exec->events, c->run, exec->spec, workload, &result, &checks);
	if (!ret) {
		pthread_mutex_lock(&exec->sched->lock);
		ret = note_stored(exec, c, &result, samples, &checks, mono_ns() - begun);
		pthread_mutex_unlock(&exec->sched->lock);
	}
	if (ret)
		snprintf(reason, 256, "run %lld's samples could not be stored: %s",
			 (long long)c->run, strerror(-ret));
	ingest_result_free(&result);
	return ret;
}

/**
 * exec_store() - store every captured run of the experiment
 * @reason: filled on failure
 *
 * The caller holds the experiment's store lock. While a machine runs that the host's load would
 * disturb, nobody calls: such a machine is the only one, and its thread is the caller.
 *
 * Return: 0 or negative errno.
 */
int exec_store(struct exec *exec, char reason[256])
{
	int ret;

	for (;;) {
		struct captured c = {0};

		ret = next_captured(exec, &c);
		if (!ret)
			ret = store_one(exec, &c, reason);
		captured_free(&c);
		if (ret)
			return ret == -ENOENT ? 0 : ret;
	}
}
