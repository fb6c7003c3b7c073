// SPDX-License-Identifier: GPL-2.0-only
/* The report's percentiles: a row for each scenario and arm, always with n, a p99.9 with its
 * interval. */
#include <math.h>
#include <string.h>

#include "http/numfmt.h"
#include "http/report.h"
#include "stats/percentile.h"

static void put_interval(struct report *report, const struct report_cell *cell,
			 const struct num_scale *scale)
{
	char low[NUMFMT_MAX], high[NUMFMT_MAX];

	if (!cell->n || isnan(cell->low)) {
		fputs("  -\n", report->out);
		return;
	}
	num_format(low, scale, cell->low);
	if (isnan(cell->high)) {
		fprintf(report->out, "  from %s\n", low);
		return;
	}
	num_format(high, scale, cell->high);
	fprintf(report->out, "  %s to %s\n", low, high);
}

static void put_row(struct report *report, const struct report_cell *cell, bool base,
		    const struct report_metric *metric, const struct num_scale *scale)
{
	char median[NUMFMT_MAX] = "-", delta[NUMFMT_MAX] = "", n[NUMFMT_MAX] = "-";

	if (cell->n) {
		num_format(median, scale, cell->median);
		snprintf(n, sizeof(n), "%lld", (long long)cell->n_events);
	}
	if (!base)
		strcpy(delta, "-");
	if (cell->has_delta)
		num_delta(delta, cell->delta);
	fprintf(report->out, "%9s %7s %8s", median, delta, n);
	if (strcmp(metric->agg, "p99.9"))
		fputc('\n', report->out);
	else
		put_interval(report, cell, scale);
}

static void put_table(struct report *report, size_t m)
{
	const int scenarios = report_name_width(report->scenarios, report->n_scenarios, 8);
	const int arms = report_name_width(report->arms, report->n_arms, 4);
	const struct report_metric *metric = &report->metrics[m];
	struct num_scale scale;

	report_scale(report, m, false, &scale);
	report_metric_title(report, metric, &scale);
	fprintf(report->out, "%-*s %-*s%9s %7s %8s%s\n", scenarios, "scenario", arms, "arm",
		"median", "delta", "n", strcmp(metric->agg, "p99.9") ? "" : "  95 % interval");
	for (size_t s = 0; s < report->n_scenarios; s++) {
		for (size_t a = 0; a < report->n_arms; a++) {
			fprintf(report->out, "%-*s %-*s", scenarios, a ? "" : report->scenarios[s],
				arms, report->arms[a]);
			put_row(report, report_cell(report, m, s, a), !a, metric, &scale);
		}
	}
}

/* An upper end that there is not is explained once. */
static bool is_open(const struct report *report)
{
	size_t n = report->n_metrics * report->n_scenarios * report->n_arms;

	for (size_t i = 0; i < n; i++)
		if (report->cells[i].n && !isnan(report->cells[i].low) &&
		    isnan(report->cells[i].high))
			return true;
	return false;
}

/** report_tails() - percentiles, if the plan has any */
void report_tails(struct report *report)
{
	bool titled = false;

	for (size_t m = 0; m < report->n_metrics; m++) {
		if (!report_is_tail(&report->metrics[m]))
			continue;
		if (!titled) {
			report_title(report, "Medians of the boots' percentiles");
			report_wrap(report, 0,
				    "n: events of a boot. The interval of a p99.9 is from order "
				    "statistics of a boot's events, free of any assumption about "
				    "their distribution; here are the medians of the boots' ends.");
			titled = true;
		}
		put_table(report, m);
	}
	if (is_open(report))
		fprintf(report->out,
			"\n\"from\" alone: no upper bound below %d values in a boot.\n",
			P999_INTERVAL_N);
}
