// SPDX-License-Identifier: GPL-2.0-only
/*
 * A typed table per format of an event. Names of columns are the fields' own; one that would hide a
 * column of every table (run, cpu, ts_ns, pid, rowid and its other names) or repeat a name gets
 * "f_" in front.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/sha256.h"
#include "base/util.h"
#include "store/db.h"
#include "store/events_priv.h"

/* A patch changes a tracepoint once or twice; SQLite joins at most 500 tables to a view. */
#define MAX_VERSIONS 100

static const char *const reserved[] = {"run", "cpu", "ts_ns", "pid", "rowid", "oid", "_rowid_"};

static const char *sql_type(enum value_kind kind)
{
	if (kind <= VALUE_64)
		return "INTEGER";
	return kind == VALUE_TEXT || kind == VALUE_TEXT_LOC || kind == VALUE_TEXT_REL ? "TEXT"
										      : "BLOB";
}

static void plain_identifier(char *name)
{
	for (; *name; name++) {
		if (!((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') ||
		      (*name >= '0' && *name <= '9')))
			*name = '_';
	}
}

/* SQL does not tell upper from lower case in names. */
static bool name_taken(const struct event_layout *layout, size_t upto, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(reserved); i++)
		if (!strcasecmp(reserved[i], name))
			return true;
	for (size_t i = 0; i < upto; i++)
		if (!strcasecmp(layout->columns[i].name, name))
			return true;
	return false;
}

static int name_columns(struct event_layout *layout)
{
	for (size_t i = 0; i < layout->n_columns; i++) {
		struct layout_column *column = &layout->columns[i];

		plain_identifier(column->name);
		while (!*column->name || name_taken(layout, i, column->name)) {
			char *longer = str_printf("f_%s", column->name);

			if (!longer)
				return -ENOMEM;
			free(column->name);
			column->name = longer;
		}
	}
	return 0;
}

static int run_built(sqlite3 *db, sqlite3_str *str)
{
	char *sql = sqlite3_str_finish(str);
	int ret = sql ? db_run(db, sql, "") : -ENOMEM;

	sqlite3_free(sql);
	return ret;
}

/* "a:b_c" and "a_b:c" both ask for ev_a_b_c: who comes second gets a number. */
static int free_name(sqlite3 *db, const char *event, char **ret_name)
{
	int64_t taken = 1;
	char *name = NULL;
	int ret = 0;

	for (int n = 1; taken && !ret; n++) {
		free(name);
		name = n == 1 ? str_printf("ev_%s", event) : str_printf("ev_%s_%d", event, n);
		if (!name)
			return -ENOMEM;
		plain_identifier(name);
		ret = db_get_int(
			db, &taken,
			"SELECT count(*) FROM sqlite_schema "
			"WHERE name = ?1 COLLATE NOCASE OR name = ?1 || '__v1' COLLATE NOCASE",
			"t", name);
	}
	if (ret)
		free(name);
	else
		*ret_name = name;
	return ret;
}

static int create_table(sqlite3 *db, const struct event_layout *layout, const char *table)
{
	sqlite3_str *str = sqlite3_str_new(db);

	sqlite3_str_appendf(
		str, "CREATE TABLE \"%w\" (run INTEGER, cpu INTEGER, ts_ns INTEGER, pid INTEGER",
		table);
	for (size_t i = 0; i < layout->n_columns; i++)
		sqlite3_str_appendf(str, ", \"%w\" %s", layout->columns[i].name,
				    sql_type(layout->columns[i].kind));
	sqlite3_str_appendall(str, ") STRICT");
	return run_built(db, str);
}

