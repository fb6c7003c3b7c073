/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_HTTP_REPORT_H
#define LABD_HTTP_REPORT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/problem.h"
#include "http/numfmt.h"
#include "plan/spec.h"
#include "stats/variance.h"

/* The report; shared by report*.c only. */

#define REPORT_COLUMNS 75

struct report_metric {
	char *name;
	char *unit;
	char *agg;
	char *not_a_result;
	int better;
	bool primary;
};

/**
 * struct report_cell - an arm's result for a scenario and a metric; NAN stands for NULL
 * @n: boots behind @median, 0 when there is none
 * @low, @high: a percentile's 95 % interval, medians of the boots' ends
 * @n_events: events behind a boot's value (median of the boots)
 * @has_delta: @delta compares the median with that of the first arm
 * @has_pairs: the pairs were counted: @n_pairs, in how many the arm is lower, equal, higher
 * @has_paired: @paired_delta, @ratio_min and @ratio_max are over the ratios of the rounds
 * @in_family: the comparison is one of those that get a verdict
 * @p to @detectable: as in v_compare, NAN until the experiment is done
 * @variance: of the runs inside the boots; @boots is 0 when it was not computed
 * @verdict, @why: NULL or "" until then
 */
struct report_cell {
	int n;
	double median;
	double low;
	double high;
	int64_t n_events;
	bool has_delta;
	double delta;
	bool has_pairs;
	int n_pairs;
	int n_lower;
	int n_equal;
	int n_higher;
	bool has_paired;
	double paired_delta;
	double ratio_min;
	double ratio_max;
	bool in_family;
	double p;
	double p_floor;
	double p_holm;
	double paired_p;
	double paired_p_floor;
	double shift_level;
	double change_low;
	double change_high;
	double floor;
	int floor_pairs;
	double margin;
	double detectable;
	char *verdict;
	char *why;
	struct variance variance;
};

/** struct report_value - what one boot gave; unused values are those of void pairs */
struct report_value {
	bool have;
	bool used;
	double value;
};

/**
 * struct report - an experiment as the report needs it
 * @data_dir: of the daemon, for the command that recomputes
 * @state: "done", …
 * @aa: both arms are one build
 * @spec: NULL when this labd cannot read it, @spec_problem says why then
 * @clock: what the machine's times are; "" before it was powered on
 * @deterministic: rounds differ by their seeds alone
 * @cells: [metric][scenario][arm]
 * @values: [metric][scenario][arm][round - 1]
 */
struct report {
	sqlite3 *db;
	int64_t id;
	const char *data_dir;
	FILE *out;
	char *state;
	bool aa;
	struct spec *spec;
	struct problem spec_problem;
	char *arms[SPEC_MAX_ARMS];
	size_t n_arms;
	char *scenarios[SPEC_MAX_SCENARIOS];
	size_t n_scenarios;
	struct report_metric metrics[SPEC_MAX_METRICS];
	size_t n_metrics;
	size_t rounds;
	char *clock;
	bool deterministic;
	struct report_cell *cells;
	struct report_value *values;
};

/* report_load.c */
int report_load(struct report *report);
void report_free(struct report *report);
struct report_cell *report_cell(const struct report *report, size_t metric, size_t scenario,
				size_t arm);
struct report_value *report_values(const struct report *report, size_t metric, size_t scenario,
				   size_t arm);
bool report_is_member(const struct report *report, size_t metric, size_t scenario, size_t arm);

/* report_text.c */
typedef int (*report_row_fn)(struct report *report, sqlite3_stmt *stmt);
void report_title(struct report *report, const char *title);
void report_put(struct report *report, const char *text);
void report_wrap(struct report *report, int indent, const char *text);
void report_field(struct report *report, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const char *report_column(sqlite3_stmt *stmt, int column);
double report_double(sqlite3_stmt *stmt, int column);
int report_name_width(char *const *names, size_t n, int min);
void report_clock(struct report *report, const struct report_metric *metric);
int report_rows(struct report *report, const char *sql, report_row_fn fn, size_t *ret_rows);
int report_list(struct report *report, const char *sql, report_row_fn fn, const char *none);

/* report_table.c */
bool report_is_tail(const struct report_metric *metric);
void report_scale(const struct report *report, size_t metric, bool all, struct num_scale *scale);
void report_metric_title(struct report *report, const struct report_metric *metric,
			 const struct num_scale *scale);

int report_column_width(const struct report *report, size_t metric, size_t arm,
			const struct num_scale *scale);

/* The sections, in their order: 0 or negative errno. */
int report_verdicts(struct report *report);
int report_tables(struct report *report);
void report_comparisons(struct report *report);
void report_tails(struct report *report);
void report_variance(struct report *report);
int report_paired(struct report *report);
int report_all_values(struct report *report);
int report_boots(struct report *report);
int report_losses(struct report *report);
int report_environment(struct report *report);
int report_builds(struct report *report);
int report_recompute(struct report *report);

/* Other formats: 0 or negative errno. */
int report_csv(struct report *report);
int report_benchstat(struct report *report);

#endif
