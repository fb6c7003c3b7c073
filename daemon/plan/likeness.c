// SPDX-License-Identifier: GPL-2.0-only
/* What a run and its reproduction have in common: the metrics, the events, the captures' bytes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "plan/reproduce.h"
#include "plan/sample.h"
#include "store/db.h"
#include "store/events.h"

/* Decodes the new captures as the run's were, into a file of their own. */
static int ingest(struct reproduction *rep, struct events_db *events,
		  const char sha256[SHA256_HEX_LEN + 1], const char xen_sha256[SHA256_HEX_LEN + 1],
		  struct ingest_result *result)
{
	char capture[PATH_MAX], xen[PATH_MAX], error[256] = "";
	struct ingest_run info = {
		.run = rep->run,
		.round = rep->slot->round,
		.arm = rep->exec->spec->arms[rep->slot->arm].name,
		.scenario = rep->exec->spec->scenarios[rep->slot->runs[rep->place]].name,
		.capture = "",
		.sha256 = sha256,
	};
	int ret;

	reproduce_path(rep, REPRODUCE_CAPTURE, capture);
	if (*xen_sha256) {
		reproduce_path(rep, REPRODUCE_XEN, xen);
		info.xen_path = xen;
		info.xen_capture = "";
		info.xen_sha256 = xen_sha256;
	}
	ret = events_ingest(events, capture, &info, result, error, sizeof(error));
	if (ret && *error)
		reproduce_fail(rep, ret, "its events could not be stored: %.200s", error);
	return ret;
}

static int stored_sample(struct reproduction *rep, const char *metric, struct sample_value *sample)
{
	struct sched *sched = rep->sched;
	sqlite3_stmt *stmt;
	int ret, rc;

	pthread_mutex_lock(&sched->lock);
	ret = db_prepare(sched->db, &stmt,
			 "SELECT value, n_events FROM sample WHERE run = ?1 AND metric = ?2", "it",
			 rep->run, metric);
	if (ret)
		goto out;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		sample->valid = sqlite3_column_type(stmt, 0) != SQLITE_NULL;
		sample->value = sqlite3_column_double(stmt, 0);
		sample->n_events = sqlite3_column_int64(stmt, 1);
	} else if (rc != SQLITE_DONE) {
		ret = db_error(sched->db, metric);
	}
	sqlite3_finalize(stmt);
out:
	pthread_mutex_unlock(&sched->lock);
	return ret;
}

static bool same_sample(const struct sample_value *a, const struct sample_value *b)
{
	return a->valid == b->valid && a->n_events == b->n_events &&
	       (!a->valid || a->value == b->value);
}

static json_t *number(const struct sample_value *sample)
{
	return (sample->valid ? json_real(sample->value) : NULL) ?: json_null();
}

static int compare_metrics(struct reproduction *rep, const struct sample_value *samples,
			   struct likeness *like)
{
	const struct spec *spec = rep->exec->spec;
	json_t *list = json_array();
	int ret = 0;

	json_object_set_new(like->detail, "metrics", list);
	like->metrics = true;
	for (size_t i = 0; !ret && i < spec->n_metrics; i++) {
		const char *name = spec->metrics[i].name;
		struct sample_value stored = {0};
		bool equal;

		ret = stored_sample(rep, name, &stored);
		equal = same_sample(&stored, &samples[i]);
		like->metrics &= equal;
		json_array_append_new(
			list,
			json_pack("{s:s, s:o, s:o, s:I, s:I, s:b}", "metric", name, "stored",
				  number(&stored), "reproduced", number(&samples[i]),
				  "stored_events", (json_int_t)stored.n_events, "reproduced_events",
				  (json_int_t)samples[i].n_events, "equal", (int)equal));
	}
	return ret;
}

