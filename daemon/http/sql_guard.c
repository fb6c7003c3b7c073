// SPDX-License-Identifier: GPL-2.0-only
/*
 * A connection that can read lab.db and the events of one experiment, and nothing else: SQLite's
 * own means, each of which would do, one behind the other.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "http/sql.h"
#include "store/db.h"

#define BUSY_MS 1000
/* Steps of SQLite's machine between two looks at the clock. */
#define STEPS 100

/* What an SQL function could do beyond computing a value. */
static bool harmless(const char *function)
{
	static const char *const others[] = {
		"load_extension", "fts3_tokenizer", "sqlite_log", "readfile", "writefile", "edit",
		/* One call can take the square of its texts' lengths,
		 * and nothing looks at the clock inside a call. */
		"trim", "ltrim", "rtrim", "instr", "replace", "json_patch"};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (!sqlite3_stricmp(function, others[i]))
			return false;
	return true;
}

/* A boot's token proves a kernel, an idempotency key is a client's own: nobody else's business. */
static bool secret(const char *table, const char *column)
{
	return (!sqlite3_stricmp(table, "boot") && !sqlite3_stricmp(column, "token")) ||
	       (!sqlite3_stricmp(table, "experiment") &&
		!sqlite3_stricmp(column, "idempotency_key"));
}

static int authorize(void *arg, int action, const char *first, const char *second, const char *db,
		     const char *view)
{
	struct sql_db *sql = arg;

	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_READ:
		return secret(first, second) ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_FUNCTION:
		if (harmless(second))
			return SQLITE_OK;
	}
	sql->writes = true;
	return SQLITE_DENY;
}

static int look_at_limits(void *arg)
{
	struct sql_db *sql = arg;

	if (mono_ns() >= sql->deadline_ns)
		sql->cut = "stopped after 5 seconds";
	else if (sqlite3_memory_used() >= sql->memory)
		sql->cut = "stopped at 256 MiB of memory";
	return sql->cut != NULL;
}

static void set_limits(struct sql_db *sql)
{
	static const struct {
		int what, value;
	} limits[] = {
		{SQLITE_LIMIT_SQL_LENGTH, SQL_MAX_TEXT}, {SQLITE_LIMIT_LENGTH, 1 << 20},
		{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 200}, {SQLITE_LIMIT_ATTACHED, 0},
		{SQLITE_LIMIT_WORKER_THREADS, 0},
	};
	/* No table that is made of a database's raw pages, of other queries or of a file. */
	static const char *modules[] = {"json_each", "json_tree", NULL};
	sqlite3 *db = sql->db;

	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		sqlite3_limit(db, limits[i].what, limits[i].value);
	sqlite3_busy_timeout(db, BUSY_MS);
	sqlite3_drop_modules(db, modules);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
	sql->deadline_ns = mono_ns() + SQL_MAX_SECONDS * 1000000000LL;
	sql->memory = sqlite3_memory_used() + SQL_MAX_MEMORY;
	sqlite3_progress_handler(db, STEPS, look_at_limits, sql);
	sqlite3_set_authorizer(db, authorize, sql);
}

/* An experiment without events has no file; then there is nothing to attach. */
static int attach_events(sqlite3 *db, const char *data_dir, int64_t experiment)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/events/%lld.db", data_dir, (long long)experiment) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	if (access(path, F_OK))
		return 0;
	return db_run(db, "ATTACH ?1 AS events", "t", path);
}

/**
 * sql_begin() - guard a connection for one query, whose time begins now
 * @sql: filled in; must stay where it is as long as @db is used
 * @db: nobody else's, and good for nothing else from now on
 * @experiment: whose events are attached as "events", 0 for none
 *
 * What a query sorts is kept in memory, where it can be counted, and not in files, where it cannot.
 *
 * Return: 0, -ENOENT when there is no such experiment, or another negative errno, logged.
 */
int sql_begin(struct sql_db *sql, sqlite3 *db, const char *data_dir, int64_t experiment)
{
	int64_t found;
	int ret;

	*sql = (struct sql_db){.db = db};
	ret = db_run(db, "PRAGMA temp_store = MEMORY", "");
	if (!ret && experiment)
		ret = db_get_int(db, &found, "SELECT 1 FROM experiment WHERE id = ?1", "i",
				 experiment);
	if (!ret && experiment)
		ret = attach_events(db, data_dir, experiment);
	/* SQLite declares these two at their first use, which would count as making a table. */
	if (!ret)
		ret = db_run(db, "SELECT 1 FROM json_each('[]'), json_tree('[]')", "");
	if (!ret)
		set_limits(sql);
	return ret;
}
