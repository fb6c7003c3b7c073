// SPDX-License-Identifier: GPL-2.0-only
/*
 * A query's rows as text, up to the limits. Numbers keep all of their digits: a real has as many as
 * it takes to read it back, and an integer that JavaScript would round is a string in JSON.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "http/sql.h"
#include "store/db.h"

#define JS_EXACT (1LL << 53)

/**
 * struct rows - the answer in the making
 * @put_row: appends the row that @stmt is at, the @n-th from 0
 */
struct rows {
	struct sql_db *sql;
	sqlite3_stmt *stmt;
	FILE *out;
	char *text;
	size_t length;
	void (*put_row)(struct rows *rows, int n);
};

static void put_hex(struct rows *rows, int column)
{
	const uint8_t *data = sqlite3_column_blob(rows->stmt, column);
	int n = sqlite3_column_bytes(rows->stmt, column);

	for (int i = 0; i < n; i++)
		fprintf(rows->out, "%02x", data[i]);
}

static void put_real(struct rows *rows, double value)
{
	char text[32];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fputs(text, rows->out);
}

static void put_json_text(struct rows *rows, const char *text, int length)
{
	json_t *json = text ? json_stringn(text, length) : NULL;

	if (json)
		json_dumpf(json, rows->out, JSON_ENCODE_ANY);
	else
		fputs("null", rows->out);
	json_decref(json);
}

/* Bytes that are no text, as a blob is and a text may be, are shown in hex. */
static void put_json_bytes(struct rows *rows, int column)
{
	const char *text = (const char *)sqlite3_column_text(rows->stmt, column);
	int length = sqlite3_column_bytes(rows->stmt, column);
	json_t *json = NULL;

	if (sqlite3_column_type(rows->stmt, column) == SQLITE_TEXT)
		json = json_stringn(text ? text : "", length);
	if (json) {
		json_dumpf(json, rows->out, JSON_ENCODE_ANY);
	} else {
		fputc('"', rows->out);
		put_hex(rows, column);
		fputc('"', rows->out);
	}
	json_decref(json);
}

static void put_json_cell(struct rows *rows, int column)
{
	const char *quote;
	double real;
	int64_t i;

	switch (sqlite3_column_type(rows->stmt, column)) {
	case SQLITE_INTEGER:
		i = sqlite3_column_int64(rows->stmt, column);
		quote = i > JS_EXACT || i < -JS_EXACT ? "\"" : "";
		fprintf(rows->out, "%s%lld%s", quote, (long long)i, quote);
		break;
	case SQLITE_FLOAT:
		real = sqlite3_column_double(rows->stmt, column);
		if (isinf(real)) /* JSON has no word for it */
			fputs(real > 0 ? "\"inf\"" : "\"-inf\"", rows->out);
		else
			put_real(rows, real);
		break;
	case SQLITE_NULL:
		fputs("null", rows->out);
		break;
	default:
		put_json_bytes(rows, column);
	}
}

static void put_json_row(struct rows *rows, int n)
{
	fputs(n ? ",\n[" : "\n[", rows->out);
	for (int i = 0; i < sqlite3_column_count(rows->stmt); i++) {
		if (i)
			fputc(',', rows->out);
		put_json_cell(rows, i);
	}
	fputc(']', rows->out);
}

/* RFC 4180: what holds a comma, a quote or the end of a line is quoted. */
static void put_csv_text(struct rows *rows, const char *text, int length)
{
	bool quoted = false;

	for (int i = 0; i < length && !quoted; i++)
		quoted = strchr(",\"\r\n", text[i]) != NULL;
	if (!quoted) {
		fwrite(text, 1, length, rows->out);
		return;
	}
	fputc('"', rows->out);
	for (int i = 0; i < length; i++) {
		if (text[i] == '"')
			fputc('"', rows->out);
		fputc(text[i], rows->out);
	}
	fputc('"', rows->out);
}

static void put_csv_cell(struct rows *rows, int column)
{
	const char *text;

	switch (sqlite3_column_type(rows->stmt, column)) {
	case SQLITE_FLOAT:
		put_real(rows, sqlite3_column_double(rows->stmt, column));
		break;
	case SQLITE_BLOB:
		put_hex(rows, column);
		break;
	default: /* NULL is an empty text */
		text = (const char *)sqlite3_column_text(rows->stmt, column);
		put_csv_text(rows, text ? text : "", sqlite3_column_bytes(rows->stmt, column));
	}
}

