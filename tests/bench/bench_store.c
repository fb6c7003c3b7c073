// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast a capture becomes rows: bench_store CAPTURE DIR REPEATS
 *
 * Three ways, taken in turn so that a busy machine slows all of them, medians compared:
 *   ingest   events_ingest(): decode, build rows, commit
 *   insert   the same rows, decoded before the clock starts, by prepared INSERT; with the store's
 * journal and with a rollback journal, the faster of which counts report   trace-cmd report to a
 * file
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "stats/percentile.h"
#include "store/db.h"
#include "store/events.h"

#define MAX_REPEATS 20
#define MAX_TABLES 16

/* Rows of one table, decoded. */
struct table {
	char *name;
	char *create;
	int columns;
	size_t rows;
	int64_t *values;
};

struct bench {
	const char *capture;
	char *database, *copy, *text;
	uint64_t records;
	struct table tables[MAX_TABLES];
	size_t n_tables;
};

static void check(int failed, const char *what)
{
	if (failed) {
		fprintf(stderr, "bench_store: %s failed\n", what);
		exit(EXIT_FAILURE);
	}
}

static void remove_database(const char *path)
{
	static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		char *name = str_printf("%s%s", path, suffixes[i]);

		unlink(name);
		free(name);
	}
}

static double ingest(struct bench *b)
{
	struct ingest_run run = {
		.run = 1, .arm = "a", .scenario = "s", .capture = "c", .sha256 = "x"};
	struct ingest_result result;
	struct events_db *db;
	char error[256] = "";
	int64_t start;
	int ret;

	remove_database(b->database);
	check(events_open(b->database, &db), "opening the database");
	start = mono_ns();
	ret = events_ingest(db, b->capture, &run, &result, error, sizeof(error));
	start = mono_ns() - start;
	check(ret, error);
	b->records = result.records;
	ingest_result_free(&result);
	events_close(db);
	return (double)start;
}

static void load_table(sqlite3 *db, struct table *table)
{
	sqlite3_stmt *stmt;
	char *sql = str_printf("SELECT * FROM \"%s\"", table->name);
	size_t n = 0;

	check(db_prepare(db, &stmt, sql, ""), sql);
	table->columns = sqlite3_column_count(stmt);
	table->values = malloc((table->rows * table->columns + 1) * sizeof(int64_t));
	check(!table->values, "allocating the rows");
	while (sqlite3_step(stmt) == SQLITE_ROW)
		for (int i = 0; i < table->columns; i++) {
			check(sqlite3_column_type(stmt, i) > SQLITE_INTEGER,
			      "a capture of integers only");
			table->values[n++] = sqlite3_column_int64(stmt, i);
		}
	sqlite3_finalize(stmt);
	free(sql);
}

static void load_tables(struct bench *b)
{
	sqlite3_stmt *stmt;
	sqlite3 *db;

	check(sqlite3_open(b->database, &db), "opening the database");
	check(db_prepare(
		      db, &stmt,
		      "SELECT f.tbl, m.sql, s.count FROM run_span s JOIN event_format f USING (event, version)"
		      " JOIN sqlite_schema m ON m.name = f.tbl WHERE s.count",
		      ""),
	      "reading the tables");
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		struct table *table = &b->tables[b->n_tables++];

		check(b->n_tables > MAX_TABLES, "a capture of few events");
		table->name = strdup((const char *)sqlite3_column_text(stmt, 0));
		table->create = strdup((const char *)sqlite3_column_text(stmt, 1));
		table->rows = sqlite3_column_int64(stmt, 2);
		load_table(db, table);
	}
	sqlite3_finalize(stmt);
	sqlite3_close(db);
}

