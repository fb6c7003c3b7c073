// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report in the Go benchmark format (golang.org/design/14313-benchmark-format, with the unit
 * metadata of golang.org/x/perf/benchfmt), so that "benchstat -col arm FILE" compares the arms. One
 * line per boot and scenario; only what the lab itself counts is in it, the rest is comment.
 *
 * What differs between arms must not be a configuration line but "arm" itself: benchstat puts
 * results with different configurations into different tables.
 */
#include <ctype.h>
#include <string.h>

#include "base/util.h"
#include "http/numfmt.h"
#include "http/report.h"

/* Foreign text stays on its line; a word (@word) also holds no space. */
static void put_text(FILE *out, const char *text, bool word)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (word && (c <= ' ' || c >= 0x7f))
			c = '_';
		fputc(c < ' ' || c == 0x7f ? ' ' : c, out);
	}
}

static void put_config(struct report *report, const char *key, const char *value)
{
	/* Without a value the line would delete the key. */
	if (!*value)
		return;
	fprintf(report->out, "%s: ", key);
	put_text(report->out, value, false);
	fputc('\n', report->out);
}

static int put_head(struct report *report, sqlite3_stmt *stmt)
{
	fprintf(report->out, "experiment: %lld\n", (long long)report->id);
	put_config(report, "name", report_column(stmt, 0));
	put_config(report, "machine", report_column(stmt, 1));
	put_config(report, "plan-sha256", report_column(stmt, 2));
	put_config(report, "clock", report->clock);
	return 0;
}

/* Its last word is the unit, which benchstat scales: "zap_total-ns". */
static void put_unit(struct report *report, const struct report_metric *metric)
{
	put_text(report->out, metric->name, true);
	fputc('-', report->out);
	put_text(report->out, strcmp(metric->unit, "1") ? metric->unit : "count", true);
}

static void put_units(struct report *report)
{
	for (size_t m = 0; m < report->n_metrics; m++) {
		const struct report_metric *metric = &report->metrics[m];

		fputs("Unit ", report->out);
		put_unit(report, metric);
		if (metric->better)
			fprintf(report->out, " better=%s", metric->better < 0 ? "lower" : "higher");
		fputs(" assume=nothing\n", report->out);
	}
}

static int put_void(struct report *report, sqlite3_stmt *stmt)
{
	fprintf(report->out, "# not used: round %d, %s, %s: ", sqlite3_column_int(stmt, 0),
		report_column(stmt, 1), report_column(stmt, 2));
	put_text(report->out, report_column(stmt, 3), false);
	fputc('\n', report->out);
	return 0;
}

static int put_build(struct report *report, sqlite3_stmt *stmt)
{
	fputs("# arm ", report->out);
	put_text(report->out, report_column(stmt, 0), false);
	fputs(": build ", report->out);
	put_text(report->out, report_column(stmt, 1), false);
	if (*report_column(stmt, 2)) {
		fputs(", build-id ", report->out);
		put_text(report->out, report_column(stmt, 2), false);
	}
	fputc('\n', report->out);
	return 0;
}

/* By convention a capital letter follows "Benchmark", unless two scenarios could become one. */
static void put_name(struct report *report, const char *scenario)
{
	bool capital = true;

	for (size_t s = 0; s < report->n_scenarios; s++)
		capital = capital && !isupper((unsigned char)*report->scenarios[s]);
	fprintf(report->out, "Benchmark%c",
		capital ? toupper((unsigned char)*scenario) : *scenario);
	put_text(report->out, *scenario ? scenario + 1 : "", true);
}

static void put_boot(struct report *report, size_t s, size_t a, size_t r)
{
	bool any = false;

	for (size_t m = 0; m < report->n_metrics; m++) {
		const struct report_value *value = report_values(report, m, s, a) + r;
		char number[NUMFMT_MAX];

		if (!value->have || !value->used)
			continue;
		if (!any) {
			put_name(report, report->scenarios[s]);
			fputs(" 1", report->out);
		}
		any = true;
		num_exact(number, value->value);
		fprintf(report->out, " %s ", number);
		put_unit(report, &report->metrics[m]);
	}
	if (any)
		fputc('\n', report->out);
}

/** report_benchstat() - the boots' values, a block per arm */
int report_benchstat(struct report *report)
{
	static const char head_sql[] =
		"SELECT name, machine, plan_sha256 FROM experiment WHERE id = ?1";
	static const char builds_sql[] =
		"SELECT name, build, json_extract(build_json, '$.build_id') FROM arm"
		" WHERE experiment = ?1 ORDER BY position";
	static const char void_sql[] =
		"SELECT round, scenario, arm, reason FROM void_pair WHERE experiment = ?1"
		" ORDER BY round, scenario, arm";
	int ret;

	fputs("# benchstat -col arm FILE compares the arms. A value is a boot's.\n", report->out);
	ret = report_rows(report, head_sql, put_head, NULL) ?:
	      report_rows(report, builds_sql, put_build, NULL) ?:
	      report_rows(report, void_sql, put_void, NULL);
	if (ret)
		return ret;
	put_units(report);
	for (size_t a = 0; a < report->n_arms; a++) {
		fputc('\n', report->out);
		put_config(report, "arm", report->arms[a]);
		for (size_t s = 0; s < report->n_scenarios; s++)
			for (size_t r = 0; r < report->rounds; r++)
				put_boot(report, s, a, r);
	}
	return 0;
}
