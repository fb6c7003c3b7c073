// SPDX-License-Identifier: GPL-2.0-only
/*
 * What was recorded elsewhere: a trace.dat or an xentrace stream becomes an events file of its own,
 * an archive of labctl export an experiment. The work is done on the scheduler's thread between
 * boots, never beside a run that measures.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sha256.h"
#include "base/util.h"
#include "capture/convert.h"
#include "capture/xentrace_read.h"
#include "plan/archive.h"
#include "plan/exec.h"
#include "store/db.h"

#define NAME_MAX_LEN 120
#define TSC_KHZ_MAX 100000000

/**
 * struct import - a row of the table
 * @tsc_khz: said by the user for a capture of Xen's, or 0
 */
struct import {
	int64_t id;
	char *name;
	char *path;
	int64_t tsc_khz;
};

/**
 * sched_import() - queue a capture or an archive for import
 * @body: {"path": "/absolute/file", "name": "…", "tsc_khz": …}; the path alone is needed
 *
 * Return: 0, or negative errno with @problem set.
 */
int sched_import(struct sched *sched, const char *body, size_t length, int64_t *ret_import,
		 struct problem *problem)
{
	const char *path, *name = NULL;
	json_int_t tsc_khz = 0;
	json_error_t error;
	struct stat st;
	json_t *json;
	int ret;

