// SPDX-License-Identifier: GPL-2.0-only
/* The report on plans with several runs per boot: do boots differ by more than the runs inside
 * them? */
#include <math.h>

#include "http/numfmt.h"
#include "http/report.h"

static void put_row(struct report *report, const struct variance *variance)
{
	char f[NUMFMT_MAX] = "-", df[NUMFMT_MAX], p[NUMFMT_MAX], share[NUMFMT_MAX];

	if (!variance->boots) {
		fputs("        - (too few runs)\n", report->out);
		return;
	}
	if (!isnan(variance->f))
		snprintf(f, sizeof(f), "%.4g", variance->f);
	snprintf(df, sizeof(df), "%zu, %zu", variance->boots - 1, variance->runs - variance->boots);
	num_p(p, variance->p);
	num_percent(share, variance->icc);
	fprintf(report->out, "%9s %9s %8s %8s\n", f, df, p, share);
}

/** report_variance() - one-way variance components; nothing where each boot has one run */
void report_variance(struct report *report)
{
	const int scenarios = report_name_width(report->scenarios, report->n_scenarios, 8);
	const int arms = report_name_width(report->arms, report->n_arms, 4);

	if (!report->spec || report->spec->repeats < 2)
		return;
	report_title(report, "Do boots differ by more than the runs inside them predict?");
	report_wrap(report, 0,
		    "One-way random effects. F: the mean square between boots over that inside "
		    "them, with its degrees of freedom. p: the chance of so large an F if boots "
		    "added nothing; raw. share: of a run's variance, what boots add. Whatever it "
		    "says, a boot counts once, with the median of its runs.");
	for (size_t m = 0; m < report->n_metrics; m++) {
		fprintf(report->out, "\n%s\n%-*s %-*s%9s %9s %8s %8s\n", report->metrics[m].name,
			scenarios, "scenario", arms, "arm", "F", "df", "p", "share");
		for (size_t s = 0; s < report->n_scenarios; s++) {
			for (size_t a = 0; a < report->n_arms; a++) {
				fprintf(report->out, "%-*s %-*s", scenarios,
					a ? "" : report->scenarios[s], arms, report->arms[a]);
				put_row(report, &report_cell(report, m, s, a)->variance);
			}
		}
	}
}
