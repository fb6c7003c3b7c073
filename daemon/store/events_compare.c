// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two runs' events, row by row: the same events, in the same order, with the same fields. What only
 * the captures' bytes have (ids of formats, padding, page borders) does not count.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/db.h"
#include "store/events_priv.h"

/* Every table of events begins with these; the run itself is not compared. */
enum { COLUMN_RUN, COLUMN_CPU, COLUMN_TS };

/**
 * struct rows - a walk over one run's rows of one event
 * @stmt: stands on a row; NULL when there is none (any more)
 */
struct rows {
	struct event_span span;
	sqlite3_stmt *stmt;
};

static void rows_close(struct rows *rows)
{
	sqlite3_finalize(rows->stmt);
	event_span_free(&rows->span);
	rows->stmt = NULL;
}

/* To the first row, or to the next. */
static int rows_next(sqlite3 *db, struct rows *rows)
{
	int rc;

	if (!rows->stmt)
		return 0;
	rc = sqlite3_step(rows->stmt);
	if (rc == SQLITE_ROW)
		return 0;
	sqlite3_finalize(rows->stmt);
	rows->stmt = NULL;
	return rc == SQLITE_DONE ? 0 : db_error(db, "rows of an event");
}

static int rows_open(sqlite3 *db, int64_t run, const char *event, struct rows *rows)
{
	char *sql;
	int ret;

	ret = event_span_find(db, run, event, &rows->span);
	if (ret || !rows->span.table || !rows->span.count)
		return ret;
	sql = sqlite3_mprintf("SELECT * FROM \"%w\" WHERE rowid BETWEEN ?1 AND ?2 ORDER BY rowid",
			      rows->span.table);
	ret = sql ? db_prepare(db, &rows->stmt, sql, "ii", rows->span.first, rows->span.last)
		  : -ENOMEM;
	sqlite3_free(sql);
	return ret ?: rows_next(db, rows);
}

static bool same_value(sqlite3_stmt *a, sqlite3_stmt *b, int column)
{
	int type = sqlite3_column_type(a, column), size;

	if (type != sqlite3_column_type(b, column))
		return false;
	if (type == SQLITE_INTEGER)
		return sqlite3_column_int64(a, column) == sqlite3_column_int64(b, column);
	if (type == SQLITE_NULL)
		return true;
	size = sqlite3_column_bytes(a, column);
	return size == sqlite3_column_bytes(b, column) &&
	       (!size ||
		!memcmp(sqlite3_column_blob(a, column), sqlite3_column_blob(b, column), size));
}

static bool same_row(const struct rows *a, const struct rows *b)
{
	int n = sqlite3_column_count(a->stmt);

	if (strcmp(a->span.hash, b->span.hash) || n != sqlite3_column_count(b->stmt))
		return false;
	for (int i = COLUMN_RUN + 1; i < n; i++)
		if (!same_value(a->stmt, b->stmt, i))
			return false;
	return true;
}

/* Of the differences the earliest stays. */
static void note_difference(struct events_diff *diff, const char *event, const struct rows *at)
{
	int64_t ts = sqlite3_column_int64(at->stmt, COLUMN_TS);

	diff->equal = false;
	if (*diff->event && diff->ts_ns <= ts)
		return;
	snprintf(diff->event, sizeof(diff->event), "%s", event);
	diff->ts_ns = ts;
	diff->cpu = sqlite3_column_int64(at->stmt, COLUMN_CPU);
}

static int compare_event(const struct events_run *a, const struct events_run *b, const char *event,
			 struct events_diff *diff)
{
	struct rows left = {0}, right = {0};
	int ret;

	ret = rows_open(a->db->db, a->run, event, &left);
	ret = ret ?: rows_open(b->db->db, b->run, event, &right);
	while (!ret && left.stmt && right.stmt && same_row(&left, &right))
		ret = rows_next(a->db->db, &left) ?: rows_next(b->db->db, &right);
	if (!ret && (left.stmt || right.stmt))
		note_difference(diff, event, left.stmt ? &left : &right);
	rows_close(&left);
	rows_close(&right);
	return ret;
}

static bool same_losses(const struct ingest_result *a, const struct ingest_result *b)
{
	if (a->n_losses != b->n_losses)
		return false;
	for (size_t i = 0; i < a->n_losses; i++) {
		const struct ingest_loss *x = &a->losses[i], *y = &b->losses[i];

		if (strcmp(x->source, y->source) || x->cpu != y->cpu || x->from_ts != y->from_ts ||
		    x->to_ts != y->to_ts || x->count != y->count)
			return false;
	}
	return true;
}

/* Both lists are sorted by name. An event without a format has a count and no rows. */
static int compare_all(const struct events_run *a, const struct ingest_result *of_a,
		       const struct events_run *b, const struct ingest_result *of_b,
		       struct events_diff *diff)
{
	size_t i = 0, j = 0;
	int ret = 0;

	while (!ret && (i < of_a->n_events || j < of_b->n_events)) {
		const struct ingest_event *x = i < of_a->n_events ? &of_a->events[i] : NULL;
		const struct ingest_event *y = j < of_b->n_events ? &of_b->events[j] : NULL;
		int order = !x ? 1 : !y ? -1 : strcmp(x->event, y->event);

		if ((order <= 0 ? x->count : 0) != (order >= 0 ? y->count : 0))
			diff->equal = false;
		ret = compare_event(a, b, order <= 0 ? x->event : y->event, diff);
		i += order <= 0;
		j += order >= 0;
	}
	return ret;
}

/**
 * events_compare() - do two stored runs have the same events?
 * @a: one
 * @b: the other, of the same file or of another one
 * @ret_diff: what they have in common
 *
 * Return: 0, -ENOENT when one of them is not stored, or another negative errno.
 */
int events_compare(const struct events_run *a, const struct events_run *b,
		   struct events_diff *ret_diff)
{
	struct ingest_result of_a = {0}, of_b = {0};
	struct events_diff diff = {.equal = true};
	int ret;

	ret = event_result_load(a->db->db, a->run, &of_a);
	ret = ret ?: event_result_load(b->db->db, b->run, &of_b);
	if (!ret) {
		diff.n[0] = of_a.records;
		diff.n[1] = of_b.records;
		diff.equal = of_a.records == of_b.records && same_losses(&of_a, &of_b);
		ret = compare_all(a, &of_a, b, &of_b, &diff);
	}
	ingest_result_free(&of_a);
	ingest_result_free(&of_b);
	if (!ret)
		*ret_diff = diff;
	return ret;
}