	json = json_loadb(body, length, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		return problem_set(problem, 400, NULL, "line %d, column %d: %s", error.line,
				   error.column, error.text);
	if (json_unpack_ex(json, &error, JSON_STRICT, "{s:s, s?s, s?I}", "path", &path, "name",
			   &name, "tsc_khz", &tsc_khz)) {
		ret = problem_set(problem, 422, NULL,
				  "an import has a \"path\" and may have a \"name\" and a "
				  "\"tsc_khz\": %s",
				  error.text);
		goto out;
	}
	if (tsc_khz < 0 || tsc_khz > TSC_KHZ_MAX) {
		ret = problem_set(problem, 422, "tsc_khz", "must be in kHz, up to %d", TSC_KHZ_MAX);
		goto out;
	}
	if (*path != '/') {
		ret = problem_set(problem, 422, "path", "must be absolute");
		goto out;
	}
	if (stat(path, &st) || !S_ISREG(st.st_mode)) {
		ret = problem_set(problem, 422, "path", "is no file that labd can read");
		goto out;
	}
	if (!name)
		name = strrchr(path, '/') + 1;
	if (strlen(name) > NAME_MAX_LEN) {
		ret = problem_set(problem, 422, "name", "is longer than %d bytes", NAME_MAX_LEN);
		goto out;
	}
	pthread_mutex_lock(&sched->lock);
	ret = db_run(sched->db,
		     "INSERT INTO import (name, path, state, created, tsc_khz) "
		     "VALUES (?1, ?2, 'queued', ?3, nullif(?4, 0))",
		     "ttii", name, path, wall_ns(), (int64_t)tsc_khz);
	if (!ret)
		*ret_import = sqlite3_last_insert_rowid(sched->db);
	pthread_cond_broadcast(&sched->wake);
	pthread_mutex_unlock(&sched->lock);
	if (ret)
		problem_set(problem, 500, NULL, "the import could not be stored: %s",
			    strerror(-ret));
out:
	json_decref(json);
	return ret;
}

static int store(struct sched *sched, const char *capture, const struct ingest_run *info,
		 const char *database, struct ingest_result *result, char *error, size_t size)
{
	char path[PATH_MAX];
	struct events_db *events;
	int ret;

	snprintf(path, sizeof(path), "%s/%s", sched->config.data_dir, database);
	ret = events_open(path, &events);
	if (ret)
		return ret;
	ret = events_ingest(events, capture, info, result, error, size);
	events_close(events);
	return ret;
}

static int64_t lost_in(const struct ingest_result *result)
{
	int64_t lost = 0;

	for (size_t i = 0; i < result->n_losses; i++)
		lost += result->losses[i].count > 0 ? result->losses[i].count : 0;
	return lost;
}

/* Of Xen's capture there is no other in the run: then the file has no Linux half. */
static int import_file(struct sched *sched, const struct import *import, bool xen,
		       struct ingest_run *info, const char *copy, const char *database,
		       char sha[SHA256_HEX_LEN + 1], struct ingest_result *result, char *error,
		       size_t size)
{
	int ret;

	ret = xen ? capture_copy(import->path, copy, error, size)
		  : capture_to_v6(import->path, copy, error, size);
	if (!ret)
		ret = sha256_file_hex(copy, sha);
	if (ret)
		return ret;
	info->sha256 = sha;
	if (xen) {
		info->xen_path = copy;
		info->xen_capture = info->capture;
		info->xen_sha256 = sha;
		info->tsc_khz = import->tsc_khz;
	}
	return store(sched, xen ? NULL : copy, info, database, result, error, size);
}

static int note_failure(struct sched *sched, int64_t id, const char *reason)
{
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_run(
		sched->db,
		"UPDATE import SET state = 'failed', reason = ?2, database = NULL WHERE id = ?1",
		"it", id, reason);
	pthread_mutex_unlock(&sched->lock);
	return ret;
}

static int note_capture(struct sched *sched, int64_t id, const char *capture, const char *sha256,
			const char *database, const struct ingest_result *result)
{
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_run(sched->db,
		     "UPDATE import SET state = 'done', capture = ?2, sha256 = ?3, events = ?4, "
		     "lost = ?5, database = ?6 WHERE id = ?1",
		     "ittiit", id, capture, sha256, (int64_t)result->records, lost_in(result),
		     database);
	pthread_mutex_unlock(&sched->lock);
	return ret;
}

static int import_capture(struct sched *sched, const struct import *import, char *error,
			  size_t size)
{
	char relative[64], database[64], capture[PATH_MAX], sha[SHA256_HEX_LEN + 1];
	struct ingest_run info = {
		.run = 1, .arm = "import", .scenario = import->name, .capture = relative};
	struct ingest_result result = {0};
	bool xen = xentrace_is_file(import->path);
	int64_t id = import->id;
	int ret;

	snprintf(relative, sizeof(relative), "captures/import/%lld.%s", (long long)id,
		 xen ? "xentrace" : "dat");
	snprintf(database, sizeof(database), "events/import-%lld.db", (long long)id);
	snprintf(capture, sizeof(capture), "%s/captures/import", sched->config.data_dir);
	ret = make_dir(capture, 0755);
	snprintf(capture, sizeof(capture), "%s/%s", sched->config.data_dir, relative);
	if (!ret)
		ret = import_file(sched, import, xen, &info, capture, database, sha, &result, error,
				  size);
	if (!ret)
		ret = note_capture(sched, id, relative, sha, database, &result);
	ingest_result_free(&result);
	return ret;
}

static int import_one(struct sched *sched, const struct import *import)
{
	char error[320] = "";
	int ret;

	/* What a labd that was killed had put in place goes first, be the archive still there or
	 * not. */
	ret = bundle_forget(sched, import->id);
	if (ret)
		return ret;
	if (bundle_is_file(import->path))
		ret = archive_import(sched, import->id, import->path, import->name, error,
				     sizeof(error));
	else
		ret = import_capture(sched, import, error, sizeof(error));
	if (!ret)
		return 0;
	return note_failure(sched, import->id, *error ? error : strerror(-ret));
}

/**
 * import_next() - do the oldest queued import
 *
 * Return: 0 when one was done (or failed for a reason of its own, which is stored), -ENOENT when
 * none is queued, or another negative errno.
 */
int import_next(struct sched *sched)
{
	struct import import = {0};
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_get_int(sched->db, &import.id,
			 "SELECT id FROM import WHERE state = 'queued' ORDER BY id LIMIT 1", "");
	if (!ret)
		ret = db_get_text(sched->db, &import.name, "SELECT name FROM import WHERE id = ?1",
				  "i", import.id);
	if (!ret)
		ret = db_get_text(sched->db, &import.path, "SELECT path FROM import WHERE id = ?1",
				  "i", import.id);
	if (!ret)
		ret = db_get_int(sched->db, &import.tsc_khz,
				 "SELECT tsc_khz FROM import WHERE id = ?1", "i", import.id);
	pthread_mutex_unlock(&sched->lock);
	if (!ret)
		ret = import_one(sched, &import);
	free(import.name);
	free(import.path);
	return ret;
}
