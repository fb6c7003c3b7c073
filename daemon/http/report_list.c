// SPDX-License-Identifier: GPL-2.0-only
/* The report's lists: the order of boots, what did not count and why, what was lost. */
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "http/report.h"

static int put_round(struct report *report, sqlite3_stmt *stmt)
{
	fprintf(report->out, "%5d  ", sqlite3_column_int(stmt, 0));
	report_wrap(report, 7, report_column(stmt, 1));
	return 0;
}

static int put_bad_boot(struct report *report, sqlite3_stmt *stmt)
{
	fprintf(report->out, "  boot %d, round %d, %s, try %d: %s\n", sqlite3_column_int(stmt, 0),
		sqlite3_column_int(stmt, 1), report_column(stmt, 2), sqlite3_column_int(stmt, 3),
		report_column(stmt, 4));
	if (*report_column(stmt, 5)) {
		fputs("    ", report->out);
		report_wrap(report, 4, report_column(stmt, 5));
	}
	for (const char *line = report_column(stmt, 6); *line;) {
		size_t length = strcspn(line, "\n");
		char *copy = strndup(line, length);

		/* Console lines stay whole: they are searched for. */
		fputs("    | ", report->out);
		report_put(report, copy ? copy : "");
		fputc('\n', report->out);
		free(copy);
		line += length;
		line += strspn(line, "\n");
	}
	return 0;
}

/** report_boots() - the order in which the arms were booted, and the boots that ended badly */
int report_boots(struct report *report)
{
	static const char order_sql[] =
		"SELECT round, group_concat(arm || CASE state WHEN 'void' THEN ' (void)'"
		" WHEN 'planned' THEN ' (not booted)' ELSE '' END, ', ')"
		" FROM (SELECT * FROM slot WHERE experiment = ?1 ORDER BY position) GROUP BY round";
	static const char bad_sql[] =
		"SELECT b.id, s.round, s.arm, b.attempt, b.state, b.detail, b.console_lines"
		" FROM boot b JOIN slot s ON s.id = b.slot"
		" WHERE s.experiment = ?1 AND b.state NOT IN ('ok', 'running') ORDER BY b.id";
	int ret;

	report_title(report, "Order of the boots");
	fputs("round  arms\n", report->out);
	ret = report_rows(report, order_sql, put_round, NULL);
	if (ret)
		return ret;
	report_title(report, "Boots that ended badly");
	return report_list(report, bad_sql, put_bad_boot, "none\n");
}

static int put_void(struct report *report, sqlite3_stmt *stmt)
{
	fprintf(report->out, "  round %d, %s, %s: ", sqlite3_column_int(stmt, 0),
		report_column(stmt, 1), report_column(stmt, 2));
	report_wrap(report, 4, report_column(stmt, 3));
	return 0;
}

/* Below Xen the kernel's CPUs are virtual, and its CPU 0 is not the machine's. */
static const char *whose(sqlite3_stmt *stmt, int column)
{
	return strcmp(report_column(stmt, column), "xen") ? "" : "Xen's ";
}

static int put_loss(struct report *report, sqlite3_stmt *stmt)
{
	bool known = sqlite3_column_type(stmt, 5) != SQLITE_NULL;

	fprintf(report->out, "  run %d, round %d, %s, %s, %sCPU %d: ", sqlite3_column_int(stmt, 0),
		sqlite3_column_int(stmt, 1), report_column(stmt, 2), report_column(stmt, 3),
		whose(stmt, 7), sqlite3_column_int(stmt, 4));
	if (known)
		fprintf(report->out, "%lld events", (long long)sqlite3_column_int64(stmt, 5));
	else
		fputs("an unknown number of events", report->out);
	fprintf(report->out, " (%s)\n", report_column(stmt, 6));
	return 0;
}

/* What waits to be stored is neither complete nor not. */
static int put_books(struct report *report, sqlite3_stmt *stmt)
{
	int runs = sqlite3_column_int(stmt, 0), complete = sqlite3_column_int(stmt, 1);

	fprintf(report->out, "%d of %d captures are complete: read + lost = written on each CPU\n",
		complete, runs);
	fprintf(report->out, "events written %lld, read %lld, lost %lld\n",
		(long long)sqlite3_column_int64(stmt, 2), (long long)sqlite3_column_int64(stmt, 3),
		(long long)sqlite3_column_int64(stmt, 4));
	return 0;
}

static int put_incomplete(struct report *report, sqlite3_stmt *stmt)
{
	fprintf(report->out, "  run %d (%s, %s), %sCPU %d: written %lld, read %lld, lost %lld%s\n",
		sqlite3_column_int(stmt, 0), report_column(stmt, 1), report_column(stmt, 2),
		whose(stmt, 7), sqlite3_column_int(stmt, 3),
		(long long)sqlite3_column_int64(stmt, 4), (long long)sqlite3_column_int64(stmt, 5),
		(long long)sqlite3_column_int64(stmt, 6),
		sqlite3_column_int(stmt, 8) ? "" : ", not read to the buffer's end");
	return 0;
}

/** report_losses() - void pairs, and whether the captures hold all that happened */
int report_losses(struct report *report)
{
	static const char void_sql[] =
		"SELECT round, scenario, arm, reason FROM void_pair WHERE experiment = ?1"
		" ORDER BY round, scenario, arm";
	static const char loss_sql[] =
		"SELECT l.run, v.round, v.arm, v.scenario, l.cpu, l.lost, l.cause, l.source"
		" FROM v_loss l JOIN v_run v ON v.run = l.run WHERE l.experiment = ?1"
		" ORDER BY l.run, l.source, l.cpu, l.from_ts";
	static const char books_sql[] =
		"SELECT count(*), coalesce(sum(complete = 1), 0), coalesce(sum(written), 0),"
		" coalesce(sum(read), 0), coalesce(sum(lost), 0)"
		" FROM (SELECT v.complete, sum(g.written) AS written, sum(g.read) AS read,"
		"  sum(g.lost) AS lost FROM v_run v LEFT JOIN ring g ON g.run = v.run"
		"  WHERE v.experiment = ?1 AND v.capture IS NOT NULL AND v.state <> 'captured'"
		"  GROUP BY v.run)";
	static const char incomplete_sql[] =
		"SELECT v.run, v.arm, v.scenario, g.cpu, g.written, g.read, g.lost, g.source,"
		" iif(g.source = 'xen', json_extract(g.detail, '$.closed'), 1) AS closed"
		" FROM v_run v JOIN ring g ON g.run = v.run"
		" WHERE v.experiment = ?1 AND v.state <> 'captured'"
		"  AND (g.read + g.lost <> g.written OR closed = 0)"
		" ORDER BY v.run, g.source, g.cpu";
	int ret;

	report_title(report, "Void pairs");
	ret = report_list(report, void_sql, put_void, "none\n");
	if (ret)
		return ret;
	report_title(report, "Losses");
	return report_rows(report, books_sql, put_books, NULL) ?:
	       report_list(report, loss_sql, put_loss, "no loss\n") ?:
	       report_list(report, incomplete_sql, put_incomplete, "");
}
