// SPDX-License-Identifier: GPL-2.0-only
/* /api/v1/machines: the drivers, and what experiments saw of their machines. */
#include <errno.h>
#include <stdlib.h>

#include "http/request.h"
#include "machine/machine.h"
#include "store/db.h"

/* clang-format off */
static const char seen_sql[] =
	"SELECT json_object('experiments', count(*), 'emulated', json((SELECT"
	" " SQL_BOOL("emulated") " FROM experiment WHERE machine = ?1 AND emulated IS NOT NULL"
	"   ORDER BY id DESC LIMIT 1)),"
	" 'description', json((SELECT machine_json FROM experiment WHERE machine = ?1"
	"   AND machine_json IS NOT NULL ORDER BY id DESC LIMIT 1)),"
	" 'boots', json((SELECT json_group_object(state, n) FROM (SELECT b.state, count(*) AS n"
	"   FROM experiment e JOIN slot s ON s.experiment = e.id JOIN boot b ON b.slot = s.id"
	"   WHERE e.machine = ?1 GROUP BY b.state))))"
	" FROM experiment WHERE machine = ?1";
/* clang-format on */

static int add_machine(sqlite3 *db, const struct machine_ops *ops, json_t *machines)
{
	char *text = NULL;
	json_t *machine;
	int ret;

	ret = db_get_text(db, &text, seen_sql, "t", ops->name);
	if (ret)
		return ret;
	machine = json_loads(text, 0, NULL);
	free(text);
	if (!machine)
		return -EBADMSG;
	if (json_object_set_new(machine, "name", json_string(ops->name)) ||
	    json_object_set_new(machine, "driver_version", json_integer(ops->version))) {
		json_decref(machine);
		return -ENOMEM;
	}
	return json_array_append_new(machines, machine) ? -ENOMEM : 0;
}

/** machines_list() - GET /api/v1/machines */
void machines_list(struct request *req)
{
	const struct machine_ops *const *list;
	json_t *machines = json_array();
	size_t count;
	int ret = 0;

	list = machine_list(&count);
	for (size_t i = 0; i < count && !ret; i++)
		ret = add_machine(req->http->db, list[i], machines);
	if (ret) {
		json_decref(machines);
		respond_errno(req, ret, "reading the machines");
		return;
	}
	respond_json(req, MHD_HTTP_OK, json_pack("{s:o}", "machines", machines));
}
