// SPDX-License-Identifier: GPL-2.0-only
/* /api/v1/experiments/{id}/results: everything behind the tables of a page. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "base/util.h"
#include "http/request.h"
#include "plan/family.h"
#include "store/db.h"

/* Each list that is cut has its whole length beside it. */
#define LOSS_ROWS_MAX "1000"
#define ENV_ROWS_MAX "100"

/* clang-format off */
/* Parts of the answer; ?1 is the experiment. Rows stay in the order of the plan. */
static const struct {
	const char *name;
	const char *sql;
} parts[] = {
	{"experiment", "SELECT id FROM experiment WHERE id = ?1"},
	{"kind", "SELECT json_quote(kind) FROM experiment WHERE id = ?1"},
	{"state", "SELECT json_quote(state) FROM experiment WHERE id = ?1"},
	{"emulated", "SELECT " SQL_BOOL("emulated") " FROM experiment WHERE id = ?1"},
	{"clock", "SELECT coalesce(json_quote(json_extract(machine_json, '$.clock')), 'null')"
	 " FROM experiment WHERE id = ?1"},
	{"deterministic", "SELECT iif(json_extract(machine_json, '$.deterministic'), 'true', 'false')"
	 " FROM experiment WHERE id = ?1"},
	{"spread", "SELECT iif(json_extract(machine_json, '$.deterministic'), '\"sensitivity\"', '\"noise\"')"
	 " FROM experiment WHERE id = ?1"},
	{"results",
	 "SELECT json_group_array(json_object('scenario', v.scenario, 'metric', v.metric, 'unit', v.unit,"
	 " 'arm', v.arm, 'n', v.n, 'median', v.median, 'min', v.min, 'max', v.max,"
	 " 'n_events', v.n_events, 'low', v.low, 'high', v.high,"
	 " 'values', json(v.values_json), 'variance', json(v.variance_json)))"
	 " FROM (SELECT v.* FROM v_result v"
	 "  JOIN metric m ON m.experiment = v.experiment AND m.name = v.metric"
	 "  JOIN scenario s ON s.experiment = v.experiment AND s.name = v.scenario"
	 "  JOIN arm a ON a.experiment = v.experiment AND a.name = v.arm"
	 "  WHERE v.experiment = ?1 ORDER BY m.position, s.position, a.position) AS v"},
	{"compare",
	 "SELECT json_group_array(json_object('scenario', scenario, 'metric', metric, 'base', base,"
	 " 'arm', arm, 'delta', delta, 'n_pairs', n_pairs, 'n_lower', n_lower,"
	 " 'n_equal', n_equal, 'n_higher', n_higher, 'paired_delta', paired_delta,"
	 " 'ratios', json(ratios_json), 'in_family', " SQL_BOOL("in_family") ","
	 " 'family_size', family_size, 'alpha', alpha, 'test', test, 'p', p, 'p_floor', p_floor,"
	 " 'p_holm', p_holm, 'paired_p', paired_p, 'paired_p_floor', paired_p_floor,"
	 " 'shift', shift, 'shift_low', shift_low, 'shift_high', shift_high,"
	 " 'shift_level', shift_level, 'change_low', change_low, 'change_high', change_high,"
	 " 'floor', floor, 'floor_pairs', floor_pairs, 'margin', margin, 'no_larger', no_larger,"
	 " 'detectable', detectable, 'verdict', verdict, 'why', why))"
	 " FROM v_compare WHERE experiment = ?1"},
	{"samples",
	 "SELECT json_group_array(json_object('run', run, 'boot', boot, 'round', round,"
	 " 'arm', arm, 'scenario', scenario, 'metric', metric, 'value', value, 'low', low,"
	 " 'high', high, 'n_events', n_events, 'used', " SQL_BOOL("used") ", 'note', note))"
	 " FROM v_sample WHERE experiment = ?1"},
	{"void_pairs",
	 "SELECT json_group_array(json_object('round', round, 'scenario', scenario, 'arm', arm,"
	 " 'reason', reason)) FROM void_pair WHERE experiment = ?1"},
	{"losses",
	 "SELECT json_group_array(json_object('run', run, 'round', round, 'arm', arm,"
	 " 'scenario', scenario, 'source', source, 'cpu', cpu, 'lost', lost, 'cause', cause))"
	 " FROM (SELECT l.*, v.round, v.arm, v.scenario FROM v_loss l JOIN v_run v ON v.run = l.run"
	 "  WHERE l.experiment = ?1 ORDER BY l.run, l.source, l.cpu, l.from_ts LIMIT " LOSS_ROWS_MAX ")"},
	{"losses_total", "SELECT count(*) FROM v_loss WHERE experiment = ?1"},
	{"rings", "SELECT json_object('runs', count(*), 'complete', coalesce(sum(complete = 1), 0),"
	 " 'written', coalesce(sum(written), 0), 'read', coalesce(sum(read), 0),"
	 " 'lost', coalesce(sum(lost), 0), 'incomplete', json_group_array(run)"
	 "   FILTER (WHERE complete IS NOT 1))"
	 " FROM (SELECT v.run, v.complete, sum(g.written) AS written, sum(g.read) AS read,"
	 "  sum(g.lost) AS lost FROM v_run v LEFT JOIN ring g ON g.run = v.run"
	 "  WHERE v.experiment = ?1 AND v.capture IS NOT NULL AND v.state <> 'captured'"
		"  GROUP BY v.run)"},
	{"boots_bad",
	 "SELECT json_group_array(json_object('boot', b.id, 'round', s.round, 'arm', s.arm,"
	 " 'attempt', b.attempt, 'state', b.state, 'detail', b.detail,"
	 " 'console_lines', b.console_lines)) FROM boot b JOIN slot s ON s.id = b.slot"
	 " WHERE s.experiment = ?1 AND b.state NOT IN ('ok', 'running')"},
	{"environments",
	 "SELECT json_group_array(json_object('key', env_key, 'boots', n, 'environment', json(env_json)))"
	 " FROM (SELECT b.env_key, count(*) AS n, b.env_json FROM slot s JOIN boot b ON b.slot = s.id"
	 "  WHERE s.experiment = ?1 AND b.env_key IS NOT NULL AND json_valid(b.env_json)"
	 "  GROUP BY b.env_key ORDER BY n DESC, b.env_key LIMIT " ENV_ROWS_MAX ")"},
	{"environments_total",
	 "SELECT count(DISTINCT b.env_key) FROM slot s JOIN boot b ON b.slot = s.id"
	 " WHERE s.experiment = ?1"},
	{"origin", "SELECT coalesce(json(origin_json), 'null') FROM experiment WHERE id = ?1"},
	{"measuring",
	 "SELECT json_object('measure_ns', (SELECT coalesce(sum(measure_ns), 0) FROM v_run"
	 "   WHERE experiment = ?1),"
	 " 'wall_ns', (SELECT ended - started FROM experiment WHERE id = ?1),"
	 " 'boot_ns', coalesce(sum(b.hello - b.started), 0),"
	 " 'ship_ns', (SELECT coalesce(sum(ship_ns), 0) FROM run r JOIN slot s ON s.id = r.slot"
	 "   WHERE s.experiment = ?1),"
	 " 'store_ns', (SELECT coalesce(sum(ingest_ns), 0) FROM run r JOIN slot s ON s.id = r.slot"
	 "   WHERE s.experiment = ?1))"
	 " FROM slot s JOIN boot b ON b.slot = s.id WHERE s.experiment = ?1"},
};
/* clang-format on */

