// SPDX-License-Identifier: GPL-2.0-only
/*
 * /api/v1/experiments/{id}/ecdf: how a metric's raw values are distributed, run by run. Boots are
 * never pooled: a curve is one run's.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "http/request.h"
#include "plan/sample.h"
#include "stats/ecdf.h"
#include "stats/percentile.h"
#include "store/db.h"

#define CURVES_MAX 1000
#define TIME_MAX_S 20

/**
 * struct ecdf - one answer in the making
 * @events: opened with the first run that needs it
 * @until: of the monotonic clock, ns; by then the answer must be there
 */
struct ecdf {
	struct request *req;
	char *metric_name;
	char *scenario;
	struct spec *spec;
	const struct spec_metric *metric;
	struct events_db *events;
	int64_t until;
	FILE *out;
};

/*
 * The functions below return 0, -EINVAL when they have set the answer, or another negative errno
 * that the caller answers with.
 */

static int take_name(struct request *req, const char *key, char **ret_name)
{
	if (request_argument(req, key, ROUTE_NAME_MAX, ret_name))
		return -EINVAL;
	if (*ret_name)
		return 0;
	respond_error(req, MHD_HTTP_BAD_REQUEST, key, "is needed: ?metric=NAME&scenario=NAME");
	return -EINVAL;
}

static int load_spec(struct ecdf *ecdf)
{
	struct request *req = ecdf->req;
	struct problem problem = {0};
	char *text = NULL;
	int ret;

	ret = db_get_text(req->db, &text, "SELECT spec FROM experiment WHERE id = ?1", "i",
			  req->id);
	if (ret) {
		respond_row(req, ret, NULL, "experiment");
		return -EINVAL;
	}
	if (spec_parse(text, strlen(text), &ecdf->spec, &problem)) {
		respond_error(req, MHD_HTTP_CONFLICT, problem.key,
			      "this labd refuses the stored spec: %.200s", problem.detail);
		ret = -EINVAL;
	}
	free(text);
	return ret;
}

static int find_metric(struct ecdf *ecdf)
{
	const struct spec *spec = ecdf->spec;
	struct request *req = ecdf->req;
	long long id = req->id;
	size_t m, s;

	for (m = 0; m < spec->n_metrics && strcmp(spec->metrics[m].name, ecdf->metric_name); m++)
		;
	for (s = 0; s < spec->n_scenarios && strcmp(spec->scenarios[s].name, ecdf->scenario); s++)
		;
	if (m == spec->n_metrics) {
		respond_error(req, MHD_HTTP_NOT_FOUND, "metric", "experiment %lld has no metric %s",
			      id, ecdf->metric_name);
		return -EINVAL;
	}
	if (s == spec->n_scenarios) {
		respond_error(req, MHD_HTTP_NOT_FOUND, "scenario",
			      "experiment %lld has no scenario %s", id, ecdf->scenario);
		return -EINVAL;
	}
	ecdf->metric = &spec->metrics[m];
	if (sample_has_raw(ecdf->metric))
		return 0;
	respond_error(req, 422, "metric",
		      "%s is one number per run (%s): there is no distribution to show",
		      ecdf->metric_name, metric_agg_name(ecdf->metric->agg));
	return -EINVAL;
}

static int open_events(struct ecdf *ecdf)
{
	struct request *req = ecdf->req;
	char path[PATH_MAX];
	int ret;

	if (ecdf->events || ecdf->metric->source == METRIC_WORKLOAD)
		return 0;
	if (snprintf(path, sizeof(path), "%s/events/%lld.db", req->http->data_dir,
		     (long long)req->id) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	ret = events_open_reader(path, &ecdf->events);
	if (ret == -ENOENT) {
		respond_error(req, MHD_HTTP_NOT_FOUND, NULL,
			      "the raw events are gone: there is no file events/%lld.db",
			      (long long)req->id);
		ret = -EINVAL;
	}
	return ret;
}

static void write_points(FILE *out, const int64_t *sorted, size_t n)
{
	struct ecdf_point points[ECDF_MAX_POINTS];
	size_t count = ecdf_thin(sorted, n, points);

	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s[%lld,%.12g]", i ? "," : "", (long long)points[i].value,
			(double)points[i].rank / (double)n);
}

/* @values are sorted here. Returns a negative errno or 0. */
static int write_curve(struct ecdf *ecdf, sqlite3_stmt *stmt, int64_t *values, size_t n, bool lossy)
{
	int64_t p999 = 0;
	json_t *curve;
	bool have;

	sort_i64(values, n);
	/* As the run's sample has it: none of few values, and none where some are missing. */
	have = !lossy && n >= P999_MIN_N && !percentile_i64(values, n, 999, &p999);
	curve = json_pack("{s:s, s:i, s:I, s:I, s:b, s:I, s:o, s:b}", "arm",
			  (const char *)sqlite3_column_text(stmt, 0), "round",
			  sqlite3_column_int(stmt, 1), "run",
			  (json_int_t)sqlite3_column_int64(stmt, 2), "boot",
			  (json_int_t)sqlite3_column_int64(stmt, 3), "used",
			  sqlite3_column_int(stmt, 4), "n", (json_int_t)n, "p999",
			  have ? json_integer(p999) : json_null(), "lossy", (int)lossy);
	if (!curve)
		return -ENOMEM;
	fputc('{', ecdf->out);
	json_dumpf(curve, ecdf->out, JSON_COMPACT | JSON_EMBED);
	fputs(",\"points\":[", ecdf->out);
	write_points(ecdf->out, values, n);
	fputs("]}", ecdf->out);
	json_decref(curve);
	return 0;
}

