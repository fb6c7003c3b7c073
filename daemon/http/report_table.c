// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report's tables: a metric each, a row per scenario, the median of each arm and its delta
 * against the first one; then all the values behind them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "http/numfmt.h"
#include "http/report.h"
#include "store/db.h"

#define DELTA_WIDTH 8
#define NAME_MIN 9

/** report_name_width() - columns that the longest of @names takes, at least @min */
int report_name_width(char *const *names, size_t n, int min)
{
	int width = min;

	for (size_t i = 0; i < n; i++) {
		if ((int)strlen(names[i]) > width)
			width = (int)strlen(names[i]);
	}
	return width;
}

static bool is_tail(const struct report_metric *metric)
{
	return !strcmp(metric->agg, "p99.9") || !strcmp(metric->agg, "p99");
}

/* The scale of a metric's medians, or of all of its values. */
static void choose_scale(const struct report *report, size_t m, bool all, struct num_scale *scale)
{
	size_t n_cells = report->n_scenarios * report->n_arms, n = 0;
	double *values = calloc(n_cells * (all ? report->rounds : 1) + 1, sizeof(*values));

	for (size_t s = 0; values && s < report->n_scenarios; s++) {
		for (size_t a = 0; a < report->n_arms; a++) {
			const struct report_value *value = report_values(report, m, s, a);

			if (!all) {
				values[n++] = report_cell(report, m, s, a)->median;
				continue;
			}
			for (size_t r = 0; r < report->rounds; r++)
				values[n++] = value[r].value;
		}
	}
	num_scale_choose(scale, report->metrics[m].unit, values, values ? n : 0);
	free(values);
}

static void put_metric_title(struct report *report, const struct report_metric *metric,
			     const struct num_scale *scale)
{
	FILE *out = report->out;

	fprintf(out, "\n%s", metric->name);
	if (*scale->unit)
		fprintf(out, ", %s", scale->unit);
	fprintf(out, "  (%s", metric->agg);
	if (metric->better)
		fprintf(out, "; %s is better", metric->better < 0 ? "lower" : "higher");
	fputs(metric->primary ? "; primary)\n" : ")\n", out);
	report_clock(report, metric);
	if (*metric->not_a_result) {
		fputs("  not a result: ", out);
		report_wrap(report, 16, metric->not_a_result);
	}
}

static void put_median(struct report *report, const struct report_cell *cell,
		       const struct num_scale *scale, int width)
{
	char text[NUMFMT_MAX] = "-";

	if (cell->n)
		num_format(text, scale, cell->median);
	fprintf(report->out, " %*s", width, text);
}

static void put_delta(struct report *report, const struct report_cell *cell)
{
	char text[NUMFMT_MAX] = "-";

	if (cell->has_delta)
		num_delta(text, cell->delta);
	fprintf(report->out, "%*s", DELTA_WIDTH, text);
}

/* Wide enough for the arm's name and each of its numbers. */
static int column_width(const struct report *report, size_t m, size_t a,
			const struct num_scale *scale)
{
	int width = (int)strlen(report->arms[a]);
	char text[NUMFMT_MAX];

	for (size_t s = 0; s < report->n_scenarios; s++) {
		const struct report_cell *cell = report_cell(report, m, s, a);

		num_format(text, scale, cell->median);
		if (cell->n && (int)strlen(text) > width)
			width = (int)strlen(text);
		if (is_tail(&report->metrics[m]) && width < 7)
			width = 7;
	}
	return width + 1;
}

