// SPDX-License-Identifier: GPL-2.0-only
/* Reads what the report's tables show. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "http/report.h"
#include "store/db.h"

static int text(sqlite3_stmt *stmt, int column, char **ret_text)
{
	char *copy = strdup(report_column(stmt, column));

	if (!copy)
		return -ENOMEM;
	*ret_text = copy;
	return 0;
}

static int add_arm(struct report *report, sqlite3_stmt *stmt)
{
	if (report->n_arms == SPEC_MAX_ARMS)
		return -E2BIG;
	return text(stmt, 0, &report->arms[report->n_arms++]);
}

static int add_scenario(struct report *report, sqlite3_stmt *stmt)
{
	if (report->n_scenarios == SPEC_MAX_SCENARIOS)
		return -E2BIG;
	return text(stmt, 0, &report->scenarios[report->n_scenarios++]);
}

static int add_metric(struct report *report, sqlite3_stmt *stmt)
{
	struct report_metric *metric = &report->metrics[report->n_metrics];

	if (report->n_metrics == SPEC_MAX_METRICS)
		return -E2BIG;
	report->n_metrics++;
	metric->better = sqlite3_column_int(stmt, 4);
	metric->primary = sqlite3_column_int(stmt, 5);
	return text(stmt, 0, &metric->name) ?: text(stmt, 1, &metric->unit) ?:
	       text(stmt, 2, &metric->agg) ?: text(stmt, 3, &metric->not_a_result);
}

static int add_experiment(struct report *report, sqlite3_stmt *stmt)
{
	const char *spec = report_column(stmt, 4);
	int ret;

	report->deterministic = sqlite3_column_int(stmt, 1);
	report->aa = !strcmp(report_column(stmt, 3), "aa");
	ret = text(stmt, 0, &report->clock) ?: text(stmt, 2, &report->state);
	if (ret)
		return ret;
	ret = spec_parse(spec, strlen(spec), &report->spec, &report->spec_problem);
	return ret == -ENOMEM ? ret : 0;
}

static bool find(char *const *names, size_t n, const char *name, size_t *ret_index)
{
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(names[i], name)) {
			*ret_index = i;
			return true;
		}
	}
	return false;
}

/* The first three columns of a row name a place: metric, scenario, arm. */
static bool place(const struct report *report, sqlite3_stmt *stmt, size_t *metric, size_t *scenario,
		  size_t *arm)
{
	const char *name = report_column(stmt, 0);

	for (*metric = 0; *metric < report->n_metrics; (*metric)++) {
		if (!strcmp(report->metrics[*metric].name, name))
			break;
	}
	return *metric < report->n_metrics &&
	       find(report->scenarios, report->n_scenarios, report_column(stmt, 1), scenario) &&
	       find(report->arms, report->n_arms, report_column(stmt, 2), arm);
}

static int add_result(struct report *report, sqlite3_stmt *stmt)
{
	size_t metric, scenario, arm;
	struct report_cell *cell;

	if (!place(report, stmt, &metric, &scenario, &arm))
		return 0;
	cell = report_cell(report, metric, scenario, arm);
	cell->n = sqlite3_column_int(stmt, 3);
	cell->median = sqlite3_column_double(stmt, 4);
	cell->n_events = sqlite3_column_int64(stmt, 5);
	cell->low = report_double(stmt, 6);
	cell->high = report_double(stmt, 7);
	cell->variance = (struct variance){
		.boots = (size_t)sqlite3_column_int64(stmt, 8),
		.runs = (size_t)sqlite3_column_int64(stmt, 9),
		.icc = report_double(stmt, 10),
		.f = report_double(stmt, 11),
		.p = report_double(stmt, 12),
	};
	return 0;
}

static int add_compare(struct report *report, sqlite3_stmt *stmt)
{
	size_t metric, scenario, arm;
	struct report_cell *cell;

	if (!place(report, stmt, &metric, &scenario, &arm))
		return 0;
	cell = report_cell(report, metric, scenario, arm);
	cell->has_delta = sqlite3_column_type(stmt, 3) != SQLITE_NULL;
	cell->delta = sqlite3_column_double(stmt, 3);
	cell->n_pairs = sqlite3_column_int(stmt, 4);
	cell->n_lower = sqlite3_column_int(stmt, 5);
	cell->has_pairs = sqlite3_column_type(stmt, 6) != SQLITE_NULL;
	cell->n_equal = sqlite3_column_int(stmt, 6);
	cell->n_higher = sqlite3_column_int(stmt, 7);
	cell->has_paired = sqlite3_column_type(stmt, 8) != SQLITE_NULL;
	cell->paired_delta = sqlite3_column_double(stmt, 8);
	cell->ratio_min = sqlite3_column_double(stmt, 9);
	cell->ratio_max = sqlite3_column_double(stmt, 10);
	cell->in_family = sqlite3_column_int(stmt, 11);
	cell->p = report_double(stmt, 12);
	cell->p_floor = report_double(stmt, 13);
	cell->p_holm = report_double(stmt, 14);
	cell->paired_p = report_double(stmt, 15);
	cell->paired_p_floor = report_double(stmt, 16);
	cell->shift_level = report_double(stmt, 17);
	cell->change_low = report_double(stmt, 18);
	cell->change_high = report_double(stmt, 19);
	cell->floor = report_double(stmt, 20);
	cell->floor_pairs = sqlite3_column_int(stmt, 21);
	cell->margin = report_double(stmt, 22);
	cell->detectable = report_double(stmt, 23);
	return text(stmt, 24, &cell->verdict) ?: text(stmt, 25, &cell->why);
}