static int add_run(struct ecdf *ecdf, sqlite3_stmt *stmt)
{
	json_t *done = json_loads((const char *)sqlite3_column_text(stmt, 5) ?: "", 0, NULL);
	bool lossy = ecdf->metric->source != METRIC_WORKLOAD &&
		     sample_lossy(done, sqlite3_column_int64(stmt, 6));
	struct sample_raw raw = {0};
	int ret;

	ret = open_events(ecdf);
	ret = ret
		      ?: sample_raw(ecdf->events, sqlite3_column_int64(stmt, 2), ecdf->metric,
				    json_object_get(done, "workload"), &raw);
	if (ret == -ENODATA)
		ret = 0;
	ret = ret ?: write_curve(ecdf, stmt, raw.values, raw.n, lossy);
	free(raw.values);
	json_decref(done);
	return ret;
}

static const char runs_sql[] =
	"SELECT v.arm, v.round, v.run, v.boot, v.used, r.done_json,"
	" (SELECT count(*) FROM loss l WHERE l.run = v.run)"
	" FROM v_sample v CROSS JOIN run r ON r.id = v.run"
	" JOIN arm a ON a.experiment = v.experiment AND a.name = v.arm"
	" WHERE v.experiment = ?1 AND v.metric = ?2 AND v.scenario = ?3 AND r.state = 'ok'"
	" ORDER BY a.position, v.round, v.run";

static int write_curves(struct ecdf *ecdf)
{
	struct request *req = ecdf->req;
	sqlite3_stmt *stmt;
	size_t n = 0;
	int ret, rc;

	ret = db_prepare(req->db, &stmt, runs_sql, "itt", req->id, ecdf->metric_name,
			 ecdf->scenario);
	if (ret)
		return ret;
	while (!ret && (rc = sqlite3_step(stmt)) != SQLITE_DONE) {
		if (rc != SQLITE_ROW) {
			ret = db_error(req->db, "runs of an experiment");
		} else if (n == CURVES_MAX || mono_ns() > ecdf->until) {
			respond_error(req, 422, "scenario",
				      "there is too much to show: at most %d runs, and what can be "
				      "read in %d s",
				      CURVES_MAX, TIME_MAX_S);
			ret = -EINVAL;
		} else {
			fputs(n++ ? "," : "", ecdf->out);
			ret = add_run(ecdf, stmt);
		}
	}
	sqlite3_finalize(stmt);
	return ret;
}

static int write_answer(struct ecdf *ecdf)
{
	json_t *head = json_pack("{s:s, s:s, s:s}", "metric", ecdf->metric_name, "unit",
				 ecdf->metric->unit, "scenario", ecdf->scenario);
	int ret;

	if (!head)
		return -ENOMEM;
	fputc('{', ecdf->out);
	json_dumpf(head, ecdf->out, JSON_COMPACT | JSON_EMBED);
	json_decref(head);
	fputs(",\"curves\":[", ecdf->out);
	ret = write_curves(ecdf);
	fputs("]}", ecdf->out);
	return ret;
}

static int make_answer(struct ecdf *ecdf, char **ret_text)
{
	size_t length;
	int ret;

	ecdf->out = open_memstream(ret_text, &length);
	if (!ecdf->out)
		return -ENOMEM;
	ret = write_answer(ecdf);
	if (fclose(ecdf->out) && !ret)
		ret = -ENOMEM;
	return ret;
}

/** experiments_ecdf() - GET /api/v1/experiments/{id}/ecdf?metric=M&scenario=S; a slow one */
void experiments_ecdf(struct request *req)
{
	struct ecdf ecdf = {.req = req, .until = mono_ns() + TIME_MAX_S * 1000000000ll};
	char *text = NULL;
	int ret;

	ret = load_spec(&ecdf) ?:
	      take_name(req, "metric", &ecdf.metric_name) ?:
	      take_name(req, "scenario", &ecdf.scenario) ?:
	      find_metric(&ecdf) ?:
	      make_answer(&ecdf, &text);
	if (!ret) {
		respond_json_text(req, MHD_HTTP_OK, text);
	} else {
		free(text);
		if (ret != -EINVAL)
			respond_errno(req, ret, "reading the events");
	}
	events_close(ecdf.events);
	spec_free(ecdf.spec);
	free(ecdf.metric_name);
	free(ecdf.scenario);
}
