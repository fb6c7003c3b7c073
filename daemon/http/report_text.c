// SPDX-License-Identifier: GPL-2.0-only
/* Lines of the report: titles, wrapped text, rows of statements. */
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "http/report.h"
#include "store/db.h"

#define FIELD_WIDTH 11
/* Rows of a list of troubles. */
#define LIST_MAX 200

/** report_put() - foreign text: what would steer a terminal becomes a question mark */
void report_put(struct report *report, const char *text)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		fputc((c < 0x20 && c != '\n') || c == 0x7f ? '?' : c, report->out);
	}
}

/** report_title() - a section's title */
void report_title(struct report *report, const char *title)
{
	fprintf(report->out, "\n%s\n", title);
	for (size_t i = 0; i < strlen(title); i++)
		fputc('-', report->out);
	fputc('\n', report->out);
}

/* Length of the first line that fits into @room; a word that is longer has a line of its own. */
static size_t line_length(const char *text, size_t room)
{
	size_t length = strcspn(text, "\n"), cut;

	if (length <= room)
		return length;
	for (cut = room; cut && text[cut] != ' '; cut--)
		;
	return cut ? cut : strcspn(text, " \n");
}

/**
 * report_wrap() - the rest of a line that has @indent columns already, continued below them
 * @text: foreign text, may hold several lines
 */
void report_wrap(struct report *report, int indent, const char *text)
{
	char line[REPORT_COLUMNS * 4];
	bool first = true;

	while (*text || first) {
		size_t length = line_length(text, (size_t)(REPORT_COLUMNS - indent));
		const char *from = text;

		text += length;
		text += strspn(text, " \n");
		if (!first)
			fprintf(report->out, "%*s", indent, "");
		first = false;
		/* A word longer than the line goes out in pieces of the buffer. */
		do {
			size_t piece = length < sizeof(line) - 1 ? length : sizeof(line) - 1;

			memcpy(line, from, piece);
			line[piece] = '\0';
			report_put(report, line);
			from += piece;
			length -= piece;
		} while (length);
		fputc('\n', report->out);
	}
}

/** report_field() - "name       text", wrapped */
void report_field(struct report *report, const char *name, const char *fmt, ...)
{
	va_list args;
	char *text;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		return;
	fprintf(report->out, "%-*s", FIELD_WIDTH, name);
	report_wrap(report, FIELD_WIDTH, text);
	free(text);
}

static bool is_time(const struct report_metric *metric)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcmp(metric->unit, units[i]))
			return true;
	return !strcmp(metric->agg, "rate");
}

/** report_clock() - a line beside a table of times (rates, too): whose clock they are by */
void report_clock(struct report *report, const struct report_metric *metric)
{
	if (!is_time(metric) || !*report->clock)
		return;
	fputs("  clock: ", report->out);
	report_wrap(report, 9, report->clock);
}

/** report_column() - a column's text, "" for NULL */
const char *report_column(sqlite3_stmt *stmt, int column)
{
	const char *text = (const char *)sqlite3_column_text(stmt, column);

	return text ? text : "";
}

/** report_double() - a column's number, NAN for NULL */
double report_double(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL
		       ? NAN
		       : sqlite3_column_double(stmt, column);
}

/* @fn is called for the first @max rows; the others are counted. */
static int for_rows(struct report *report, const char *sql, report_row_fn fn, size_t max,
		    size_t *ret_rows)
{
	sqlite3_stmt *stmt;
	size_t rows = 0;
	int ret, rc = SQLITE_DONE;

	ret = db_prepare(report->db, &stmt, sql, "i", report->id);
	if (ret)
		return ret;
	while (!ret && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		if (rows++ < max)
			ret = fn(report, stmt);
	}
	if (!ret && rc != SQLITE_DONE)
		ret = db_error(report->db, sql);
	sqlite3_finalize(stmt);
	if (!ret && ret_rows)
		*ret_rows = rows;
	return ret;
}

/**
 * report_rows() - call @fn for each row of a statement
 * @sql: the experiment is ?1
 * @ret_rows: number of rows, or NULL
 *
 * Return: 0, what @fn returned first, or negative errno.
 */
int report_rows(struct report *report, const char *sql, report_row_fn fn, size_t *ret_rows)
{
	return for_rows(report, sql, fn, SIZE_MAX, ret_rows);
}

/**
 * report_list() - the first LIST_MAX rows of a list, and how many more there are
 * @none: said of an empty list
 */
int report_list(struct report *report, const char *sql, report_row_fn fn, const char *none)
{
	size_t rows;
	int ret;

	ret = for_rows(report, sql, fn, LIST_MAX, &rows);
	if (!ret && !rows)
		fputs(none, report->out);
	if (!ret && rows > LIST_MAX)
		fprintf(report->out, "  and %zu more, which are in the database only\n",
			rows - LIST_MAX);
	return ret;
}
