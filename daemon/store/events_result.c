// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a stored run's tables say about it. A fresh ingest and a repeated one both answer from here,
 * so they cannot differ.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/db.h"
#include "store/events_priv.h"

/* Fills element @i of an array of the result from a row; 0 or -ENOMEM. */
typedef int (*fill_fn)(void *array, size_t i, sqlite3_stmt *row);

static int fill_event(void *array, size_t i, sqlite3_stmt *row)
{
	struct ingest_event *event = (struct ingest_event *)array + i;

	event->event = strdup((const char *)sqlite3_column_text(row, 0) ?: "");
	event->count = sqlite3_column_int64(row, 1);
	return event->event ? 0 : -ENOMEM;
}

static const char *source_of(sqlite3_stmt *row, int column)
{
	const char *source = (const char *)sqlite3_column_text(row, column);

	return source && !strcmp(source, INGEST_XEN) ? INGEST_XEN : INGEST_LINUX;
}

static int fill_cpu(void *array, size_t i, sqlite3_stmt *row)
{
	((struct ingest_cpu *)array)[i] = (struct ingest_cpu){
		.source = source_of(row, 4),
		.cpu = sqlite3_column_int(row, 0),
		.records = sqlite3_column_int64(row, 1),
		.lost = sqlite3_column_int64(row, 2),
		.lost_unknown = sqlite3_column_int64(row, 3),
		.closed = sqlite3_column_int(row, 5),
	};
	return 0;
}

static int fill_loss(void *array, size_t i, sqlite3_stmt *row)
{
	((struct ingest_loss *)array)[i] = (struct ingest_loss){
		.source = source_of(row, 4),
		.cpu = sqlite3_column_int(row, 0),
		.from_ts = sqlite3_column_int64(row, 1),
		.to_ts = sqlite3_column_int64(row, 2),
		.count = sqlite3_column_int64(row, 3),
	};
	return 0;
}

/* *@ret_array and *@ret_n describe what is filled, also on failure. */
static int load(sqlite3 *db, const char *sql, int64_t run, size_t each, fill_fn fill,
		void **ret_array, size_t *ret_n)
{
	sqlite3_stmt *stmt;
	size_t room = 0;
	void *larger;
	int ret, rc;

	ret = db_prepare(db, &stmt, sql, "i", run);
	if (ret)
		return ret;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !ret) {
		if (*ret_n == room) {
			room = room ? room * 2 : 16;
			larger = reallocarray(*ret_array, room, each);
			if (!larger) {
				ret = -ENOMEM;
				break;
			}
			*ret_array = larger;
		}
		ret = fill(*ret_array, *ret_n, stmt);
		if (!ret)
			++*ret_n;
	}
	if (!ret && rc != SQLITE_DONE)
		ret = db_error(db, sql);
	sqlite3_finalize(stmt);
	return ret;
}

static int load_run(sqlite3 *db, int64_t run, struct ingest_result *result)
{
	sqlite3_stmt *stmt;
	int ret;

	ret = db_prepare(db, &stmt,
			 "SELECT events, first_ts, last_ts, cpustat FROM run WHERE run = ?1", "i",
			 run);
	if (ret)
		return ret;
	if (sqlite3_step(stmt) != SQLITE_ROW) {
		ret = -ENOENT;
		goto out_finalize;
	}
	result->records = sqlite3_column_int64(stmt, 0);
	result->first_ts = sqlite3_column_int64(stmt, 1);
	result->last_ts = sqlite3_column_int64(stmt, 2);
	if (sqlite3_column_type(stmt, 3) != SQLITE_NULL) {
		result->cpustat = strdup((const char *)sqlite3_column_text(stmt, 3) ?: "");
		ret = result->cpustat ? 0 : -ENOMEM;
	}

out_finalize:
	sqlite3_finalize(stmt);
	return ret;
}

/**
 * event_result_load() - counts, losses and ring statistics of a stored run
 * @ret_result: the caller's, with ingest_result_free()
 *
 * Return: 0, -ENOENT for a run that is not stored, or another negative errno.
 */
int event_result_load(sqlite3 *db, int64_t run, struct ingest_result *ret_result)
{
	struct ingest_result result = {0};
	int ret;

	ret = load_run(db, run, &result);
	ret = ret
		      ?: load(db, "SELECT event, count FROM run_span WHERE run = ?1 ORDER BY event",
			      run, sizeof(*result.events), fill_event, (void **)&result.events,
			      &result.n_events);
	ret = ret
		      ?: load(db,
			      "SELECT cpu, records, lost, lost_unknown, source, closed IS NOT 0 "
			      "FROM run_cpu WHERE run = ?1 ORDER BY source, cpu",
			      run, sizeof(*result.cpus), fill_cpu, (void **)&result.cpus,
			      &result.n_cpus);
	ret = ret
		      ?: load(db,
			      "SELECT cpu, from_ts, to_ts, coalesce(count, -1), source "
			      "FROM run_loss WHERE run = ?1 "
			      "ORDER BY rowid",
			      run, sizeof(*result.losses), fill_loss, (void **)&result.losses,
			      &result.n_losses);
	if (ret)
		ingest_result_free(&result);
	else
		*ret_result = result;
	return ret;
}

/** ingest_result_free() - free what the result points to, and empty it */
void ingest_result_free(struct ingest_result *result)
{
	for (size_t i = 0; i < result->n_events; i++)
		free(result->events[i].event);
	free(result->events);
	free(result->cpus);
	free(result->losses);
	free(result->cpustat);
	*result = (struct ingest_result){0};
}
