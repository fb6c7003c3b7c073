// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text report: one experiment in the style of the mailing lists, at most 75 columns where the
 * names allow it. It says how the numbers came about, and nothing is left out silently.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "http/numfmt.h"
#include "http/report.h"
#include "http/request.h"
#include "store/db.h"

/* A run is measured in the machine's time, everything else in that of the lab. */
static void put_time(struct report *report, int64_t wall, int64_t measured, int64_t booting,
		     int64_t shipping, int64_t storing)
{
	char took[NUMFMT_MAX], parts[4][NUMFMT_MAX];

	num_duration(took, wall);
	num_duration(parts[0], measured);
	num_duration(parts[1], booting);
	num_duration(parts[2], shipping);
	num_duration(parts[3], storing);
	if (report->deterministic) {
		report_field(report, "time",
			     "%s by the lab's clock, of which %s storing events; the runs measured "
			     "%s by the machine's",
			     took, parts[3], parts[0]);
		return;
	}
	report_field(report, "time",
		     "%s in all, of which %s (%.0f%%) measuring, %s booting, %s shipping captures, "
		     "%s storing events",
		     took, parts[0], wall > 0 ? 100.0 * (double)measured / (double)wall : 0,
		     parts[1], parts[2], parts[3]);
}

static int put_head(struct report *report, sqlite3_stmt *stmt)
{
	const char *reason = report_column(stmt, 4);

	fprintf(report->out, "labd report, experiment %lld: ", (long long)report->id);
	report_put(report, report_column(stmt, 0));
	fputs("\n===========================================================================\n",
	      report->out);
	if (sqlite3_column_int(stmt, 5)) {
		report_wrap(
			report, 0,
			report->deterministic
				? "EMULATED MACHINE. Times count instructions: they are without noise, "
				  "and without what caches, TLBs and interrupts between CPUs cost."
				: "EMULATED MACHINE. Times are the wall clock of an emulator: counts and "
				  "ratios between arms mean something, absolute times do not.");
		fputc('\n', report->out);
	}
	report_field(report, "state", "%s%s%s", report_column(stmt, 3), *reason ? ": " : "",
		     reason);
	report_field(report, "machine", "%s%s%s", report_column(stmt, 1),
		     *report_column(stmt, 6) ? ", " : "", report_column(stmt, 6));
	if (*report->clock)
		report_field(report, "clock", "%s", report->clock);
	report_field(report, "spread", "%s",
		     report->deterministic
			     ? "sensitivity: rounds differ by their seeds alone"
			     : "noise: rounds differ by what the machine does beside the workload");
	report_field(report, "kind", "%s",
		     report->aa ? "A/A: both arms are one build, to learn the machine's noise"
				: "A/B: each arm is compared with the first");
	if (*report_column(stmt, 16))
		report_field(report, "origin", "imported: %s", report_column(stmt, 16));
	report_field(report, "plan",
		     "%zu rounds; each boots %zu arms and runs %zu scenarios%s%s per boot",
		     report->rounds, report->n_arms, report->n_scenarios,
		     sqlite3_column_int(stmt, 8) > 1 ? ", repeats: " : " once",
		     sqlite3_column_int(stmt, 8) > 1 ? report_column(stmt, 8) : "");
	report_field(
		report, "order",
		"arms of a round next to each other, drawn from seed %s, sealed before the first boot",
		report_column(stmt, 7));
	report_field(report, "sha256", "%s", report_column(stmt, 9));
	if (sqlite3_column_type(stmt, 10) != SQLITE_NULL)
		report_field(report, "started", "%s", report_column(stmt, 10));
	if (sqlite3_column_type(stmt, 11) != SQLITE_NULL)
		put_time(report, sqlite3_column_int64(stmt, 11), sqlite3_column_int64(stmt, 12),
			 sqlite3_column_int64(stmt, 13), sqlite3_column_int64(stmt, 14),
			 sqlite3_column_int64(stmt, 15));
	return 0;
}

