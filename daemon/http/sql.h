/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_HTTP_SQL_H
#define LABD_HTTP_SQL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Other people's SQL on lab.db and one experiment's events; shared by sql*.c only. A query reads
 * and does nothing else, and ends soon however it is written.
 */
#define SQL_MAX_TEXT (16u << 10)
#define SQL_MAX_ROWS 10000
#define SQL_MAX_ANSWER (8u << 20)
#define SQL_MAX_SECONDS 5
#define SQL_MAX_MEMORY (256u << 20)

/**
 * struct sql_db - a connection while one query has it
 * @deadline_ns: mono_ns() at which the query ends
 * @memory: bytes at which it ends, of all that SQLite has in use in this process
 * @cut: what ended it before its time, a static sentence; NULL as long as nothing has
 * @writes: it was refused because it would do something else than read
 */
struct sql_db {
	sqlite3 *db;
	int64_t deadline_ns;
	int64_t memory;
	const char *cut;
	bool writes;
};

/* sql_guard.c */
int sql_begin(struct sql_db *sql, sqlite3 *db, const char *data_dir, int64_t experiment);

/* sql_rows.c */
int sql_json(struct sql_db *sql, sqlite3_stmt *stmt, int64_t started_ns, char **ret_text,
	     size_t *ret_length);
int sql_csv(struct sql_db *sql, sqlite3_stmt *stmt, char **ret_text, size_t *ret_length);

#endif