static void put_table(struct report *report, size_t m)
{
	int names = report_name_width(report->scenarios, report->n_scenarios, NAME_MIN);
	const struct report_metric *metric = &report->metrics[m];
	int widths[SPEC_MAX_ARMS];
	struct num_scale scale;
	FILE *out = report->out;

	choose_scale(report, m, false, &scale);
	put_metric_title(report, metric, &scale);
	fprintf(out, "%-*s", names, "scenario");
	for (size_t a = 0; a < report->n_arms; a++) {
		widths[a] = column_width(report, m, a, &scale);
		fprintf(out, " %*s", widths[a], report->arms[a]);
		if (a)
			fprintf(out, "%*s", DELTA_WIDTH, "delta");
	}
	fputc('\n', out);
	for (size_t s = 0; s < report->n_scenarios; s++) {
		fprintf(out, "%-*s", names, report->scenarios[s]);
		for (size_t a = 0; a < report->n_arms; a++) {
			put_median(report, report_cell(report, m, s, a), &scale, widths[a]);
			if (a)
				put_delta(report, report_cell(report, m, s, a));
		}
		fputc('\n', out);
		if (!is_tail(metric))
			continue;
		fprintf(out, "%-*s", names, "  n");
		for (size_t a = 0; a < report->n_arms; a++) {
			const struct report_cell *cell = report_cell(report, m, s, a);
			char n[NUMFMT_MAX] = "-";

			if (cell->n)
				snprintf(n, sizeof(n), "%lld", (long long)cell->n_events);
			fprintf(out, " %*s", widths[a] + (a > 1 ? DELTA_WIDTH : 0), n);
		}
		fputc('\n', out);
	}
}

static int put_note(struct report *report, sqlite3_stmt *stmt)
{
	char *text = str_printf("%s has no value in %d runs: %s (%s)", report_column(stmt, 0),
				sqlite3_column_int(stmt, 1), report_column(stmt, 2),
				report_column(stmt, 3));

	if (!text)
		return -ENOMEM;
	fputc('\n', report->out);
	report_wrap(report, 0, text);
	free(text);
	return 0;
}

static int put_verdict(struct report *report, sqlite3_stmt *stmt)
{
	char p[NUMFMT_MAX] = "-", holm[NUMFMT_MAX] = "-", floor_text[NUMFMT_MAX] = "unknown";

	if (sqlite3_column_type(stmt, 4) != SQLITE_NULL)
		snprintf(p, sizeof(p), "%.4f", sqlite3_column_double(stmt, 4));
	if (sqlite3_column_type(stmt, 5) != SQLITE_NULL)
		snprintf(holm, sizeof(holm), "%.4f", sqlite3_column_double(stmt, 5));
	if (sqlite3_column_type(stmt, 6) != SQLITE_NULL)
		num_delta(floor_text, sqlite3_column_double(stmt, 6));
	fprintf(report->out, "%s, %s: %s %s (p %s, Holm %s, noise floor %s)\n",
		report_column(stmt, 0), report_column(stmt, 1), report_column(stmt, 2),
		report_column(stmt, 3), p, holm, floor_text);
	return 0;
}

static int put_verdicts(struct report *report)
{
	static const char any_sql[] =
		"SELECT count(*) FROM v_compare WHERE experiment = ?1 AND verdict IS NOT NULL";
	static const char sql[] =
		"SELECT metric, scenario, arm, verdict, p, p_holm, floor FROM v_compare "
		"WHERE experiment = ?1 AND verdict IS NOT NULL";
	int64_t verdicts;
	int ret;

	ret = db_get_int(report->db, &verdicts, any_sql, "i", report->id);
	if (ret || !verdicts)
		return ret;
	report_title(report, "Verdicts");
	return report_rows(report, sql, put_verdict, NULL);
}

/**
 * report_tables() - medians and deltas: the sums, counts and medians first, then the tails
 *
 * A number that is missing is explained below the tables.
 */
