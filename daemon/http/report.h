/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_HTTP_REPORT_H
#define LABD_HTTP_REPORT_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "plan/spec.h"

/* The text report; shared by report*.c only. */

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
 * struct report_cell - an arm's result for a scenario and a metric
 * @n: boots behind @median, 0 when there is none
 * @n_events: events behind a boot's value (median of the boots)
 * @has_delta: @delta compares the median with that of the first arm
 * @has_pairs: the pairs were counted: @n_pairs, in how many the arm is lower, equal, higher
 * @has_paired: @paired_delta, @ratio_min and @ratio_max are over the ratios of the rounds
 */
struct report_cell {
	int n;
	double median;
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
};

/** struct report_value - what one boot gave; unused values are those of void pairs */
struct report_value {
	bool have;
	bool used;
	double value;
};

/**
 * struct report - an experiment as the report needs it
 * @clock: what the machine's times are; "" before it was powered on
 * @deterministic: rounds differ by their seeds alone
 * @cells: [metric][scenario][arm]
 * @values: [metric][scenario][arm][round - 1]
 */
struct report {
	sqlite3 *db;
	int64_t id;
	FILE *out;
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

/* report_text.c */
typedef int (*report_row_fn)(struct report *report, sqlite3_stmt *stmt);
void report_title(struct report *report, const char *title);
void report_put(struct report *report, const char *text);
void report_wrap(struct report *report, int indent, const char *text);
void report_field(struct report *report, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const char *report_column(sqlite3_stmt *stmt, int column);
int report_name_width(char *const *names, size_t n, int min);
void report_clock(struct report *report, const struct report_metric *metric);
int report_rows(struct report *report, const char *sql, report_row_fn fn, size_t *ret_rows);

/* The sections, in their order: 0 or negative errno. */
int report_head(struct report *report);
int report_tables(struct report *report);
int report_paired(struct report *report);
int report_all_values(struct report *report);
int report_boots(struct report *report);
int report_losses(struct report *report);
int report_environment(struct report *report);
int report_builds(struct report *report);
int report_recompute(struct report *report, const char *data_dir);

#endif
