// SPDX-License-Identifier: GPL-2.0-only
/* The records of a stored Xen run that the check of its flushes needs, in the order of its vCPUs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/db.h"
#include "store/events_priv.h"

/*
 * One row per record: kind, domid, vcpu, target, first, count, sent, status, ops, needs. A TSC that
 * two records of a vCPU share does not tell which came first: a flush then counts for the page, and
 * the release comes last.
 */
static const struct {
	const char *event;
	int rank;
	const char *columns;
} parts[] = {
	[ORDER_P2M_FLUSH] = {"xen:p2m_flush", 1, "domid, vcpu, target, 0, 0, 1, 0, 0, 0"},
	[ORDER_IOTLB_FLUSH] = {"xen:iotlb_flush", 1,
			       "domid, vcpu, target, dfn, page_count, sent, rc, 0, 0"},
	[ORDER_GFN] = {"xen:grant_unmap_gfn", 0, "domid, vcpu, 0, gfn, 0, 0, status, 0, 0"},
	[ORDER_RELEASE] = {"xen:grant_release", 2, "domid, vcpu, 0, 0, 0, 0, 0, ops, needs"},
	[ORDER_BATCH] = {"xen:grant_unmap_batch", 3, "domid, vcpu, 0, 0, 0, 0, status, ops, 0"},
};

/* The run's rows of one event, by its span of rowids: there is no index. */
static int add_part(sqlite3 *db, int64_t run, size_t kind, sqlite3_str *sql, size_t *n)
{
	sqlite3_stmt *stmt;
	int ret;

	ret = db_prepare(db, &stmt,
			 "SELECT f.tbl, s.first_rowid, s.last_rowid FROM run_span s "
			 "JOIN event_format f ON f.event = s.event AND f.version = s.version "
			 "WHERE s.run = ?1 AND s.event = ?2 AND s.count > 0",
			 "it", run, parts[kind].event);
	if (ret)
		return ret;
	if (sqlite3_step(stmt) == SQLITE_ROW)
		sqlite3_str_appendf(sql,
				    "%sSELECT %d, %s, tsc, %d AS rank FROM \"%w\""
				    " WHERE rowid BETWEEN %lld AND %lld",
				    (*n)++ ? " UNION ALL " : "", (int)kind, parts[kind].columns,
				    parts[kind].rank, sqlite3_column_text(stmt, 0),
				    sqlite3_column_int64(stmt, 1), sqlite3_column_int64(stmt, 2));
	sqlite3_finalize(stmt);
	return 0;
}

static int check_rows(sqlite3 *db, const char *sql, struct order_check *check)
{
	sqlite3_stmt *stmt;
	int ret, rc;

	ret = db_prepare(db, &stmt, sql, "");
	if (ret)
		return ret;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW && !ret) {
		struct order_record record = {
			.kind = sqlite3_column_int(stmt, 0),
			.domid = sqlite3_column_int64(stmt, 1),
			.vcpu = sqlite3_column_int64(stmt, 2),
			.target = sqlite3_column_int64(stmt, 3),
			.first = sqlite3_column_int64(stmt, 4),
			.count = sqlite3_column_int64(stmt, 5),
			.sent = sqlite3_column_int(stmt, 6),
			.status = sqlite3_column_int64(stmt, 7),
			.ops = sqlite3_column_int64(stmt, 8),
			.needs = sqlite3_column_int64(stmt, 9),
		};

		ret = order_check_add(check, &record);
	}
	if (!ret && rc != SQLITE_DONE)
		ret = db_error(db, "records of a run's flushes");
	sqlite3_finalize(stmt);
	return ret;
}

/**
 * events_flush_order() - were a run's unmapped pages flushed before they were released?
 * @ret_result: all 0 for a run without such records
 *
 * Return: 0, -E2BIG for records that make no sense, or another negative errno.
 */
int events_flush_order(struct events_db *db, int64_t run, struct order_result *ret_result)
{
	sqlite3_str *str = sqlite3_str_new(db->db);
	struct order_check *check = NULL;
	size_t n = 0;
	char *sql;
	int ret;

	ret = order_check_new(&check);
	for (size_t kind = 0; kind < sizeof(parts) / sizeof(parts[0]) && !ret; kind++)
		ret = add_part(db->db, run, kind, str, &n);
	sqlite3_str_appendall(str, " ORDER BY domid, vcpu, tsc, rank");
	sql = sqlite3_str_finish(str);
	if (!ret && !sql)
		ret = -ENOMEM;
	if (!ret && n)
		ret = check_rows(db->db, sql, check);
	if (!ret)
		*ret_result = order_check_result(check);
	sqlite3_free(sql);
	order_check_free(check);
	return ret;
}
