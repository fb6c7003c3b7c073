// SPDX-License-Identifier: GPL-2.0-only
/*
 * The report's first table: what the plan asked, and the answer. A row for each comparison of the
 * family, the verdict and what it rests on below. All other comparisons have raw p and no verdict.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "http/numfmt.h"
#include "http/report.h"
#include "plan/family.h"

static void put_plan(struct report *report)
{
	const struct spec *spec = report->spec;
	struct family family;
	char p[NUMFMT_MAX], times[NUMFMT_MAX], *text;

	if (!spec) {
		text = str_printf("This labd cannot read the experiment's spec (%s%s%s), so what "
				  "it planned to test is known of stored verdicts only.",
				  report->spec_problem.key, *report->spec_problem.key ? ": " : "",
				  report->spec_problem.detail);
		report_wrap(report, 0, text ? text : "");
		free(text);
		return;
	}
	family = family_of(spec);
	if (!family.size) {
		report_wrap(report, 0,
			    "The plan has no primary metric: every comparison is descriptive, and "
			    "none has a verdict.");
		return;
	}
	report_field(report, "compared", "%s against %s, in %zu of %zu scenarios",
		     spec->arms[spec->primary_arm].name, spec->arms[0].name, family.n_scenarios,
		     spec->n_scenarios);
	report_field(report, "test", "%s",
		     spec->test == SPEC_TEST_PAIRED
			     ? "exact signed-rank test of the rounds' pairs, two-sided"
			     : "exact permutation test of the boots' ranks, two-sided");
	num_p(p, family.p_floor);
	num_p(times, family.p_floor * (double)family.size);
	report_field(report, "family",
		     "%zu: scenarios %zu x primary metrics %zu; alpha %g for all of it, by Holm",
		     family.size, family.n_scenarios, family.n_metrics, spec->alpha);
	report_field(report, "interval",
		     "of the Hodges-Lehmann shift, as a change of the base's median");
	report_field(report, "reach", "smallest p of %u rounds: %s, times %zu is %s", spec->rounds,
		     p, family.size, times);
}

static void floor_text(char ret_text[96], const struct report_cell *cell)
{
	char value[NUMFMT_MAX];

	num_percent(value, cell->floor);
	if (isnan(cell->floor))
		strcpy(ret_text, "noise floor unknown");
	else
		snprintf(ret_text, 96, "noise floor %s (largest of %d A/A pairs)", value,
			 cell->floor_pairs);
}

/* What the verdict rests on, beyond the sentence that explains it. */
static void put_facts(struct report *report, const struct report_cell *cell, bool paired)
{
	char smallest[NUMFMT_MAX], level[NUMFMT_MAX], found[NUMFMT_MAX], margin[NUMFMT_MAX];
	char floor_said[96], *text;

	num_p(smallest, paired ? cell->paired_p_floor : cell->p_floor);
	num_percent(level, cell->shift_level);
	num_percent(found, cell->detectable);
	num_percent(margin, cell->margin);
	floor_text(floor_said, cell);
	text = str_printf(
		"%d pairs, smallest p %s; interval's level %s; %s%s%s%s%s", cell->n_pairs, smallest,
		level, floor_said, isnan(cell->margin) ? "" : "; margin ",
		isnan(cell->margin) ? "" : margin,
		isnan(cell->detectable) ? "" : "; this design finds 80 % of the time a change of ",
		isnan(cell->detectable) ? "" : found);
	fputs("    ", report->out);
	report_wrap(report, 4, text ? text : "");
	free(text);
}

static void put_verdict(struct report *report, const struct report_cell *cell)
{
	char *text;

	if (!cell->verdict || !*cell->verdict)
		text = str_printf("%s", cell->why && *cell->why
						? cell->why
						: "no verdict yet: labd judges what has ended "
						  "when it starts");
	else
		text = str_printf("%s%s%s", cell->verdict, *cell->why ? ": " : "", cell->why);
	fputs("  ", report->out);
	report_wrap(report, 4, text ? text : "");
	free(text);
}