/* By the plan's own code, which knows the defaults; null for a spec that this labd cannot read. */
static int write_family(sqlite3 *db, int64_t experiment, FILE *out)
{
	struct problem problem = {0};
	struct spec *spec = NULL;
	json_t *family = NULL;
	char *text;
	int ret;

	ret = db_get_text(db, &text, "SELECT spec FROM experiment WHERE id = ?1", "i", experiment);
	if (ret)
		return ret;
	if (!spec_parse(text, strlen(text), &spec, &problem))
		family = family_to_json(spec);
	spec_free(spec);
	free(text);
	text = family ? json_dumps(family, JSON_COMPACT) : NULL;
	fprintf(out, ",\"family\":%s", text ? text : "null");
	free(text);
	json_decref(family);
	return 0;
}

static int write_parts(sqlite3 *db, int64_t experiment, FILE *out)
{
	char *text;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		ret = db_get_text(db, &text, parts[i].sql, "i", experiment);
		if (ret)
			return ret;
		fprintf(out, "%s\"%s\":%s", i ? "," : "{", parts[i].name, text);
		free(text);
	}
	ret = write_family(db, experiment, out);
	fputs("}", out);
	return ret;
}

static int load(sqlite3 *db, int64_t experiment, char **ret_text)
{
	char *text = NULL;
	size_t length;
	FILE *out;
	int ret;

	out = open_memstream(&text, &length);
	if (!out)
		return -ENOMEM;
	/* One transaction: the parts are of one moment. */
	ret = db_run(db, "BEGIN", "");
	if (!ret) {
		ret = write_parts(db, experiment, out);
		db_rollback(db);
	}
	if (fclose(out) && !ret)
		ret = -ENOMEM;
	if (ret)
		free(text);
	else
		*ret_text = text;
	return ret;
}

static const char final_sql[] =
	"SELECT state NOT IN ('queued', 'running') FROM experiment WHERE id = ?1";

/** experiments_results() - GET /api/v1/experiments/{id}/results; ended ones carry an ETag */
void experiments_results(struct request *req)
{
	char hash[SHA256_HEX_LEN + 1], etag[24], *text = NULL;
	int64_t final;
	int ret;

	ret = db_get_int(req->http->db, &final, final_sql, "i", req->id);
	if (!ret)
		ret = load(req->http->db, req->id, &text);
	if (ret || !final) {
		respond_row(req, ret, text, "experiment");
		return;
	}
	sha256_hex(text, strlen(text), hash);
	snprintf(etag, sizeof(etag), "\"%.16s\"", hash);
	if (request_has_etag(req, etag)) {
		free(text);
		respond_not_modified(req);
	} else {
		respond_json_text(req, MHD_HTTP_OK, text);
	}
	respond_header(req, MHD_HTTP_HEADER_ETAG, etag);
}
