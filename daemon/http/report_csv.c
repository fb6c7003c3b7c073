// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report as CSV (RFC 4180): a row for each value of each run, nothing left out. Where a boot
 * has several runs its value is their median, so rows of one boot are not independent.
 */
#include <string.h>

#include "base/util.h"
#include "http/numfmt.h"
#include "http/report.h"

/* A field is quoted only where it has to be; a quote inside it is doubled. */
static void put_field(FILE *out, const char *text)
{
	bool quoted = text[strcspn(text, ",\"\r\n")];

	if (quoted)
		fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	if (quoted)
		fputc('"', out);
}

static int put_row(struct report *report, sqlite3_stmt *stmt)
{
	for (int i = 0; i < sqlite3_column_count(stmt); i++) {
		char number[NUMFMT_MAX];

		if (i)
			fputc(',', report->out);
		if (sqlite3_column_type(stmt, i) == SQLITE_FLOAT) {
			num_exact(number, sqlite3_column_double(stmt, i));
			fputs(number, report->out);
		} else {
			put_field(report->out, report_column(stmt, i));
		}
	}
	fputs("\r\n", report->out);
	return 0;
}

/** report_csv() - all samples in the order of the plan; an empty field is a value that there is not
 */
int report_csv(struct report *report)
{
	/* What was left out says why in its note. */
	static const char sql[] =
		"SELECT v.experiment, v.scenario, v.metric, m.unit, v.arm, v.round, v.boot, v.run,"
		" v.value, v.n_events, v.low, v.high, v.used,"
		" v.note || iif(v.note <> '' AND d.reason IS NOT NULL, '; ', '')"
		"  || iif(d.reason IS NULL, '', 'void pair: ' || d.reason) AS note"
		" FROM v_sample v JOIN metric m ON m.experiment = v.experiment AND m.name = v.metric"
		" JOIN scenario s ON s.experiment = v.experiment AND s.name = v.scenario"
		" JOIN arm a ON a.experiment = v.experiment AND a.name = v.arm"
		" LEFT JOIN void_pair d ON d.experiment = v.experiment AND d.round = v.round"
		"  AND d.scenario = v.scenario AND d.arm = v.arm"
		" WHERE v.experiment = ?1"
		" ORDER BY m.position, s.position, v.round, a.position, v.run";

	fputs("experiment,scenario,metric,unit,arm,round,boot,run,value,n_events,low,high,used,note"
	      "\r\n",
	      report->out);
	return report_rows(report, sql, put_row, NULL);
}