/* SELECT of one version's table, with NULL for the columns that only other versions have. */
static int select_version(sqlite3 *db, sqlite3_str *str, const char *event, const char *table)
{
	sqlite3_stmt *stmt;
	const char *separator = "SELECT ";
	int ret, rc;

	ret = db_prepare(db, &stmt,
			 "SELECT i.name, EXISTS (SELECT 1 FROM pragma_table_info(?2) t"
			 "                       WHERE t.name = i.name COLLATE NOCASE) "
			 "FROM event_format f JOIN pragma_table_info(f.tbl) i WHERE f.event = ?1 "
			 "GROUP BY upper(i.name) ORDER BY min(f.version * 10000 + i.cid)",
			 "tt", event, table);
	if (ret)
		return ret;
	while ((rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		sqlite3_str_appendf(str, "%s%s\"%w\"", separator,
				    sqlite3_column_int(stmt, 1) ? "" : "NULL AS ",
				    sqlite3_column_text(stmt, 0));
		separator = ", ";
	}
	sqlite3_str_appendf(str, " FROM \"%w\"", table);
	if (rc != SQLITE_DONE)
		ret = db_error(db, "columns of an event");
	sqlite3_finalize(stmt);
	return ret;
}

static int create_view(sqlite3 *db, const char *event, const char *name)
{
	sqlite3_stmt *stmt;
	sqlite3_str *str;
	int ret, rc;

	str = sqlite3_str_new(db);
	sqlite3_str_appendf(str, "DROP VIEW IF EXISTS \"%w\"", name);
	ret = run_built(db, str);
	ret = ret
		      ?: db_prepare(
				 db, &stmt,
				 "SELECT tbl FROM event_format WHERE event = ?1 ORDER BY version",
				 "t", event);
	if (ret)
		return ret;
	str = sqlite3_str_new(db);
	sqlite3_str_appendf(str, "CREATE VIEW \"%w\" AS ", name);
	for (int n = 0; !ret && (rc = sqlite3_step(stmt)) == SQLITE_ROW; n++) {
		if (n)
			sqlite3_str_appendall(str, " UNION ALL ");
		ret = select_version(db, str, event, (const char *)sqlite3_column_text(stmt, 0));
	}
	if (!ret && rc != SQLITE_DONE)
		ret = db_error(db, "versions of an event");
	sqlite3_finalize(stmt);
	if (ret)
		sqlite3_free(sqlite3_str_finish(str));
	else
		ret = run_built(db, str);
	return ret;
}

static int new_version(sqlite3 *db, const struct event_layout *layout, const char *hash,
		       struct event_table *table)
{
	char *name = NULL;
	int ret;

	ret = db_get_int(db, &table->version,
			 "SELECT coalesce(max(version), 0) + 1 FROM event_format WHERE event = ?1",
			 "t", layout->event);
	if (ret)
		return ret;
	if (table->version > MAX_VERSIONS)
		return -E2BIG;
	if (table->version > 1)
		ret = db_get_text(db, &name, "SELECT name FROM event_format WHERE event = ?1", "t",
				  layout->event);
	else
		ret = free_name(db, layout->event, &name);
	if (ret)
		return ret;
	table->table = str_printf("%s__v%lld", name, (long long)table->version);
	ret = table->table ? create_table(db, layout, table->table) : -ENOMEM;
	ret = ret
		      ?: db_run(db, "INSERT INTO event_format VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
				"titttt", layout->event, table->version, hash, name, table->table,
				layout->format);
	ret = ret ?: create_view(db, layout->event, name);
	free(name);
	return ret;
}

static int prepare_insert(sqlite3 *db, struct event_table *table)
{
	sqlite3_str *str = sqlite3_str_new(db);
	char *sql;
	int ret;

	sqlite3_str_appendf(str, "INSERT INTO \"%w\" SELECT c0", table->table);
	for (size_t i = 1; i < table->layout->n_columns + BATCH_FIXED_COLUMNS; i++)
		sqlite3_str_appendf(str, ", c%d", (int)i);
	sqlite3_str_appendall(str, " FROM event_batch");
	sql = sqlite3_str_finish(str);
	if (!sql)
		return -ENOMEM;
	ret = db_prepare(db, &table->insert, sql, "");
	sqlite3_free(sql);
	if (ret)
		return ret;
	str = sqlite3_str_new(db);
	sqlite3_str_appendf(str, "SELECT coalesce(max(rowid), 0) + 1 FROM \"%w\"", table->table);
	sql = sqlite3_str_finish(str);
	ret = sql ? db_get_int(db, &table->first_rowid, sql, "") : -ENOMEM;
	sqlite3_free(sql);
	return ret;
}

/**
 * event_table_open() - the table for an event of this format, made if it is the first
 * @layout: becomes the table's, also on failure
 * @ret_table: the caller's, with event_table_free()
 *
 * To be called in the ingest's transaction, so that a failed run leaves no tables.
 *
 * Return: 0, -E2BIG for an event of too many formats, or another negative errno.
 */
int event_table_open(sqlite3 *db, struct event_layout *layout, struct event_table **ret_table)
{
	struct event_table *table = calloc(1, sizeof(*table));
	char hash[SHA256_HEX_LEN + 1];
	int ret;

	if (!table) {
		event_layout_free(layout);
		return -ENOMEM;
	}
	table->layout = layout;
	table->event = layout->event;
	table->head = BATCH_END;
	sha256_hex(layout->fields, strlen(layout->fields), hash);
	ret = db_get_int(db, &table->version,
			 "SELECT version FROM event_format WHERE event = ?1 AND hash = ?2", "tt",
			 layout->event, hash);
	if (!ret)
		ret = db_get_text(db, &table->table,
				  "SELECT tbl FROM event_format WHERE event = ?1 AND hash = ?2",
				  "tt", layout->event, hash);
	else if (ret == -ENOENT)
		ret = name_columns(layout) ?: new_version(db, layout, hash, table);
	ret = ret ?: prepare_insert(db, table);
	if (ret)
		event_table_free(table);
	else
		*ret_table = table;
	return ret;
}

/**
 * event_table_unknown() - a place to count records whose format the capture lacks
 * @id: what they start with
 *
 * Return: 0 or -ENOMEM.
 */
int event_table_unknown(uint16_t id, struct event_table **ret_table)
{
	struct event_table *table = calloc(1, sizeof(*table));

	if (table)
		table->event = str_printf("unknown:%u", id);
	if (!table || !table->event) {
		free(table);
		return -ENOMEM;
	}
	table->head = BATCH_END;
	*ret_table = table;
	return 0;
}

/** event_table_free() - NULL is allowed */
void event_table_free(struct event_table *table)
{
	if (!table)
		return;
	sqlite3_finalize(table->insert);
	if (!table->layout)
		free(table->event);
	event_layout_free(table->layout);
	free(table->table);
	free(table);
}