/* Columns of a metric's table: names of scenarios, medians of the base and of the arm. */
struct columns {
	int names;
	int base;
	int arm;
	struct num_scale scale;
};

static void put_row(struct report *report, const struct columns *columns,
		    const char *const cells[7])
{
	fprintf(report->out, "%-*s %*s %*s %7s %14s %6s %6s\n", columns->names, cells[0],
		columns->base, cells[1], columns->arm, cells[2], cells[3], cells[4], cells[5],
		cells[6]);
}

static void put_member(struct report *report, const struct columns *columns, size_t m, size_t s,
		       size_t a)
{
	const struct report_cell *base = report_cell(report, m, s, 0);
	const struct report_cell *cell = report_cell(report, m, s, a);
	bool paired = report->spec && report->spec->test == SPEC_TEST_PAIRED;
	char medians[2][NUMFMT_MAX] = {"-", "-"}, delta[NUMFMT_MAX] = "-", p[NUMFMT_MAX];
	char holm[NUMFMT_MAX], change[NUMFMT_MAX];

	if (base->n)
		num_format(medians[0], &columns->scale, base->median);
	if (cell->n)
		num_format(medians[1], &columns->scale, cell->median);
	if (cell->has_delta)
		num_delta(delta, cell->delta);
	num_change(change, cell->change_low, cell->change_high);
	num_p(p, paired ? cell->paired_p : cell->p);
	num_p(holm, cell->p_holm);
	put_row(report, columns,
		(const char *const[]){report->scenarios[s], medians[0], medians[1], delta, change,
				      p, holm});
	put_verdict(report, cell);
	put_facts(report, cell, paired);
}

/* The members of a metric; their arm is one, but for what another labd has judged. */
static void put_metric(struct report *report, size_t m)
{
	struct columns columns = {
		.names = report_name_width(report->scenarios, report->n_scenarios, 8)};

	report_scale(report, m, false, &columns.scale);
	columns.base = report_column_width(report, m, 0, &columns.scale);
	for (size_t a = 1; a < report->n_arms; a++) {
		bool titled = false;

		columns.arm = report_column_width(report, m, a, &columns.scale);
		for (size_t s = 0; s < report->n_scenarios; s++) {
			if (!report_is_member(report, m, s, a))
				continue;
			if (!titled) {
				report_metric_title(report, &report->metrics[m], &columns.scale);
				put_row(report, &columns,
					(const char *const[]){"scenario", report->arms[0],
							      report->arms[a], "delta", "interval",
							      "p", "Holm"});
			}
			titled = true;
			put_member(report, &columns, m, s, a);
		}
	}
}

static int put_own_floor(struct report *report, sqlite3_stmt *stmt)
{
	char value[NUMFMT_MAX];

	num_percent(value, report_double(stmt, 2));
	fprintf(report->out, "  %-23s %-18s %9s %6d\n", report_column(stmt, 0),
		report_column(stmt, 1), value, sqlite3_column_int(stmt, 3));
	return 0;
}

static int put_own_floors(struct report *report)
{
	static const char sql[] =
		"SELECT metric, scenario, max(abs(ratio - 1)), count(*) FROM v_aa_pair"
		" WHERE experiment = ?1 GROUP BY metric, scenario ORDER BY metric, scenario";
	size_t rows;
	int ret;

	if (strcmp(report->state, "done"))
		return 0;
	report_title(report, "The noise floor that this A/A experiment sets");
	report_wrap(report, 0,
		    "The largest |ratio - 1| among its pairs. Verdicts of other experiments in the "
		    "same environment have to beat the largest of all A/A experiments.");
	fprintf(report->out, "  %-23s %-18s %9s %6s\n", "metric", "scenario", "floor", "pairs");
	ret = report_rows(report, sql, put_own_floor, &rows);
	if (!ret && !rows)
		fputs("  none: it has no pair that was measured here\n", report->out);
	return ret;
}

