// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report's tables: a metric each, a row per scenario, the median of each arm and its delta
 * against the first one; then all the values behind them.
 */
#include <errno.h>
#include <math.h>
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

/** report_is_tail() - is the metric a percentile, of which n has to be known? */
bool report_is_tail(const struct report_metric *metric)
{
	return !strcmp(metric->agg, "p99.9") || !strcmp(metric->agg, "p99");
}

/** report_scale() - the scale of a metric's medians, or of @all of its values */
void report_scale(const struct report *report, size_t m, bool all, struct num_scale *scale)
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

/** report_metric_title() - what a table of a metric shows, and whose clock it is by */
void report_metric_title(struct report *report, const struct report_metric *metric,
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

/** report_column_width() - wide enough for the arm's name and each of its medians */
int report_column_width(const struct report *report, size_t m, size_t a,
			const struct num_scale *scale)
{
	int width = (int)strlen(report->arms[a]);
	char text[NUMFMT_MAX];

	for (size_t s = 0; s < report->n_scenarios; s++) {
		const struct report_cell *cell = report_cell(report, m, s, a);

		num_format(text, scale, cell->median);
		if (cell->n && (int)strlen(text) > width)
			width = (int)strlen(text);
	}
	return width;
}

/* The base and the arms from @from to before @to. */
static void put_arms(struct report *report, size_t m, const struct num_scale *scale, int names,
		     const int *widths, size_t from, size_t to)
{
	FILE *out = report->out;

	fprintf(out, "%-*s %*s", names, "scenario", widths[0], report->arms[0]);
	for (size_t a = from; a < to; a++)
		fprintf(out, " %*s%*s", widths[a], report->arms[a], DELTA_WIDTH, "delta");
	fputc('\n', out);
	for (size_t s = 0; s < report->n_scenarios; s++) {
		fprintf(out, "%-*s", names, report->scenarios[s]);
		put_median(report, report_cell(report, m, s, 0), scale, widths[0]);
		for (size_t a = from; a < to; a++) {
			put_median(report, report_cell(report, m, s, a), scale, widths[a]);
			put_delta(report, report_cell(report, m, s, a));
		}
		fputc('\n', out);
	}
}

/* Arms that do not fit into the columns beside each other go below, beside the base again. */
static void put_table(struct report *report, size_t m)
{
	int names = report_name_width(report->scenarios, report->n_scenarios, NAME_MIN);
	int widths[SPEC_MAX_ARMS];
	struct num_scale scale;

	report_scale(report, m, false, &scale);
	report_metric_title(report, &report->metrics[m], &scale);
	for (size_t a = 0; a < report->n_arms; a++)
		widths[a] = report_column_width(report, m, a, &scale) + 1;
	for (size_t from = 1, to; from < report->n_arms; from = to) {
		int width = names + 1 + widths[0];

		for (to = from; to < report->n_arms; to++) {
			width += 1 + widths[to] + DELTA_WIDTH;
			if (to > from && width > REPORT_COLUMNS)
				break;
		}
		put_arms(report, m, &scale, names, widths, from, to);
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
		" GROUP BY metric, note ORDER BY metric, note";
	int ret;

	if (report->deterministic)
		report_paired(report);
	report_title(report, "Medians of the boots' values, deltas against the first arm");
	report_wrap(report, 0,
		    "Descriptive: the verdicts are above. A delta is over the rounds in which both "
		    "arms count.");
	for (size_t m = 0; m < report->n_metrics; m++)
		if (!report_is_tail(&report->metrics[m]))
			put_table(report, m);
	report_tails(report);
	ret = report_list(report, notes_sql, put_note, "");
	if (!ret && !report->deterministic)
		ret = report_paired(report);
	return ret;
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

/*
 * How sure the range of n values is to hold the median: unless all of them lie on one side of it,
 * which has the chance 2 * 2^-n.
 */
static void put_coverage(struct report *report)
{
	size_t n_cells = report->n_metrics * report->n_scenarios * report->n_arms;
	bool seen[SPEC_MAX_ROUNDS + 1] = {false};
	char text[512] = "";
	int used = 0;

	for (size_t i = 0; i < n_cells; i++)
		if (report->cells[i].n >= 2 && report->cells[i].n <= SPEC_MAX_ROUNDS)
			seen[report->cells[i].n] = true;
	for (int n = SPEC_MAX_ROUNDS; n >= 2 && used < (int)sizeof(text) - 40; n--)
		if (seen[n])
			used += snprintf(text + used, sizeof(text) - used,
					 "%s%d values covers it with %.4g %%",
					 used ? ", that of " : "", n, 100 * (1 - ldexp(1, 1 - n)));
	if (used)
		report_field(report, "median", "The range of %s.", text);
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
	put_coverage(report);
	for (size_t m = 0; m < report->n_metrics; m++) {
		struct num_scale scale;

		report_scale(report, m, true, &scale);
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
