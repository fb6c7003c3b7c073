// SPDX-License-Identifier: GPL-2.0-only
/* The report's back matter: environment, builds, and how to check the numbers. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "http/report.h"
#include "store/db.h"

/* What every boot has in common: one value, in as many boots as have an environment. */
#define FACTS_SQL                                                                                       \
	"WITH boots AS (SELECT b.*, s.arm FROM boot b JOIN slot s ON s.id = b.slot"                     \
	"  WHERE s.experiment = ?1 AND json_valid(b.env_json)),"                                        \
	" facts AS (SELECT replace(substr(j.fullkey, 3), '\"', '') AS name, j.atom AS value, boots.arm" \
	"  FROM boots, json_tree(boots.env_json) AS j WHERE j.atom IS NOT NULL),"                       \
	" named AS (SELECT name, count(DISTINCT value) AS n_values, count(*) AS n FROM facts GROUP BY name) "

static int put_fact(struct report *report, sqlite3_stmt *stmt)
{
	fprintf(report->out, "  %-37s ", report_column(stmt, 0));
	report_wrap(report, 40, report_column(stmt, 1));
	return 0;
}

static int put_machine(struct report *report, sqlite3_stmt *stmt)
{
	if (*report_column(stmt, 0))
		report_field(report, "machine", "%s", report_column(stmt, 0));
	if (*report_column(stmt, 1))
		report_field(report, "image", "%s", report_column(stmt, 1));
	if (*report_column(stmt, 2))
		report_field(report, "cmdline", "added to each kernel: %s", report_column(stmt, 2));
	return 0;
}

/** report_environment() - what the boots had in common, and where they differed */
int report_environment(struct report *report)
{
	static const char machine_sql[] =
		"SELECT (SELECT group_concat(value, ' ') FROM json_each(machine_json, '$.argv')),"
		" json_extract(machine_json, '$.image_sha256'), json_extract(spec, '$.cmdline')"
		" FROM experiment WHERE id = ?1 AND machine_json IS NOT NULL";
	static const char same_sql[] = FACTS_SQL
		"SELECT DISTINCT f.name, f.value FROM facts f JOIN named USING (name)"
		" WHERE n_values = 1 AND n = (SELECT count(*) FROM boots) ORDER BY f.name";
	static const char differ_sql[] =
		FACTS_SQL "SELECT f.name, f.value || ' (' || group_concat(DISTINCT f.arm) || ', '"
			  " || count(*) || ' boots)' FROM facts f JOIN named USING (name)"
			  " WHERE n_values > 1 OR n < (SELECT count(*) FROM boots)"
			  " GROUP BY f.name, f.value ORDER BY f.name, f.value";
	int ret;

	report_title(report, "Environment");
	ret = report_rows(report, machine_sql, put_machine, NULL);
	if (ret)
		return ret;
	fputs("the same in every boot:\n", report->out);
	ret = report_list(report, same_sql, put_fact, "  nothing: no boot came up\n");
	if (ret)
		return ret;
	fputs("not the same in every boot:\n", report->out);
	return report_list(report, differ_sql, put_fact, "  nothing\n");
}

static int put_build(struct report *report, sqlite3_stmt *stmt)
{
	static const char *const keys[][2] = {
		{"release", "release"},
		{"base", "base"},
		{"series", NULL},
		{"series", "series_sha256"},
		{"config", "config_sha256"},
		{"build-id", "build_id"},
		{"xen's id", "hypervisor_build_id"},
		{"compiler", "compiler"},
	};
	json_t *build = json_loads(report_column(stmt, 2), 0, NULL), *patch;
	size_t i;

	fprintf(report->out, "%s: %s\n", report_column(stmt, 0), report_column(stmt, 1));
	for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
		const char *text =
			keys[k][1] ? json_string_value(json_object_get(build, keys[k][1])) : NULL;

		if (text) {
			fprintf(report->out, "  %-8s ", keys[k][0]);
			report_put(report, text);
			fputc('\n', report->out);
		} else if (!keys[k][1]) {
			json_array_foreach (json_object_get(build, "series"), i, patch) {
				fprintf(report->out, "  %-8s ", i ? "" : "patches");
				report_put(report, json_string_value(patch) ?: "");
				fputc('\n', report->out);
			}
		}
	}
	json_decref(build);
	return 0;
}

/** report_builds() - which kernel each arm is */
int report_builds(struct report *report)
{
	report_title(report, "Builds (series and config: sha256)");
	return report_rows(
		report,
		"SELECT name, build, build_json FROM arm WHERE experiment = ?1 ORDER BY position",
		put_build, NULL);
}

/** report_recompute() - a command that gets the medians from the samples again */
int report_recompute(struct report *report)
{
	report_title(report, "The medians again, from the database");
	fprintf(report->out,
		"sqlite3 -readonly -box %s/lab.db \"\n"
		"  SELECT scenario, metric, arm, n AS boots, avg(value) AS median FROM (\n"
		"    SELECT scenario, metric, arm, value, count(*) OVER cell AS n,\n"
		"      row_number() OVER (cell ORDER BY value) AS k\n"
		"    FROM v_boot_sample WHERE experiment = %lld AND used\n"
		"    WINDOW cell AS (PARTITION BY scenario, metric, arm))\n"
		"  WHERE k IN ((n + 1) / 2, (n + 2) / 2)\n"
		"  GROUP BY scenario, metric, arm\"\n",
		report->data_dir, (long long)report->id);
	return 0;
}