static void put_csv_row(struct rows *rows, int n)
{
	for (int i = 0; i < sqlite3_column_count(rows->stmt); i++) {
		if (i)
			fputc(',', rows->out);
		put_csv_cell(rows, i);
	}
	fputs("\r\n", rows->out);
}

/* 0 also when a limit cut the rows short, which sql->cut says then. */
static int put_rows(struct rows *rows)
{
	struct sql_db *sql = rows->sql;
	long at;

	for (int n = 0;; n++) {
		int rc = sqlite3_step(rows->stmt);

		if (rc == SQLITE_DONE || (rc == SQLITE_INTERRUPT && sql->cut))
			return 0;
		if (rc != SQLITE_ROW)
			return db_errno(rc) ?: -EIO;
		if (n == SQL_MAX_ROWS) {
			sql->cut = "cut after 10000 rows";
			return 0;
		}
		at = ftell(rows->out);
		rows->put_row(rows, n);
		if (ftell(rows->out) > (long)SQL_MAX_ANSWER) {
			fseek(rows->out, at, SEEK_SET);
			sql->cut = "cut at 8 MiB";
			return 0;
		}
	}
}

static int rows_open(struct rows *rows)
{
	rows->out = open_memstream(&rows->text, &rows->length);
	return rows->out ? 0 : -ENOMEM;
}

static int rows_close(struct rows *rows, int ret, char **ret_text, size_t *ret_length)
{
	bool failed = ferror(rows->out);

	if ((fclose(rows->out) || failed) && !ret)
		ret = -ENOMEM;
	if (ret) {
		free(rows->text);
		return ret;
	}
	*ret_text = rows->text;
	*ret_length = rows->length;
	return 0;
}

/**
 * sql_json() - run a query: {columns, rows, truncated, why, elapsed_ms}
 * @stmt: prepared and bound
 * @started_ns: mono_ns() of the query's start
 * @ret_text: the caller's to free
 *
 * Blobs and texts that are no UTF-8 are in hex.
 *
 * Return: 0, or a negative errno, for which SQLite has a sentence unless it is -ENOMEM.
 */
int sql_json(struct sql_db *sql, sqlite3_stmt *stmt, int64_t started_ns, char **ret_text,
	     size_t *ret_length)
{
	struct rows rows = {.sql = sql, .stmt = stmt, .put_row = put_json_row};
	int ret;

	ret = rows_open(&rows);
	if (ret)
		return ret;
	fputs("{\"columns\":[", rows.out);
	for (int i = 0; i < sqlite3_column_count(stmt); i++) {
		const char *name = sqlite3_column_name(stmt, i);

		if (i)
			fputc(',', rows.out);
		put_json_text(&rows, name, name ? (int)strlen(name) : 0);
	}
	fputs("],\"rows\":[", rows.out);
	ret = put_rows(&rows);
	fprintf(rows.out, "],\n\"truncated\":%s,\"why\":", sql->cut ? "true" : "false");
	put_json_text(&rows, sql->cut, sql->cut ? (int)strlen(sql->cut) : 0);
	fprintf(rows.out, ",\"elapsed_ms\":%lld}\n", (long long)(mono_ns() - started_ns) / 1000000);
	return rows_close(&rows, ret, ret_text, ret_length);
}

/** sql_csv() - the same as RFC 4180 has it: the columns' names, then the rows; NULL is empty */
int sql_csv(struct sql_db *sql, sqlite3_stmt *stmt, char **ret_text, size_t *ret_length)
{
	struct rows rows = {.sql = sql, .stmt = stmt, .put_row = put_csv_row};
	int ret;

	ret = rows_open(&rows);
	if (ret)
		return ret;
	for (int i = 0; i < sqlite3_column_count(stmt); i++) {
		const char *name = sqlite3_column_name(stmt, i);

		if (i)
			fputc(',', rows.out);
		put_csv_text(&rows, name ? name : "", name ? (int)strlen(name) : 0);
	}
	fputs("\r\n", rows.out);
	ret = put_rows(&rows);
	return rows_close(&rows, ret, ret_text, ret_length);
}