/** report_verdicts() - the plan's question and, once the experiment is done, the answers */
int report_verdicts(struct report *report)
{
	report_title(report, "Verdicts");
	if (report->aa)
		report_wrap(report, 0,
			    "A/A: both arms are one build, so that every difference is the "
			    "machine's own. \"improved\" or \"regressed\" would be a false alarm.");
	put_plan(report);
	if (!strcmp(report->state, "queued") || !strcmp(report->state, "running"))
		report_wrap(report, 0,
			    "Verdicts come when the experiment is done: n is fixed, and nobody "
			    "looks before the end.");
	else if (strcmp(report->state, "done"))
		report_field(report, "none",
			     "The experiment is %s, not done: n is fixed in the plan, and fewer "
			     "rounds give no verdict.",
			     report->state);
	else
		for (size_t m = 0; m < report->n_metrics; m++)
			put_metric(report, m);
	return report->aa ? put_own_floors(report) : 0;
}

/* p and the smallest that so many pairs can reach: ".0079/.0079" */
static void p_text(char ret_text[2 * NUMFMT_MAX], double p, double smallest)
{
	char of[2][NUMFMT_MAX];

	num_p(of[0], p);
	num_p(of[1], smallest);
	if (isnan(p))
		strcpy(ret_text, "-");
	else
		snprintf(ret_text, 2 * NUMFMT_MAX, "%s/%s", of[0], of[1]);
}

static void put_comparison(struct report *report, size_t m, size_t s, size_t a)
{
	const int scenarios = report_name_width(report->scenarios, report->n_scenarios, 8);
	const int arms = report_name_width(report->arms, report->n_arms, 4);
	const struct report_cell *cell = report_cell(report, m, s, a);
	char rank[2 * NUMFMT_MAX], paired[2 * NUMFMT_MAX];
	char change[NUMFMT_MAX], floor_said[NUMFMT_MAX];

	num_change(change, cell->change_low, cell->change_high);
	p_text(rank, cell->p, cell->p_floor);
	p_text(paired, cell->paired_p, cell->paired_p_floor);
	num_percent(floor_said, cell->floor);
	fprintf(report->out, "%-*s %-*s%c %14s %11s %11s %7s\n", scenarios,
		a > 1 ? "" : report->scenarios[s], arms, report->arms[a],
		report_is_member(report, m, s, a) ? '*' : ' ', change, rank, paired, floor_said);
}

static bool has_p(const struct report *report, size_t m)
{
	for (size_t s = 0; s < report->n_scenarios; s++)
		for (size_t a = 1; a < report->n_arms; a++)
			if (!isnan(report_cell(report, m, s, a)->p))
				return true;
	return false;
}

/** report_comparisons() - raw p of every comparison, once there are any */
void report_comparisons(struct report *report)
{
	const int scenarios = report_name_width(report->scenarios, report->n_scenarios, 8);
	const int arms = report_name_width(report->arms, report->n_arms, 4);
	bool titled = false;

	for (size_t m = 0; m < report->n_metrics; m++) {
		if (!has_p(report, m))
			continue;
		if (!titled) {
			report_title(report, "Every comparison with the first arm: descriptive");
			report_wrap(report, 0,
				    "Raw p, not corrected for how many there are, each beside the "
				    "smallest that so many boots can reach. A * is of the family: "
				    "its verdict is above, and no other has one. floor: the "
				    "machine's A/A noise floor, - where it is unknown.");
			titled = true;
		}
		fprintf(report->out, "\n%s\n%-*s %-*s  %14s %11s %11s %7s\n",
			report->metrics[m].name, scenarios, "scenario", arms, "arm", "interval",
			"p rank", "p paired", "floor");
		for (size_t s = 0; s < report->n_scenarios; s++)
			for (size_t a = 1; a < report->n_arms; a++)
				put_comparison(report, m, s, a);
	}
}
