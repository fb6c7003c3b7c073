// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stored events read back: the values of a field, and the times between pairs of events. A run is
 * read by its span of rowids; there is no index to keep up to date.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "capture/xen_records.h"
#include "store/db.h"
#include "store/events_priv.h"

/**
 * event_span_find() - where a run's rows of an event are
 * @ret_span: release with event_span_free()
 *
 * Return: 0, also for an event that the run does not have, or negative errno.
 */
int event_span_find(sqlite3 *db, int64_t run, const char *event, struct event_span *ret_span)
{
	struct event_span span = {0};
	sqlite3_stmt *stmt;
	int ret, rc;

	ret = db_prepare(db, &stmt,
			 "SELECT f.tbl, s.first_rowid, s.last_rowid, s.count, f.hash "
			 "FROM run_span s "
			 "LEFT JOIN event_format f ON f.event = s.event AND f.version = s.version "
			 "WHERE s.run = ?1 AND s.event = ?2",
			 "it", run, event);
	if (ret)
		return ret;
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		const char *table = (const char *)sqlite3_column_text(stmt, 0);

		span.table = table ? strdup(table) : NULL;
		span.hash = table ? strdup((const char *)sqlite3_column_text(stmt, 4)) : NULL;
		span.first = sqlite3_column_int64(stmt, 1);
		span.last = sqlite3_column_int64(stmt, 2);
		span.count = sqlite3_column_int64(stmt, 3);
		if (table && (!span.table || !span.hash))
			ret = -ENOMEM;
	} else if (rc != SQLITE_DONE) {
		ret = db_error(db, event);
	}
	sqlite3_finalize(stmt);
	if (ret)
		event_span_free(&span);
	else
		*ret_span = span;
	return ret;
}

/** event_span_free() - release what event_span_find() took */
void event_span_free(struct event_span *span)
{
	free(span->table);
	free(span->hash);
	*span = (struct event_span){0};
}

/* SQLite takes a quoted name that is no column for a string, so ask first. */
static int check_column(sqlite3 *db, const struct event_span *span, const char *column)
{
	int64_t there;
	int ret;

	ret = db_get_int(
		db, &there,
		"SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2 COLLATE NOCASE", "tt",
		span->table, column);
	return ret ?: there ? 0 : -ENOENT;
}

/* A statement for the @n columns @names of the span's rows. */
static int select_span(sqlite3 *db, const struct event_span *span, const char *const *names,
		       size_t n, sqlite3_stmt **ret_stmt)
{
	sqlite3_str *str;
	char *sql;
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		ret = check_column(db, span, names[i]);
	if (ret)
		return ret;
	str = sqlite3_str_new(db);
	for (size_t i = 0; i < n; i++)
		sqlite3_str_appendf(str, "%s\"%w\"", i ? ", " : "SELECT ", names[i]);
	sqlite3_str_appendf(str, " FROM \"%w\" WHERE rowid BETWEEN ?1 AND ?2", span->table);
	sql = sqlite3_str_finish(str);
	if (!sql)
		return -ENOMEM;
	ret = db_prepare(db, ret_stmt, sql, "ii", span->first, span->last);
	sqlite3_free(sql);
	return ret;
}

/**
 * events_count() - how often an event came in a run
 * @event: "system:event"
 * @ret_count: 0 also for an event that was not recorded
 *
 * Return: 0 or negative errno.
 */
int events_count(struct events_db *db, int64_t run, const char *event, uint64_t *ret_count)
{
	struct event_span span;
	int ret;

	ret = event_span_find(db->db, run, event, &span);
	if (ret)
		return ret;
	*ret_count = span.count;
	event_span_free(&span);
	return 0;
}

/**
 * events_values() - a field of all events of a run
 * @event: "system:event"
 * @field: name of the column
 * @ret_values: in the order of the capture; the caller frees. Records too short to have the field
 * are left out
 * @ret_n: how many; 0 for an event that was not recorded
 *
 * Return: 0, -ENOENT for a field that the event lacks, -EINVAL for one that is no number, or
 * another negative errno.
 */
