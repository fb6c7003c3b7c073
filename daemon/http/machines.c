// SPDX-License-Identifier: GPL-2.0-only
/* /api/v1/machines: the drivers, and what experiments saw of their machines. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/util.h"
#include "http/request.h"
#include "machine/machine.h"
#include "store/db.h"

/* clang-format off */
/* What was imported ran on a machine of elsewhere. */
#define HERE "WITH here AS (SELECT * FROM experiment WHERE machine = ?1 AND origin_json IS NULL) "

static const char seen_sql[] = HERE
	"SELECT json_object('experiments', count(*), 'emulated', json((SELECT"
	" " SQL_BOOL("emulated") " FROM here WHERE emulated IS NOT NULL"
	"   ORDER BY id DESC LIMIT 1)),"
	" 'description', json((SELECT machine_json FROM here"
	"   WHERE machine_json IS NOT NULL ORDER BY id DESC LIMIT 1)),"
	" 'boots', json((SELECT json_group_object(state, n) FROM (SELECT b.state, count(*) AS n"
	"   FROM here e JOIN slot s ON s.experiment = e.id JOIN boot b ON b.slot = s.id"
	"   GROUP BY b.state)))) FROM here";

/* Lists of one machine, by their names in the answer. */
static const char *const detail_sql[][2] = {
	{"environments", HERE
	"SELECT json_group_array(json_object('key', key, 'experiments', n,"
	" 'last_seen', " SQL_TIME("seen") ", 'environment', json(env)))"
	" FROM (SELECT b.env_key AS key, count(DISTINCT e.id) AS n, max(b.started) AS seen,"
	"   b.env_json AS env FROM here e JOIN slot s ON s.experiment = e.id"
	"   JOIN boot b ON b.slot = s.id WHERE b.env_key IS NOT NULL"
	"   GROUP BY b.env_key ORDER BY seen DESC LIMIT 50)"},
	{"floors",
	"SELECT json_group_array(json_object('env_key', env_key, 'scenario', scenario,"
	" 'workload', workload, 'args', args, 'metric', metric, 'unit', unit, 'floor', floor,"
	" 'n_pairs', n_pairs, 'n_experiments', n_experiments))"
	" FROM (SELECT * FROM v_floor WHERE machine = ?1"
	"   ORDER BY env_key, scenario, metric LIMIT 500)"},
	{"recent_boots", HERE
	"SELECT json_group_array(json_object('boot', boot, 'experiment', experiment,"
	" 'round', round, 'arm', arm, 'state', state, 'detail', detail,"
	" 'started', " SQL_TIME("started") ", 'took_ms', (ended - started) / 1000000))"
	" FROM (SELECT b.id AS boot, s.experiment, s.round, s.arm, b.state, b.detail, b.started,"
	"   b.ended FROM boot b CROSS JOIN slot s ON s.id = b.slot"
	"   CROSS JOIN here e ON e.id = s.experiment"
	"   ORDER BY b.id DESC LIMIT 100)"},
};
/* clang-format on */

static int load(sqlite3 *db, const char *sql, const char *machine, json_t **ret_value)
{
	char *text = NULL;
	int ret;

	ret = db_get_text(db, &text, sql, "t", machine);
	if (ret)
		return ret;
	*ret_value = json_loads(text, 0, NULL);
	free(text);
	return *ret_value ? 0 : -EBADMSG;
}

static int machine_json(sqlite3 *db, const struct machine_ops *ops, json_t **ret_machine)
{
	json_t *machine;
	int ret;

	ret = load(db, seen_sql, ops->name, &machine);
	if (ret)
		return ret;
	if (json_object_set_new(machine, "name", json_string(ops->name)) ||
	    json_object_set_new(machine, "driver_version", json_integer(ops->version))) {
		json_decref(machine);
		return -ENOMEM;
	}
	*ret_machine = machine;
	return 0;
}

/** machines_list() - GET /api/v1/machines */
void machines_list(struct request *req)
{
	const struct machine_ops *const *list;
	json_t *machines = json_array(), *machine;
	size_t count;
	int ret = 0;

	list = machine_list(&count);
	for (size_t i = 0; i < count && !ret; i++) {
		ret = machine_json(req->http->db, list[i], &machine);
		if (!ret)
			json_array_append_new(machines, machine);
	}
	if (ret) {
		json_decref(machines);
		respond_errno(req, ret, "reading the machines");
		return;
	}
	respond_json(req, MHD_HTTP_OK, json_pack("{s:o}", "machines", machines));
}

static void respond_unknown(struct request *req)
{
	const struct machine_ops *const *list;
	char names[128] = "";
	size_t count, at = 0;

	list = machine_list(&count);
	for (size_t i = 0; i < count && at < sizeof(names); i++)
		at += snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "",
			       list[i]->name);
	respond_error(req, MHD_HTTP_NOT_FOUND, NULL, "there is no machine \"%s\", but %s",
		      req->name, names);
}

/** machines_get() - GET /api/v1/machines/{name}: what it was, how steady it is, how its boots end
 */
void machines_get(struct request *req)
{
	const struct machine_ops *ops = machine_find(req->name);
	json_t *machine = NULL, *list;
	int ret;

	if (!ops) {
		respond_unknown(req);
		return;
	}
	ret = machine_json(req->db, ops, &machine);
	for (size_t i = 0; i < ARRAY_SIZE(detail_sql) && !ret; i++) {
		ret = load(req->db, detail_sql[i][1], ops->name, &list);
		if (!ret)
			json_object_set_new(machine, detail_sql[i][0], list);
	}
	if (!ret)
		respond_json(req, MHD_HTTP_OK, json_incref(machine));
	else
		respond_errno(req, ret, "reading the machine");
	json_decref(machine);
}