static int add_value(struct report *report, sqlite3_stmt *stmt)
{
	size_t metric, scenario, arm, round = (size_t)sqlite3_column_int64(stmt, 3);
	struct report_value *value;

	if (round < 1 || round > report->rounds || !place(report, stmt, &metric, &scenario, &arm))
		return 0;
	value = report_values(report, metric, scenario, arm) + round - 1;
	value->have = true;
	value->value = sqlite3_column_double(stmt, 4);
	value->used = sqlite3_column_int(stmt, 5);
	return 0;
}

static size_t n_cells(const struct report *report)
{
	return report->n_metrics * report->n_scenarios * report->n_arms;
}

/**
 * report_load() - read arms, scenarios, metrics, results and values
 * @report: has @db and @id, and is released by report_free() whatever this returns
 *
 * Return: 0, -ENOENT without such an experiment, or negative errno.
 */
int report_load(struct report *report)
{
	static const struct report_cell empty = {
		.low = NAN,
		.high = NAN,
		.p = NAN,
		.p_floor = NAN,
		.p_holm = NAN,
		.paired_p = NAN,
		.paired_p_floor = NAN,
		.shift_level = NAN,
		.change_low = NAN,
		.change_high = NAN,
		.floor = NAN,
		.margin = NAN,
		.detectable = NAN,
	};
	size_t n, found = 0;
	int64_t rounds;
	int ret;

	ret = db_get_int(report->db, &rounds,
			 "SELECT coalesce(max(round), 0) FROM slot WHERE experiment = ?1", "i",
			 report->id) ?:
	      report_rows(report,
			  "SELECT json_extract(machine_json, '$.clock'),"
			  " json_extract(machine_json, '$.deterministic'), state, kind, spec"
			  " FROM experiment WHERE id = ?1",
			  add_experiment, &found) ?:
	      (found ? 0 : -ENOENT) ?:
	      report_rows(report, "SELECT name FROM arm WHERE experiment = ?1 ORDER BY position",
			  add_arm, NULL) ?:
	      report_rows(report, "SELECT name FROM scenario WHERE experiment = ?1 ORDER BY position",
			  add_scenario, NULL) ?:
	      report_rows(report,
			  "SELECT name, unit, agg, not_a_result, better, is_primary FROM metric "
			  "WHERE experiment = ?1 ORDER BY is_primary DESC, position",
			  add_metric, NULL);
	if (ret)
		return ret;
	if (rounds > SPEC_MAX_ROUNDS)
		return -E2BIG;
	report->rounds = (size_t)rounds;
	n = n_cells(report);
	report->cells = calloc(n + 1, sizeof(*report->cells));
	report->values = calloc(n * report->rounds + 1, sizeof(*report->values));
	if (!report->cells || !report->values)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		report->cells[i] = empty;
	return report_rows(report,
			   "SELECT metric, scenario, arm, n, median, n_events, low, high,"
			   " json_extract(variance_json, '$.boots'),"
			   " json_extract(variance_json, '$.runs'),"
			   " json_extract(variance_json, '$.icc'),"
			   " json_extract(variance_json, '$.f'),"
			   " json_extract(variance_json, '$.p') FROM v_result "
			   "WHERE experiment = ?1",
			   add_result, NULL) ?:
	       report_rows(report,
			   "SELECT metric, scenario, arm, delta, n_pairs, n_lower, n_equal,"
			   " n_higher, paired_delta,"
			   " (SELECT min(value) FROM json_each(ratios_json)),"
			   " (SELECT max(value) FROM json_each(ratios_json)), in_family, p, p_floor,"
			   " p_holm, paired_p, paired_p_floor, shift_level, change_low, change_high,"
			   " floor, floor_pairs, margin, detectable, verdict, why FROM v_compare "
			   "WHERE experiment = ?1",
			   add_compare, NULL) ?:
	       report_rows(report,
			   "SELECT metric, scenario, arm, round, value, used FROM v_boot_sample "
			   "WHERE experiment = ?1",
			   add_value, NULL);
}

/** report_free() - release what report_load() read */
void report_free(struct report *report)
{
	for (size_t i = 0; i < report->n_arms; i++)
		free(report->arms[i]);
	for (size_t i = 0; i < report->n_scenarios; i++)
		free(report->scenarios[i]);
	for (size_t i = 0; i < report->n_metrics; i++) {
		free(report->metrics[i].name);
		free(report->metrics[i].unit);
		free(report->metrics[i].agg);
		free(report->metrics[i].not_a_result);
	}
	for (size_t i = 0; report->cells && i < n_cells(report); i++) {
		free(report->cells[i].verdict);
		free(report->cells[i].why);
	}
	spec_free(report->spec);
	free(report->state);
	free(report->clock);
	free(report->cells);
	free(report->values);
}

/** report_cell() - an arm's result */
struct report_cell *report_cell(const struct report *report, size_t metric, size_t scenario,
				size_t arm)
{
	return &report->cells[(metric * report->n_scenarios + scenario) * report->n_arms + arm];
}

/** report_values() - an arm's values, one for each round */
struct report_value *report_values(const struct report *report, size_t metric, size_t scenario,
				   size_t arm)
{
	size_t cell = (metric * report->n_scenarios + scenario) * report->n_arms + arm;

	return &report->values[cell * report->rounds];
}

/**
 * report_is_member() - does the plan promise a verdict for an arm's comparison with the base?
 *
 * What was judged says so itself; before that it is the plan's word.
 */
bool report_is_member(const struct report *report, size_t metric, size_t scenario, size_t arm)
{
	const struct spec *spec = report->spec;

	if (report_cell(report, metric, scenario, arm)->in_family)
		return true;
	return spec && arm == spec->primary_arm && spec->primary_scenario[scenario] &&
	       report->metrics[metric].primary;
}
