// SPDX-License-Identifier: GPL-2.0-only
/*
 * lab.db: connections, pragmas, migrations, and short calls around prepare, bind and step.
 *
 * The writer commits with synchronous=FULL: labd boots experimental kernels, and on a lab that
 * measures its own host the next thing after a commit may be a kernel that dies.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/log.h"
#include "store/db.h"

#define DB_BUSY_MS 10000

/** db_errno() - the errno that says what an SQLite result code says */
int db_errno(int sqlite_code)
{
	switch (sqlite_code & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_READONLY:
		return -EROFS;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_PERM:
	case SQLITE_AUTH:
	case SQLITE_CANTOPEN:
		return -EACCES;
	case SQLITE_CONSTRAINT:
		return -EEXIST;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EUCLEAN;
	default:
		return -EIO;
	}
}

/**
 * db_error() - log what the last call on @db said
 * @what: what was tried
 *
 * Return: its negative errno.
 */
int db_error(sqlite3 *db, const char *what)
{
	log_err("%s: %s", what, sqlite3_errmsg(db));
	return db_errno(sqlite3_extended_errcode(db)) ?: -EIO;
}

static int bind_all(sqlite3_stmt *stmt, const char *types, va_list args)
{
	int rc = SQLITE_OK;

	for (int i = 1; *types && rc == SQLITE_OK; types++, i++) {
		const char *text;

		switch (*types) {
		case 'i':
			rc = sqlite3_bind_int64(stmt, i, va_arg(args, int64_t));
			break;
		case 'd':
			rc = sqlite3_bind_double(stmt, i, va_arg(args, double));
			break;
		case 't':
			text = va_arg(args, const char *);
			rc = text ? sqlite3_bind_text(stmt, i, text, -1, SQLITE_TRANSIENT)
				  : sqlite3_bind_null(stmt, i);
			break;
		case 'n':
			rc = sqlite3_bind_null(stmt, i);
			break;
		default:
			rc = SQLITE_MISUSE;
		}
	}
	return rc;
}

static int prepare_va(sqlite3 *db, sqlite3_stmt **ret_stmt, const char *sql, const char *types,
		      va_list args)
{
	sqlite3_stmt *stmt;
	int ret;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return db_error(db, sql);
	if (bind_all(stmt, types, args) != SQLITE_OK) {
		ret = db_error(db, sql);
		sqlite3_finalize(stmt);
		return ret;
	}
	*ret_stmt = stmt;
	return 0;
}

/** db_prepare() - a bound statement for the caller to step and finalize; 0 or negative errno */
int db_prepare(sqlite3 *db, sqlite3_stmt **ret_stmt, const char *sql, const char *types, ...)
{
	va_list args;
	int ret;

	va_start(args, types);
	ret = prepare_va(db, ret_stmt, sql, types, args);
	va_end(args);
	return ret;
}

/** db_run() - one statement that returns no rows; 0 or negative errno */
int db_run(sqlite3 *db, const char *sql, const char *types, ...)
{
	sqlite3_stmt *stmt;
	va_list args;
	int rc, ret;

	va_start(args, types);
	ret = prepare_va(db, &stmt, sql, types, args);
	va_end(args);
	if (ret)
		return ret;
	do {
		rc = sqlite3_step(stmt);
	} while (rc == SQLITE_ROW);
	if (rc != SQLITE_DONE)
		ret = db_error(db, sql);
	sqlite3_finalize(stmt);
	return ret;
}

static int first_row(sqlite3 *db, sqlite3_stmt *stmt, const char *sql)
{
	int rc = sqlite3_step(stmt);

	if (rc == SQLITE_DONE)
		return -ENOENT;
	return rc == SQLITE_ROW ? 0 : db_error(db, sql);
}

/** db_get_int() - first column of the first row; 0, -ENOENT or another negative errno */
int db_get_int(sqlite3 *db, int64_t *ret_value, const char *sql, const char *types, ...)
{
	sqlite3_stmt *stmt;
	va_list args;
	int ret;

	va_start(args, types);
	ret = prepare_va(db, &stmt, sql, types, args);
	va_end(args);
	if (ret)
		return ret;
	ret = first_row(db, stmt, sql);
	if (!ret)
		*ret_value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return ret;
}

/** db_get_text() - first column of the first row, "" for NULL, for the caller to free */
int db_get_text(sqlite3 *db, char **ret_text, const char *sql, const char *types, ...)
{
	sqlite3_stmt *stmt;
	const char *text;
	va_list args;
	char *copy;
	int ret;

	va_start(args, types);
	ret = prepare_va(db, &stmt, sql, types, args);
	va_end(args);
	if (ret)
		return ret;
	ret = first_row(db, stmt, sql);
	if (!ret) {
		text = (const char *)sqlite3_column_text(stmt, 0);
		copy = strdup(text ? text : "");
		if (copy)
			*ret_text = copy;
		else
			ret = -ENOMEM;
	}
	sqlite3_finalize(stmt);
	return ret;
}

