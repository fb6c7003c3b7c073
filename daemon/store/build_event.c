// SPDX-License-Identifier: GPL-2.0-only
/* Which trace events a build offers. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "capture/xen_records.h"
#include "store/build_event.h"
#include "store/db.h"

/* A kernel under test says what it likes: so many names are kept, of so many bytes. */
#define MAX_EVENTS 8192
#define MAX_NAME 128

static bool good_event(const char *event)
{
	size_t length = event ? strlen(event) : 0;
	size_t colon = event ? strcspn(event, ":") : 0;

	return length && length <= MAX_NAME && colon && colon + 1 < length &&
	       strspn(event,
		      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:") ==
		       length &&
	       !strchr(event + colon + 1, ':');
}

/**
 * build_event_known() - has a boot of this kernel said which events it has?
 *
 * Return: 0 or negative errno.
 */
int build_event_known(sqlite3 *db, const char *build_id, bool *ret_known)
{
	int64_t known;
	int ret;

	ret = db_get_int(db, &known,
			 "SELECT EXISTS (SELECT 1 FROM build_event WHERE build_id = ?1)", "t",
			 build_id);
	if (!ret)
		*ret_known = known;
	return ret;
}

/**
 * build_event_note() - store what a kernel said; what is no "system:event" is left out
 * @db: the writer's connection
 * @events: array of names
 *
 * Return: 0 or negative errno; then nothing is stored.
 */
int build_event_note(sqlite3 *db, const char *build_id, const json_t *events)
{
	const json_t *event;
	size_t i, n = 0;
	int ret;

	ret = db_begin(db);
	if (ret)
		return ret;
	json_array_foreach ((json_t *)events, i, event) {
		if (!good_event(json_string_value(event)))
			continue;
		if (n++ == MAX_EVENTS)
			break;
		ret = db_run(db,
			     "INSERT OR IGNORE INTO build_event (build_id, event) VALUES (?1, ?2)",
			     "tt", build_id, json_string_value(event));
		if (ret)
			break;
	}
	return db_end(db, ret);
}

static int add_kernels(sqlite3 *db, const char *build_id, json_t *events)
{
	sqlite3_stmt *stmt;
	int ret;

	ret = db_prepare(db, &stmt,
			 "SELECT event FROM build_event WHERE build_id = ?1 ORDER BY event", "t",
			 build_id);
	if (ret)
		return ret;
	while ((ret = sqlite3_step(stmt)) == SQLITE_ROW)
		json_array_append_new(events,
				      json_string((const char *)sqlite3_column_text(stmt, 0)));
	ret = ret == SQLITE_DONE ? 0 : db_error(db, "the build's events");
	sqlite3_finalize(stmt);
	return ret;
}

/**
 * build_event_list() - what an experiment with this build could trace
 * @build: a manifest
 * @ret_booted: the kernel's events are among them, for it was booted
 * @ret_events: array of names as a spec has them, new reference
 *
 * Return: 0 or negative errno.
 */
int build_event_list(sqlite3 *db, const json_t *build, bool *ret_booted, json_t **ret_events)
{
	json_t *events = json_array();
	int ret;

	if (!events)
		return -ENOMEM;
	ret = add_kernels(db, json_text(build, "build_id"), events);
	if (ret) {
		json_decref(events);
		return ret;
	}
	*ret_booted = json_array_size(events);
	for (unsigned int i = 0; json_object_get(build, "hypervisor") && i < xen_n_record_types;
	     i++)
		json_array_append_new(events,
				      json_sprintf(XEN_SYSTEM "%s", xen_record_types[i].name));
	*ret_events = events;
	return 0;
}