int events_values(struct events_db *db, int64_t run, const char *event, const char *field,
		  int64_t **ret_values, size_t *ret_n)
{
	sqlite3_stmt *stmt = NULL;
	struct event_span span;
	int64_t *values;
	size_t n = 0;
	int ret, rc;

	ret = event_span_find(db->db, run, event, &span);
	if (ret)
		return ret;
	values = malloc((span.count + 1) * sizeof(*values));
	if (!values)
		ret = -ENOMEM;
	else if (span.table)
		ret = select_span(db->db, &span, &field, 1, &stmt);
	while (!ret && stmt && (rc = sqlite3_step(stmt)) != SQLITE_DONE) {
		if (rc != SQLITE_ROW)
			ret = db_error(db->db, event);
		else if (sqlite3_column_type(stmt, 0) == SQLITE_INTEGER && n < span.count)
			values[n++] = sqlite3_column_int64(stmt, 0);
		else if (sqlite3_column_type(stmt, 0) != SQLITE_NULL)
			ret = -EINVAL;
	}
	sqlite3_finalize(stmt);
	event_span_free(&span);
	if (ret) {
		free(values);
		return ret;
	}
	*ret_values = values;
	*ret_n = n;
	return 0;
}

/* An event's key and time; keys that the metric does not have are 0. */
struct moment {
	int64_t keys[EVENTS_MAX_KEYS];
	int64_t ts;
};

static int compare_keys(const struct moment *a, const struct moment *b)
{
	for (size_t i = 0; i < EVENTS_MAX_KEYS; i++)
		if (a->keys[i] != b->keys[i])
			return a->keys[i] < b->keys[i] ? -1 : 1;
	return 0;
}

static int compare_moments(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;

	return compare_keys(x, y) ?: (x->ts > y->ts) - (x->ts < y->ts);
}

/* Sorted by key, then by time. */
static int load_moments(sqlite3 *db, int64_t run, const char *event, char *const *keys,
			size_t n_keys, struct moment **ret_moments, size_t *ret_n)
{
	const char *names[1 + EVENTS_MAX_KEYS] = {"ts_ns"};
	struct moment *moments = NULL;
	sqlite3_stmt *stmt = NULL;
	struct event_span span;
	size_t n = 0;
	int ret, rc;

	for (size_t i = 0; i < n_keys; i++)
		names[1 + i] = keys[i];
	ret = event_span_find(db, run, event, &span);
	if (ret)
		return ret;
	moments = calloc(span.count + 1, sizeof(*moments));
	if (!moments)
		ret = -ENOMEM;
	else if (span.table)
		ret = select_span(db, &span, names, 1 + n_keys, &stmt);
	while (!ret && stmt && (rc = sqlite3_step(stmt)) != SQLITE_DONE) {
		if (rc != SQLITE_ROW) {
			ret = db_error(db, event);
			break;
		}
		if (n == span.count)
			break;
		moments[n].ts = sqlite3_column_int64(stmt, 0);
		for (size_t i = 0; i < n_keys && !ret; i++) {
			int type = sqlite3_column_type(stmt, 1 + i);

			moments[n].keys[i] = sqlite3_column_int64(stmt, 1 + i);
			if (type != SQLITE_INTEGER && type != SQLITE_NULL)
				ret = -EINVAL;
		}
		n++;
	}
	sqlite3_finalize(stmt);
	event_span_free(&span);
	if (ret) {
		free(moments);
		return ret;
	}
	if (n)
		qsort(moments, n, sizeof(*moments), compare_moments);
	*ret_moments = moments;
	*ret_n = n;
	return 0;
}

/* cpu is -1 for gaps that count whatever CPU the pair is of. */
struct gap {
	int64_t cpu;
	int64_t from;
	int64_t to;
};

static const char *source_of(const char *event)
{
	return strncmp(event, XEN_SYSTEM, strlen(XEN_SYSTEM)) ? INGEST_LINUX : INGEST_XEN;
}

/*
 * Gaps that do not overlap, by CPU and then by time. Between two events of Xen only its own losses
 * matter, and the same for the kernel's; between one of each, both.
 */
static int load_gaps(sqlite3 *db, int64_t run, const char *begin, const char *end, bool per_cpu,
		     struct gap **ret_gaps, size_t *ret_n)
{
	sqlite3_stmt *stmt;
	struct gap *gaps;
	size_t n = 0;
	int64_t rows;
	int ret, rc;

	ret = db_get_int(db, &rows, "SELECT count(*) FROM run_loss WHERE run = ?1", "i", run);
	if (ret)
		return ret;
	gaps = calloc(rows + 1, sizeof(*gaps));
	if (!gaps)
		return -ENOMEM;
	ret = db_prepare(db, &stmt,
			 "SELECT iif(?2, cpu, -1) AS c, from_ts, to_ts FROM run_loss "
			 "WHERE run = ?1 AND source IN (?3, ?4) ORDER BY c, from_ts",
			 "iitt", run, (int64_t)per_cpu, source_of(begin), source_of(end));
	if (ret) {
		free(gaps);
		return ret;
	}
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && n < (size_t)rows) {
		struct gap gap = {sqlite3_column_int64(stmt, 0), sqlite3_column_int64(stmt, 1),
				  sqlite3_column_int64(stmt, 2)};

		if (n && gaps[n - 1].cpu == gap.cpu && gap.from <= gaps[n - 1].to) {
			if (gap.to > gaps[n - 1].to)
				gaps[n - 1].to = gap.to;
		} else {
			gaps[n++] = gap;
		}
	}
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		ret = db_error(db, "gaps of a run");
	sqlite3_finalize(stmt);
	if (ret) {
		free(gaps);
		return ret;
	}
	*ret_gaps = gaps;
	*ret_n = n;
	return 0;
}