static int exec(sqlite3 *db, const char *sql)
{
	return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : db_error(db, sql);
}

/** db_begin() - start a write transaction at once: a later upgrade could not wait for its turn */
int db_begin(sqlite3 *db)
{
	return exec(db, "BEGIN IMMEDIATE");
}

/** db_commit() - make it durable; on failure everything since db_begin() is undone */
int db_commit(sqlite3 *db)
{
	int ret = exec(db, "COMMIT");

	if (ret)
		db_rollback(db);
	return ret;
}

/** db_rollback() - undo since db_begin(); harmless when SQLite did so by itself */
void db_rollback(sqlite3 *db)
{
	if (!sqlite3_get_autocommit(db))
		exec(db, "ROLLBACK");
}

/**
 * db_end() - end what db_begin() began: commit when all went well, undo when it did not
 * @ret: 0 or the negative errno of what was done in between
 *
 * Return: @ret, or the commit's own negative errno.
 */
int db_end(sqlite3 *db, int ret)
{
	if (!ret)
		return db_commit(db);
	db_rollback(db);
	return ret;
}

/** db_close() - NULL is allowed */
void db_close(sqlite3 *db)
{
	if (db && sqlite3_close(db) != SQLITE_OK)
		log_err("closing a database: %s", sqlite3_errmsg(db));
}

static int migration_number(const char *name)
{
	return strncmp(name, "schema/", 7) ? 0 : atoi(name + 7);
}

/* Brings the file to this program's version, each step with its number in one transaction. */
static int migrate(sqlite3 *db, const char *path)
{
	int64_t version;
	int newest = 0, ret;
	char pragma[64];

	ret = db_get_int(db, &version, "PRAGMA user_version", "");
	if (ret)
		return ret;
	for (const struct embedded *file = embedded_files; file->name; file++) {
		if (migration_number(file->name) > newest)
			newest = migration_number(file->name);
	}
	if (version > newest) {
		log_err("%s is of schema %lld, this labd knows up to %d: use a newer labd", path,
			(long long)version, newest);
		return -EPROTO;
	}
	/* The table is in the order of the names. */
	for (const struct embedded *file = embedded_files; file->name; file++) {
		int number = migration_number(file->name);

		if (number <= version)
			continue;
		snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", number);
		ret = db_begin(db);
		if (ret)
			return ret;
		ret = db_end(db, exec(db, file->data) ?: exec(db, pragma));
		if (ret)
			return ret;
	}
	return 0;
}

static int open_file(const char *data_dir, int flags, const char *pragmas, char path[PATH_MAX],
		     sqlite3 **ret_db)
{
	sqlite3 *db = NULL;
	int ret;

	if (snprintf(path, PATH_MAX, "%s/lab.db", data_dir) >= PATH_MAX)
		return -ENAMETOOLONG;
	if (sqlite3_open_v2(path, &db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
		ret = db_error(db, path);
		goto out_close;
	}
	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, DB_BUSY_MS);
	ret = exec(db, pragmas);
	if (ret)
		goto out_close;
	*ret_db = db;
	return 0;

out_close:
	sqlite3_close(db);
	return ret;
}

/**
 * db_open_writer() - open lab.db for the one who writes, made or brought up to date if needed
 * @data_dir: data directory, which exists and is locked by the caller
 *
 * Return: 0, -EUCLEAN for a damaged file, -EPROTO for one of a newer labd, or another negative
 * errno; each is logged.
 */
int db_open_writer(const char *data_dir, sqlite3 **ret_db)
{
	char path[PATH_MAX], *check = NULL;
	sqlite3 *db;
	int ret;

	ret = open_file(
		data_dir, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
		"PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
		"PRAGMA trusted_schema = OFF; PRAGMA journal_size_limit = 67108864",
		path, &db);
	if (ret)
		return ret;
	ret = db_get_text(db, &check, "PRAGMA quick_check(1)", "");
	if (!ret && strcmp(check, "ok")) {
		log_err("%s is damaged (%s): move it aside, labd does not touch it", path, check);
		ret = -EUCLEAN;
	}
	free(check);
	if (!ret)
		ret = migrate(db, path);
	if (ret)
		db_close(db);
	else
		*ret_db = db;
	return ret;
}

/** db_open_reader() - a connection that cannot write; 0 or negative errno, logged */
int db_open_reader(const char *data_dir, sqlite3 **ret_db)
{
	char path[PATH_MAX];

	return open_file(data_dir, SQLITE_OPEN_READONLY,
			 "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF", path, ret_db);
}