/* What was done, where and when. */
static int report_head(struct report *report)
{
	static const char sql[] =
		"WITH b AS (SELECT coalesce(sum(b.hello - b.started), 0) AS boot_ns FROM slot s"
		"  JOIN boot b ON b.slot = s.id WHERE s.experiment = ?1),"
		" r AS (SELECT coalesce(sum(r.measure_ns), 0) AS measure_ns,"
		"  coalesce(sum(r.ship_ns), 0) AS ship_ns, coalesce(sum(r.ingest_ns), 0) AS ingest_ns"
		"  FROM slot s JOIN run r ON r.slot = s.id WHERE s.experiment = ?1)"
		"SELECT name, machine, subject, state, reason, emulated,"
		" coalesce(json_extract(machine_json, '$.qemu_version'),"
		"  json_extract(machine_json, '$.bochs_version')), json_extract(spec, '$.seed'),"
		" coalesce(json_extract(spec, '$.repeats'), 1), plan_sha256,"
		" datetime(started / 1000000000, 'unixepoch') || ' UTC', ended - started, r.measure_ns,"
		" b.boot_ns, r.ship_ns, r.ingest_ns,"
		" (SELECT group_concat(fullkey || ' ' || atom, ', ') FROM (SELECT substr(fullkey, 3) AS fullkey, atom"
		"  FROM json_tree(origin_json) WHERE atom IS NOT NULL)) FROM experiment, b, r WHERE id = ?1";

	return report_rows(report, sql, put_head, NULL);
}

static int report_text(struct report *report)
{
	int ret;

	ret = report_head(report) ?: report_verdicts(report) ?: report_tables(report);
	if (ret)
		return ret;
	report_comparisons(report);
	report_variance(report);
	return report_all_values(report) ?: report_boots(report) ?: report_losses(report) ?:
	       report_environment(report) ?: report_builds(report) ?: report_recompute(report);
}

/* @write: NULL for what is answered elsewhere; @suffix: of the file's name, NULL to show it. */
static const struct format {
	const char *name;
	const char *type;
	const char *suffix;
	int (*write)(struct report *report);
} formats[] = {
	{"text", "text/plain; charset=utf-8", NULL, report_text},
	{"csv", "text/csv; charset=utf-8; header=present", "csv", report_csv},
	{"json"},
	{"benchstat", "text/plain; charset=utf-8", NULL, report_benchstat},
};

static const struct format *find_format(struct request *req)
{
	const char *name =
		MHD_lookup_connection_value(req->connection, MHD_GET_ARGUMENT_KIND, "format");

	if (!name)
		return &formats[0];
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		if (!strcmp(formats[i].name, name))
			return &formats[i];
	respond_error(req, MHD_HTTP_UNPROCESSABLE_CONTENT, "format",
		      "A report's format is text, csv, json or benchstat.");
	return NULL;
}

static int write_report(struct report *report, const struct format *format)
{
	int ret;

	/* One transaction: the sections are of one moment. */
	ret = db_run(report->db, "BEGIN", "");
	if (ret)
		return ret;
	ret = report_load(report) ?: format->write(report);
	db_rollback(report->db);
	report_free(report);
	return ret;
}

/** experiments_report() - GET /api/v1/experiments/{id}/report?format=text|csv|json|benchstat */
void experiments_report(struct request *req)
{
	struct report report = {
		.db = req->http->db, .id = req->id, .data_dir = req->http->data_dir};
	const struct format *format = find_format(req);
	char *text = NULL, disposition[80];
	size_t length;
	int ret;

	if (!format)
		return;
	if (!format->write) {
		experiments_results(req);
		return;
	}
	report.out = open_memstream(&text, &length);
	if (!report.out)
		return;
	ret = write_report(&report, format);
	if (fclose(report.out) && !ret)
		ret = -ENOMEM;
	if (ret) {
		free(text);
		respond_row(req, ret, NULL, "experiment");
		return;
	}
	respond_text(req, MHD_HTTP_OK, format->type, text, length);
	if (!format->suffix)
		return;
	snprintf(disposition, sizeof(disposition),
		 "attachment; filename=\"labd-experiment-%lld.%s\"", (long long)req->id,
		 format->suffix);
	respond_header(req, MHD_HTTP_HEADER_CONTENT_DISPOSITION, disposition);
}
