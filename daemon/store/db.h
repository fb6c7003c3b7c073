/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STORE_DB_H
#define LABD_STORE_DB_H

#include <sqlite3.h>
#include <stdint.h>

/*
 * lab.db. One writer connection, the scheduler's, and read-only ones for HTTP. A connection belongs
 * to one thread at a time.
 */
int db_open_writer(const char *data_dir, sqlite3 **ret_db);
int db_open_reader(const char *data_dir, sqlite3 **ret_db);
void db_close(sqlite3 *db);

int db_error(sqlite3 *db, const char *what);
int db_errno(int sqlite_code);

/*
 * db_run() and friends prepare one statement, bind by a format and step it: 'i' int64_t, 'd'
 * double, 't' const char * (NULL binds NULL), 'n' NULL without an argument. Reading functions
 * return -ENOENT when there is no row. Strings returned are the caller's to free.
 */
int db_run(sqlite3 *db, const char *sql, const char *types, ...);
int db_prepare(sqlite3 *db, sqlite3_stmt **ret_stmt, const char *sql, const char *types, ...);
int db_get_int(sqlite3 *db, int64_t *ret_value, const char *sql, const char *types, ...);
int db_get_text(sqlite3 *db, char **ret_text, const char *sql, const char *types, ...);

int db_begin(sqlite3 *db);
int db_commit(sqlite3 *db);
void db_rollback(sqlite3 *db);
int db_end(sqlite3 *db, int ret);

#endif
