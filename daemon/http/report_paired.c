// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report's paired view: each round's arm against the same round's base. It comes first where
 * rounds differ by their seeds alone, and stands beside the medians everywhere else.
 */
#include <string.h>

#include "http/numfmt.h"
#include "http/report.h"

#define ARM_MIN 4

/* The smallest and the largest ratio, as deltas; all equal values say so instead. */
static void put_range(struct report *report, const struct report_cell *cell)
{
	char low[NUMFMT_MAX], high[NUMFMT_MAX];

	if (cell->n_pairs && cell->n_equal == cell->n_pairs) {
		fprintf(report->out, "  identical in all %d rounds\n", cell->n_pairs);
		return;
	}
	if (!cell->has_paired) {
		fputs(cell->n_pairs ? "  - (the base is zero)\n" : "  -\n", report->out);
		return;
	}
	num_delta(low, cell->ratio_min - 1);
	num_delta(high, cell->ratio_max - 1);
	fprintf(report->out, "  %s to %s\n", low, high);
}

static void put_count(struct report *report, int width, int count, int of)
{
	char text[NUMFMT_MAX];

	snprintf(text, sizeof(text), "%d/%d", count, of);
	fprintf(report->out, " %*s", width, text);
}

static void put_pair(struct report *report, const struct report_cell *cell)
{
	char delta[NUMFMT_MAX] = "-";

	if (cell->has_paired)
		num_delta(delta, cell->paired_delta);
	fprintf(report->out, "%8s", delta);
	put_count(report, 5, cell->n_lower, cell->n_pairs);
	put_count(report, 5, cell->n_equal, cell->n_pairs);
	put_count(report, 6, cell->n_higher, cell->n_pairs);
	put_range(report, cell);
}

static void put_table(struct report *report, size_t m)
{
	const int scenarios = report_name_width(report->scenarios, report->n_scenarios, 9);
	const int arms = report_name_width(report->arms, report->n_arms, ARM_MIN);
	const struct report_metric *metric = &report->metrics[m];

	fprintf(report->out, "\n%s  (%s%s)\n", metric->name, metric->agg,
		metric->better < 0   ? "; lower is better"
		: metric->better > 0 ? "; higher is better"
				     : "");
	report_clock(report, metric);
	fprintf(report->out, "%-*s %-*s%8s %5s %5s %6s  %s\n", scenarios, "scenario", arms, "arm",
		"paired", "lower", "equal", "higher",
		report->deterministic ? "sensitivity" : "rounds from .. to");
	for (size_t s = 0; s < report->n_scenarios; s++) {
		for (size_t a = 1; a < report->n_arms; a++) {
			fprintf(report->out, "%-*s %-*s", scenarios,
				a > 1 ? "" : report->scenarios[s], arms, report->arms[a]);
			put_pair(report, report_cell(report, m, s, a));
		}
	}
}

/* An experiment of before the paired view was stored has none. */
static bool has_any(const struct report *report)
{
	size_t n = report->n_metrics * report->n_scenarios * report->n_arms;

	for (size_t i = 0; i < n; i++)
		if (report->cells[i].has_pairs)
			return true;
	return false;
}

/** report_paired() - each arm against the base of the same round, a row for each scenario and arm
 */
int report_paired(struct report *report)
{
	if (!has_any(report))
		return 0;
	report_title(report, "Paired: each round's arm against the same round's first arm");
	report_wrap(report, 0,
		    report->deterministic
			    ? "paired: the median over the rounds of arm/base - 1. The machine "
			      "adds no noise: rounds differ because each has a seed of its own, "
			      "the same for all its arms, that changes the workload's start. "
			      "sensitivity: from the round with the lowest ratio to that with the "
			      "highest, which is how much the result depends on that start."
			    : "paired: the median over the rounds of arm/base - 1; beside it the "
			      "lowest and the highest of the rounds.");
	for (size_t m = 0; m < report->n_metrics; m++)
		put_table(report, m);
	return 0;
}
