// SPDX-License-Identifier: GPL-2.0-only
/*
 * Captures recorded elsewhere: a trace.dat becomes an events file of its own. The work is done on
 * the scheduler's thread between boots, never beside a run that measures.
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
#include "plan/exec.h"
#include "store/db.h"

#define NAME_MAX_LEN 120

/**
 * sched_import() - queue a capture for import
 * @body: {"path": "/absolute/trace.dat", "name": "…"}; the name is optional
 *
 * Return: 0, or negative errno with @problem set.
 */
int sched_import(struct sched *sched, const char *body, size_t length, int64_t *ret_import,
		 struct problem *problem)
{
	const char *path, *name = NULL;
	json_error_t error;
	struct stat st;
	json_t *json;
	int ret;

	json = json_loadb(body, length, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		return problem_set(problem, 400, NULL, "line %d, column %d: %s", error.line,
				   error.column, error.text);
	if (json_unpack_ex(json, &error, JSON_STRICT, "{s:s, s?s}", "path", &path, "name", &name)) {
		ret = problem_set(problem, 422, NULL,
				  "an import has a \"path\" and may have a \"name\": %s",
				  error.text);
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
	ret = db_run(
		sched->db,
		"INSERT INTO import (name, path, state, created) VALUES (?1, ?2, 'queued', ?3)",
		"tti", name, path, wall_ns());
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

static int import_one(struct sched *sched, int64_t id, const char *name, const char *path)
{
	char relative[64], database[64], capture[PATH_MAX], sha[SHA256_HEX_LEN + 1],
		error[256] = "";
	struct ingest_run info = {.run = 1, .arm = "import", .scenario = name, .capture = relative};
	struct ingest_result result = {0};
	int ret;

	snprintf(relative, sizeof(relative), "captures/import/%lld.dat", (long long)id);
	snprintf(database, sizeof(database), "events/import-%lld.db", (long long)id);
	snprintf(capture, sizeof(capture), "%s/captures/import", sched->config.data_dir);
	ret = make_dir(capture, 0755);
	snprintf(capture, sizeof(capture), "%s/%s", sched->config.data_dir, relative);
	if (!ret)
		ret = capture_to_v6(path, capture, error, sizeof(error));
	if (!ret)
		ret = sha256_file_hex(capture, sha);
	info.sha256 = sha;
	if (!ret)
		ret = store(sched, capture, &info, database, &result, error, sizeof(error));
	if (ret && !*error)
		snprintf(error, sizeof(error), "%s", strerror(-ret));

	pthread_mutex_lock(&sched->lock);
	if (ret)
		ret = db_run(sched->db,
			     "UPDATE import SET state = 'failed', reason = ?2 WHERE id = ?1", "it",
			     id, error);
	else
		ret = db_run(
			sched->db,
			"UPDATE import SET state = 'done', capture = ?2, sha256 = ?3, events = ?4, "
			"lost = ?5, database = ?6 WHERE id = ?1",
			"ittiit", id, relative, sha, (int64_t)result.records, lost_in(&result),
			database);
	pthread_mutex_unlock(&sched->lock);
	ingest_result_free(&result);
	return ret;
}

/**
 * import_next() - do the oldest queued import
 *
 * Return: 0 when one was done (or failed for a reason of its own, which is stored), -ENOENT when
 * none is queued, or another negative errno.
 */
int import_next(struct sched *sched)
{
	char *name = NULL, *path = NULL;
	int64_t id;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_get_int(sched->db, &id,
			 "SELECT id FROM import WHERE state = 'queued' ORDER BY id LIMIT 1", "");
	if (!ret)
		ret = db_get_text(sched->db, &name, "SELECT name FROM import WHERE id = ?1", "i",
				  id);
	if (!ret)
		ret = db_get_text(sched->db, &path, "SELECT path FROM import WHERE id = ?1", "i",
				  id);
	pthread_mutex_unlock(&sched->lock);
	if (!ret)
		ret = import_one(sched, id, name, path);
	free(name);
	free(path);
	return ret;
}