int report_tables(struct report *report)
{
	static const char notes_sql[] =
		"SELECT metric, sum(n), note, group_concat(scenario || ' ' || arm, ', ') FROM ("
		"  SELECT metric, scenario, arm, note, count(*) AS n FROM v_sample"
		"  WHERE experiment = ?1 AND value IS NULL AND note <> ''"
		"  GROUP BY metric, note, scenario, arm)"
		" GROUP BY metric, note ORDER BY metric, note LIMIT 40";
	bool tails = false;
	int ret;

	if (report->deterministic)
		report_paired(report);
	report_title(report, "Medians of the boots' values, deltas against the first arm");
	report_wrap(report, 0, "A delta is over the rounds in which both arms count.");
	for (size_t m = 0; m < report->n_metrics; m++) {
		tails |= is_tail(&report->metrics[m]);
		if (!is_tail(&report->metrics[m]))
			put_table(report, m);
	}
	if (tails)
		report_title(report,
			     "Medians of the boots' percentiles; n is the events of a boot");
	for (size_t m = 0; tails && m < report->n_metrics; m++) {
		if (is_tail(&report->metrics[m]))
			put_table(report, m);
	}
	ret = report_rows(report, notes_sql, put_note, NULL);
	if (!ret && !report->deterministic)
		ret = report_paired(report);
	return ret ?: put_verdicts(report);
}

static void value_text(char ret_text[NUMFMT_MAX + 2], const struct report_value *value,
		       const struct num_scale *scale)
{
	char number[NUMFMT_MAX] = "-";

	if (value->have)
		num_format(number, scale, value->value);
	snprintf(ret_text, NUMFMT_MAX + 2, value->have && !value->used ? "(%s)" : "%s", number);
}

static int values_width(const struct report *report, size_t m, const struct num_scale *scale)
{
	const struct report_value *values = report_values(report, m, 0, 0);
	size_t n = report->n_scenarios * report->n_arms * report->rounds, width = 4;
	char text[NUMFMT_MAX + 2];

	for (size_t i = 0; i < n; i++) {
		value_text(text, &values[i], scale);
		if (strlen(text) > width)
			width = strlen(text);
	}
	return (int)width + 1;
}

/* One arm's values over as many lines as they need, and in how many pairs it was lower. */
static void put_values(struct report *report, size_t m, size_t s, size_t a, const int widths[3],
		       const struct num_scale *scale)
{
	const struct report_cell *cell = report_cell(report, m, s, a);
	const struct report_value *values = report_values(report, m, s, a);
	int indent = widths[0] + widths[1] + 1, column;
	char text[NUMFMT_MAX + 2];
	FILE *out = report->out;

	column = fprintf(out, "%-*s %-*s", widths[0], a ? "" : report->scenarios[s], widths[1],
			 report->arms[a]);
	for (size_t r = 0; r < report->rounds; r++) {
		if (column + widths[2] > REPORT_COLUMNS) {
			fprintf(out, "\n%*s", indent, "");
			column = indent;
		}
		value_text(text, &values[r], scale);
		column += fprintf(out, "%*s", widths[2], text);
	}
	if (a) {
		snprintf(text, sizeof(text), "  %d/%d", cell->n_lower, cell->n_pairs);
		if (column + (int)strlen(text) > REPORT_COLUMNS)
			fprintf(out, "\n%*s", indent, "");
		fputs(text, out);
	}
	fputc('\n', out);
}

/** report_all_values() - what is behind the medians, by round */
int report_all_values(struct report *report)
{
	int widths[3] = {
		report_name_width(report->scenarios, report->n_scenarios, NAME_MIN),
		report_name_width(report->arms, report->n_arms, 4),
	};

	report_title(report, "All values, one for each boot, in the order of the rounds");
	report_wrap(
		report, 0,
		"In parentheses: of a void pair, not used. -: none. k/n: lower than the first arm in k "
		"of n pairs.");
	if (report->deterministic)
		report_wrap(report, 0,
			    "The spread between rounds is the result's sensitivity to each round's "
			    "seed, not noise.");
	for (size_t m = 0; m < report->n_metrics; m++) {
		struct num_scale scale;

		choose_scale(report, m, true, &scale);
		widths[2] = values_width(report, m, &scale);
		fprintf(report->out, "\n%s%s%s\n", report->metrics[m].name, *scale.unit ? ", " : "",
			scale.unit);
		report_clock(report, &report->metrics[m]);
		for (size_t s = 0; s < report->n_scenarios; s++) {
			for (size_t a = 0; a < report->n_arms; a++)
				put_values(report, m, s, a, widths, &scale);
		}
	}
	return 0;
}