static int compare_events(struct reproduction *rep, struct events_db *events, struct likeness *like)
{
	char path[PATH_MAX], ts[24];
	struct events_run stored = {.run = rep->run}, again = {events, rep->run};
	json_t *first = NULL;
	struct events_diff diff;
	int ret;

	snprintf(path, sizeof(path), "%s/events/%lld.db", rep->sched->config.data_dir,
		 (long long)rep->experiment);
	ret = events_open(path, &stored.db);
	if (ret)
		return ret;
	ret = events_compare(&stored, &again, &diff);
	events_close(stored.db);
	if (ret == -ENOENT)
		return reproduce_fail(rep, ret, "the events of run %lld are gone",
				      (long long)rep->run);
	if (ret)
		return ret;
	like->events = diff.equal;
	if (*diff.event) {
		snprintf(ts, sizeof(ts), "%lld", (long long)diff.ts_ns);
		first = json_pack("{s:s, s:s, s:I}", "event", diff.event, "ts", ts, "cpu",
				  (json_int_t)diff.cpu);
	}
	json_object_set_new(like->detail, "events",
			    json_pack("{s:I, s:I, s:o?}", "stored", (json_int_t)diff.n[0],
				      "reproduced", (json_int_t)diff.n[1], "first_difference",
				      first));
	return 0;
}

static void compare_capture(struct likeness *like, const char *name, const char *stored,
			    const char *again)
{
	bool equal = !strcmp(stored, again);

	if (!*stored && !*again)
		return;
	like->captures &= equal;
	json_array_append_new(json_object_get(like->detail, "captures"),
			      json_pack("{s:s, s:s, s:s, s:b}", "name", name, "stored", stored,
					"reproduced", again, "equal", (int)equal));
}

static int hash(const struct reproduction *rep, const char *suffix, char ret[SHA256_HEX_LEN + 1])
{
	char path[PATH_MAX];
	int err;

	reproduce_path(rep, suffix, path);
	err = sha256_file_hex(path, ret);
	if (err == -ENOENT)
		*ret = '\0';
	return err == -ENOENT ? 0 : err;
}

static int compare(struct reproduction *rep, struct events_db *events, struct likeness *like)
{
	char sha256[SHA256_HEX_LEN + 1], xen_sha256[SHA256_HEX_LEN + 1];
	struct sample_value samples[SPEC_MAX_METRICS];
	struct ingest_result result = {0};
	int ret;

	ret = hash(rep, REPRODUCE_CAPTURE, sha256) ?: hash(rep, REPRODUCE_XEN, xen_sha256);
	if (ret)
		return ret;
	if (!*sha256 || !*xen_sha256 != !*rep->xen_sha256)
		return reproduce_fail(rep, -ENODATA, "the agent did not send all captures");
	like->captures = true;
	json_object_set_new(like->detail, "captures", json_array());
	compare_capture(like, "capture", rep->sha256, sha256);
	compare_capture(like, "Xen's capture", rep->xen_sha256, xen_sha256);
	ret = ingest(rep, events, sha256, xen_sha256, &result);
	ret = ret ?: sample_run(events, rep->run, rep->exec->spec, rep->done, &result, samples);
	ret = ret ?: compare_metrics(rep, samples, like) ?: compare_events(rep, events, like);
	ingest_result_free(&result);
	return ret;
}

/**
 * likeness_find() - compare what rerun() brought with what is stored of the run
 * @ret_likeness: its detail is a new reference
 *
 * Return: 0, or a negative errno with the reason set where the error alone would not say it.
 */
int likeness_find(struct reproduction *rep, struct likeness *ret_likeness)
{
	struct likeness like = {.detail = json_object()};
	struct events_db *events = NULL;
	char path[PATH_MAX];
	int ret;

	reproduce_path(rep, REPRODUCE_EVENTS, path);
	ret = events_open(path, &events);
	ret = ret ?: compare(rep, events, &like);
	events_close(events);
	if (ret)
		json_decref(like.detail);
	else
		*ret_likeness = like;
	return ret;
}