static bool touches_gap(const struct gap *gaps, size_t n, int64_t cpu, int64_t from, int64_t to)
{
	size_t low = 0, high = n;

	/* The first gap of the CPU that ends behind @from. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (gaps[middle].cpu < cpu || (gaps[middle].cpu == cpu && gaps[middle].to <= from))
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && gaps[low].cpu == cpu && gaps[low].from < to;
}

/**
 * struct matcher - the state of a walk over begins and ends
 * @cpu_key: which key is the CPU, -1 for none
 */
struct matcher {
	const struct gap *gaps;
	size_t n_gaps;
	int cpu_key;
	struct event_pairs pairs;
};

static void add_pair(struct matcher *m, const struct moment *begin, const struct moment *end)
{
	int64_t cpu = m->cpu_key < 0 ? -1 : begin->keys[m->cpu_key];

	if (touches_gap(m->gaps, m->n_gaps, cpu, begin->ts, end->ts))
		m->pairs.excluded++;
	else
		m->pairs.durations[m->pairs.n++] = end->ts - begin->ts;
}

static bool is_open(const struct moment *open, const struct moment *end)
{
	return open && !compare_keys(open, end);
}

/*
 * Begins and ends of one key take turns; pairs do not nest. A second begin replaces the first,
 * since the end of that one was not seen. Of a begin and an end at the same time, the one that fits
 * comes first.
 */
static void match(struct matcher *m, const struct moment *begins, size_t n_begins,
		  const struct moment *ends, size_t n_ends)
{
	const struct moment *open = NULL;
	size_t b = 0, e = 0;

	while (b < n_begins || e < n_ends) {
		int order;

		if (b == n_begins)
			order = 1;
		else if (e == n_ends)
			order = -1;
		else
			order = compare_moments(&begins[b], &ends[e])
					?: is_open(open, &ends[e]) ? 1
								   : -1;
		if (order < 0) {
			m->pairs.unmatched += open != NULL;
			open = &begins[b++];
			continue;
		}
		if (is_open(open, &ends[e]))
			add_pair(m, open, &ends[e]);
		else
			m->pairs.unmatched += 1 + (open != NULL);
		open = NULL;
		e++;
	}
	m->pairs.unmatched += open != NULL;
}

/**
 * events_pairs() - times from each begin to its end
 * @begin: "system:event"
 * @end: the same
 * @keys: columns that both events have; a pair has the same values in all
 * @n_keys: 0 to EVENTS_MAX_KEYS
 * @ret_pairs: the caller frees its durations
 *
 * Return: 0, -ENOENT for a key that an event lacks, -EINVAL for one that is no number or too many,
 * or another negative errno.
 */
int events_pairs(struct events_db *db, int64_t run, const char *begin, const char *end,
		 char *const *keys, size_t n_keys, struct event_pairs *ret_pairs)
{
	struct moment *begins = NULL, *ends = NULL;
	struct matcher m = {.cpu_key = -1};
	size_t n_begins = 0, n_ends = 0;
	struct gap *gaps = NULL;
	int ret;

	if (n_keys > EVENTS_MAX_KEYS)
		return -EINVAL;
	for (size_t i = 0; i < n_keys; i++)
		if (!strcmp(keys[i], "cpu"))
			m.cpu_key = i;
	ret = load_moments(db->db, run, begin, keys, n_keys, &begins, &n_begins);
	ret = ret ?: load_moments(db->db, run, end, keys, n_keys, &ends, &n_ends);
	ret = ret ?: load_gaps(db->db, run, begin, end, m.cpu_key >= 0, &gaps, &m.n_gaps);
	if (ret)
		goto out_free;
	m.gaps = gaps;
	m.pairs.durations = malloc((n_ends + 1) * sizeof(*m.pairs.durations));
	if (!m.pairs.durations) {
		ret = -ENOMEM;
		goto out_free;
	}
	match(&m, begins, n_begins, ends, n_ends);
	*ret_pairs = m.pairs;

out_free:
	free(begins);
	free(ends);
	free(gaps);
	return ret;
}