static void insert_table(sqlite3 *db, const struct table *table)
{
	const int64_t *value = table->values;
	sqlite3_stmt *stmt;
	char *sql = str_printf("INSERT INTO \"%s\" VALUES (?", table->name), *longer;

	for (int i = 1; i < table->columns; i++) {
		longer = str_printf("%s, ?", sql);
		free(sql);
		sql = longer;
	}
	longer = str_printf("%s)", sql);
	check(db_prepare(db, &stmt, longer, ""), longer);
	for (size_t row = 0; row < table->rows; row++) {
		for (int i = 1; i <= table->columns; i++)
			sqlite3_bind_int64(stmt, i, *value++);
		check(sqlite3_step(stmt) != SQLITE_DONE, longer);
		sqlite3_reset(stmt);
	}
	sqlite3_finalize(stmt);
	free(longer);
	free(sql);
}

static double insert(struct bench *b, const char *journal)
{
	char *pragmas = str_printf(
		"PRAGMA page_size = 65536; PRAGMA journal_mode = %s; PRAGMA synchronous = FULL;"
		"PRAGMA cache_size = -4096",
		journal);
	int64_t start;
	sqlite3 *db;

	remove_database(b->copy);
	check(sqlite3_open(b->copy, &db), "opening the copy");
	check(sqlite3_exec(db, pragmas, NULL, NULL, NULL), pragmas);
	for (size_t i = 0; i < b->n_tables; i++)
		check(db_run(db, b->tables[i].create, ""), "making a table");
	start = mono_ns();
	check(db_begin(db), "BEGIN");
	for (size_t i = 0; i < b->n_tables; i++)
		insert_table(db, &b->tables[i]);
	check(db_commit(db), "COMMIT");
	start = mono_ns() - start;
	sqlite3_close(db);
	free(pragmas);
	return (double)start;
}

static double report(struct bench *b)
{
	char *command = str_printf("trace-cmd report '%s' >'%s' 2>/dev/null", b->capture, b->text);
	int64_t start = mono_ns();

	check(system(command), command);
	free(command);
	return (double)(mono_ns() - start);
}

static double show(const struct bench *b, const char *what, double *ns, size_t n)
{
	double median = 1;

	median_f64(ns, n, &median);
	printf("  %-44s %6.2f M events/s   (%.3f s; %.3f to %.3f s)\n", what,
	       (double)b->records * 1e3 / median, median / 1e9, ns[0] / 1e9, ns[n - 1] / 1e9);
	return median;
}

int main(int argc, char **argv)
{
	double ns[4][MAX_REPEATS], median[4];
	struct bench b = {0};
	int64_t n;

	if (argc != 4 || parse_i64(argv[3], 1, MAX_REPEATS, &n)) {
		fprintf(stderr, "usage: bench_store CAPTURE DIR REPEATS\n");
		return EXIT_FAILURE;
	}
	b.capture = argv[1];
	b.database = str_printf("%s/ingest.db", argv[2]);
	b.copy = str_printf("%s/insert.db", argv[2]);
	b.text = str_printf("%s/report.txt", argv[2]);
	ingest(&b);
	load_tables(&b);
	for (int64_t i = 0; i < n; i++) {
		ns[0][i] = ingest(&b);
		ns[1][i] = insert(&b, "WAL");
		ns[2][i] = insert(&b, "DELETE");
		ns[3][i] = report(&b);
	}
	printf("%llu events, median of %lld\n", (unsigned long long)b.records, (long long)n);
	median[0] = show(&b, "labd: decode and store in typed tables", ns[0], n);
	median[1] = show(&b, "prepared INSERT of decoded values, WAL", ns[1], n);
	median[2] = show(&b, "prepared INSERT of decoded values, rollback", ns[2], n);
	median[3] = show(&b, "trace-cmd report to a file", ns[3], n);
	if (median[2] < median[1])
		median[1] = median[2];
	printf("  labd / faster prepared INSERT  %.2f   (goal 1.00)\n", median[1] / median[0]);
	printf("  labd / trace-cmd report        %.2f   (goal 3.00)\n", median[3] / median[0]);
	remove_database(b.copy);
	for (size_t i = 0; i < b.n_tables; i++) {
		free(b.tables[i].name);
		free(b.tables[i].create);
		free(b.tables[i].values);
	}
	free(b.database);
	free(b.copy);
	free(b.text);
	return EXIT_SUCCESS;
}
