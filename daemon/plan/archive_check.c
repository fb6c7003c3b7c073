// SPDX-License-Identifier: GPL-2.0-only
/*
 * The databases of an archive: only what labd makes itself may be in them, and they must fit
 * together. A fresh pair of databases beside them says what labd makes. Names are looked at before
 * anything else is read, since a trigger, a view or a virtual table is foreign code.
 */
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "plan/archive.h"
#include "store/db.h"
#include "store/events.h"

#define OWN "own"
#define IDS_MAX "10000000"

/* A damaged file's own words are in labd's log. */
static int damaged(struct bundle *bundle, const char *name, int ret)
{
	if (!ret || ret == -ENOMEM || ret == -ENOSPC || ret == -EBADMSG || ret == -EACCES)
		return ret;
	return bundle_refuse(bundle, "its %s is damaged: %s", name, strerror(-ret));
}

/* Refuses when the query, which gives one text, has a row. @fmt has one %s for the text. */
static int refuse_rows(struct bundle *bundle, sqlite3 *db, const char *fmt, const char *sql)
{
	char *text = NULL;
	int ret = db_get_text(db, &text, sql, "");

	if (ret == -ENOENT)
		return 0;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	if (!ret)
		ret = bundle_refuse(bundle, fmt, text);
#pragma GCC diagnostic pop
	free(text);
	return ret;
}

/**
 * bundle_plain_sql() - is the SQL a plain list of columns, as labd makes an event's table or view
 * @sql: what the schema says
 *
 * Quoted names, a few words, commas and parentheses: nothing that computes, joins or checks.
 */
bool bundle_plain_sql(const char *sql)
{
	static const char *const words[] = {
		"CREATE", "TABLE", "VIEW",    "AS",   "SELECT", "FROM", "UNION",
		"ALL",	  "NULL",  "INTEGER", "TEXT", "REAL",	"BLOB", "STRICT",
		"run",	  "cpu",   "ts_ns",   "pid",  "tsc",
	};
	enum { ANYTHING, FROM_NAME, FROM_END } next = ANYTHING;

	/* After FROM comes one table, then UNION or the end: no comma, so no join. */
	while (*(sql += strspn(sql, " \n\t"))) {
		size_t length = 1, i = 0;

		if (*sql == '"') {
			length = strcspn(sql + 1, "\"") + 2;
			if (!sql[length - 1] || next == FROM_END)
				return false;
			next = next == FROM_NAME ? FROM_END : ANYTHING;
		} else if (strchr(",()", *sql)) {
			if (next != ANYTHING)
				return false;
		} else {
			length = strcspn(sql, " \n\t\",()");
			while (i < ARRAY_SIZE(words) &&
			       (strlen(words[i]) != length || strncmp(sql, words[i], length)))
				i++;
			if (i == ARRAY_SIZE(words) || next == FROM_NAME ||
			    (next == FROM_END && strcmp(words[i], "UNION")))
				return false;
			next = strcmp(words[i], "FROM") ? ANYTHING : FROM_NAME;
		}
		sql += length;
	}
	return true;
}

static void plain_sql(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const char *sql = (const char *)sqlite3_value_text(argv[0]);

	sqlite3_result_int(context, sql && bundle_plain_sql(sql));
}

static int open_foreign(const char *path, const char *own, sqlite3 **ret_db)
{
	sqlite3 *db = NULL;
	int ret;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK) {
		ret = db_error(db, path);
		sqlite3_close(db);
		return ret;
	}
	sqlite3_extended_result_codes(db, 1);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_create_function(db, "plain_sql", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY, NULL,
				plain_sql, NULL, NULL);
	ret = db_run(db, "PRAGMA trusted_schema = OFF", "")
		      ?: db_run(db, "PRAGMA cell_size_check = ON", "")
		      ?: db_run(db, "ATTACH ?1 AS own", "t", own);
	if (ret)
		db_close(db);
	else
		*ret_db = db;
	return ret;
}

static int check_version(struct bundle *bundle, sqlite3 *db, const char *name)
{
	int64_t version, own;
	int ret;

	ret = db_get_int(db, &version, "PRAGMA main.user_version", "")
		      ?: db_get_int(db, &own, "PRAGMA own.user_version", "");
	if (!ret && version > own)
		ret = bundle_refuse(bundle,
				    "its %s is of schema %lld, this labd knows up to %lld: use a "
				    "newer labd",
				    name, (long long)version, (long long)own);
	if (!ret && version < 1)
		ret = bundle_refuse(bundle, "its %s is of no schema of labd's", name);
	return ret;
}

/* Of an event there are a table for each format of it and the view over them. */
static const char objects_sql[] =
	"SELECT m.type || ' \"' || substr(m.name, 1, 60) || '\"' FROM main.sqlite_schema m"
	" WHERE (m.type = 'table' AND m.rootpage = 0) OR NOT ("
	" EXISTS (SELECT 1 FROM own.sqlite_schema o WHERE o.type = m.type AND o.name = m.name)"
	" OR (m.name GLOB 'ev_*' AND m.type = iif(m.name GLOB 'ev_*__v[0-9]*', 'table', 'view')"
	"  AND EXISTS (SELECT 1 FROM own.sqlite_schema WHERE name = 'event_format')"
	"  AND plain_sql(m.sql))) ORDER BY m.type = 'trigger' DESC LIMIT 1";

/* A view that reads another view could be a tower of them. */
static const char towers_sql[] =
	"SELECT substr(v.name, 1, 60) FROM main.sqlite_schema v JOIN main.sqlite_schema w"
	" ON w.type = 'view' AND v.sql LIKE '%FROM \"' || w.name || '\"%'"
	" WHERE v.type = 'view' AND v.name GLOB 'ev_*' LIMIT 1";

static const char hidden_sql[] =
	"SELECT substr(m.name, 1, 60) FROM main.sqlite_schema m, pragma_table_xinfo(m.name, 'main') x"
	" WHERE m.type = 'table' AND x.hidden <> 0 LIMIT 1";

static int check_pages(struct bundle *bundle, sqlite3 *db)
{
	char *text = NULL;
	int ret = db_get_text(db, &text, "PRAGMA main.quick_check(1)", "");

	if (!ret && strcmp(text, "ok"))
		ret = bundle_refuse(bundle, "its database is damaged: %.150s", text);
	free(text);
	return ret;
}

static int check_file(struct bundle *bundle, const char *name, const char *own_name)
{
	char path[PATH_MAX * 2], own[PATH_MAX * 2];
	sqlite3 *db;
	int ret;

	snprintf(path, sizeof(path), "%s/%s", bundle->folder, name);
	snprintf(own, sizeof(own), "%s/" OWN "/%s", bundle->folder, own_name);
	ret = open_foreign(path, own, &db);
	if (ret)
		return damaged(bundle, name, ret);
	ret = check_version(bundle, db, name)
		      ?: refuse_rows(bundle, db, "its database has a %s, which labd does not make",
				     objects_sql)
		      ?: refuse_rows(bundle, db, "its view %s is of another view", towers_sql)
		      ?: refuse_rows(bundle, db, "its table %s has columns that compute",
				     hidden_sql) ?: check_pages(bundle, db);
	ret = damaged(bundle, name, ret);
	db_close(db);
	return ret;
}

/* What labd makes itself, and the archive's copies brought up to this version. */
static int make_own(const char *folder)
{
	struct events_db *events;
	char path[PATH_MAX * 2];
	sqlite3 *db;
	int ret;

	snprintf(path, sizeof(path), "%s/" OWN, folder);
	ret = make_dir(path, 0755) ?: db_open_writer(path, &db);
	if (ret)
		return ret;
	db_close(db);
	snprintf(path, sizeof(path), "%s/" OWN "/events.db", folder);
	ret = events_open(path, &events);
	if (!ret)
		events_close(events);
	return ret;
}

static int migrate_lab(struct bundle *bundle)
{
	sqlite3 *db;
	int ret = db_open_writer(bundle->folder, &db);

	if (!ret)
		db_close(db);
	return ret;
}

static int migrate_events(const char *path)
{
	struct events_db *events;
	int ret = events_open(path, &events);

	if (!ret)
		events_close(events);
	return ret;
}

static const char *const lab_refusals[][2] = {
	{"its table %s has a column that labd does not make",
	 "SELECT m.name FROM main.sqlite_schema m JOIN own.sqlite_schema o"
	 " ON o.type = 'table' AND o.name = m.name, pragma_table_info(m.name, 'main') x"
	 " WHERE m.type = 'table' AND NOT EXISTS (SELECT 1 FROM pragma_table_info(m.name, 'own') y"
	 "  WHERE y.name = x.name) LIMIT 1"},
	{"its database has %s experiments, not one",
	 "SELECT count(*) FROM main.experiment HAVING count(*) <> 1"},
	{"its experiment is still %s", "SELECT state FROM main.experiment"
				       " WHERE state NOT IN ('done', 'failed', 'cancelled')"},
	{"its rows of %s belong to none",
	 "SELECT \"table\" FROM pragma_foreign_key_check(NULL, 'main')"},
	{"its %s numbers are spread too far",
	 "SELECT what FROM (SELECT 'run' AS what, min(id) AS low, max(id) AS high FROM main.run"
	 " UNION ALL SELECT 'boot', min(id), max(id) FROM main.boot"
	 " UNION ALL SELECT 'slot', min(id), max(id) FROM main.slot"
	 " UNION ALL SELECT 'reproduction', min(id), max(id) FROM main.reproduction)"
	 " WHERE low < 1 OR high - low > " IDS_MAX " OR high > 1 << 60"},
	{"its run %s names a capture as labd does not",
	 "SELECT id FROM main.run, (SELECT id AS e FROM main.experiment) WHERE capture <>"
	 " printf('captures/%d/%d.dat', e, id) OR xen_capture <>"
	 " printf('captures/%d/%d.xentrace', e, id)"},
};

/* Every text that is shown as JSON must be some. */
static int check_json(struct bundle *bundle, sqlite3 *db)
{
	static const char columns_sql[] =
		"SELECT group_concat(printf('SELECT ''%w.%w'' FROM main.\"%w\" WHERE \"%w\" IS NOT NULL"
		" AND NOT json_valid(\"%w\")', m.name, x.name, m.name, x.name, x.name), ' UNION ALL ')"
		" FROM own.sqlite_schema m, pragma_table_info(m.name, 'own') x WHERE m.type = 'table'"
		" AND (x.name GLOB '*_json' OR x.name IN ('spec', 'plan', 'args'))";
	char *sql = NULL;
	int ret = db_get_text(db, &sql, columns_sql, "");

	ret = ret ?: refuse_rows(bundle, db, "its %s is no JSON", sql);
	free(sql);
	return ret;
}

/* A capture is the one that was measured from, by the hash beside its run. */
static int check_captures(struct bundle *bundle, sqlite3 *db)
{
	const char *name;
	char *hash = NULL;
	json_t *sum;
	int ret;

	json_object_foreach (bundle->files, name, sum) {
		if (strncmp(name, "captures/", 9))
			continue;
		ret = db_get_text(db, &hash,
				  "SELECT sha256 FROM main.run WHERE capture = ?1 UNION ALL "
				  "SELECT xen_sha256 FROM main.run WHERE xen_capture = ?1",
				  "t", name);
		if (ret == -ENOENT)
			return bundle_refuse(bundle, "its %s is of no run", name);
		if (!ret && strcmp(hash, json_string_value(sum)))
			ret = bundle_refuse(bundle, "its %s is another than was measured from",
					    name);
		free(hash);
		hash = NULL;
		if (ret)
			return ret;
	}
	return 0;
}

static int check_lab(struct bundle *bundle)
{
	char path[PATH_MAX * 2], own[PATH_MAX * 2];
	int64_t id = 0;
	sqlite3 *db;
	int ret;

	snprintf(path, sizeof(path), "%s/lab.db", bundle->folder);
	snprintf(own, sizeof(own), "%s/" OWN "/lab.db", bundle->folder);
	ret = open_foreign(path, own, &db);
	if (ret)
		return ret;
	for (size_t i = 0; i < ARRAY_SIZE(lab_refusals) && !ret; i++)
		ret = refuse_rows(bundle, db, lab_refusals[i][0], lab_refusals[i][1]);
	ret = ret ?: db_get_int(db, &id, "SELECT id FROM main.experiment", "");
	if (!ret && id != bundle->experiment)
		ret = bundle_refuse(bundle, "its archive.json is of another experiment");
	ret = ret ?: check_json(bundle, db) ?: check_captures(bundle, db);
	db_close(db);
	return ret;
}

static int check_events(struct bundle *bundle, const char *path)
{
	char lab[PATH_MAX * 2];
	sqlite3 *db;
	int ret;

	snprintf(lab, sizeof(lab), "%s/lab.db", bundle->folder);
	ret = open_foreign(path, lab, &db);
	if (ret)
		return ret;
	ret = refuse_rows(bundle, db, "its events have a run %s, which the experiment has not",
			  "SELECT e.run FROM main.run e WHERE NOT EXISTS (SELECT 1 FROM own.run r"
			  " WHERE r.id = e.run AND r.sha256 = e.sha256)");
	db_close(db);
	return ret;
}

/**
 * bundle_check() - are the databases of an unpacked archive labd's, whole, and of one experiment
 *
 * They are brought up to this labd's version on the way.
 *
 * Return: 0, -EBADMSG with the sentence set, or another negative errno.
 */
int bundle_check(struct bundle *bundle)
{
	char events[64], path[PATH_MAX * 2];
	const char *name;
	bool has_events;
	json_t *sum;
	int ret;

	snprintf(events, sizeof(events), "events/%lld.db", (long long)bundle->experiment);
	snprintf(path, sizeof(path), "%s/%s", bundle->folder, events);
	has_events = json_object_get(bundle->files, events);
	if (!json_object_get(bundle->files, "lab.db"))
		return bundle_refuse(bundle, "it has no lab.db");
	json_object_foreach (bundle->files, name, sum)
		if (!strncmp(name, "events/", 7) && strcmp(name, events))
			return bundle_refuse(bundle, "its %.60s is of another experiment", name);
	ret = make_own(bundle->folder) ?: check_file(bundle, "lab.db", "lab.db");
	if (has_events)
		ret = ret ?: check_file(bundle, events, "events.db");
	ret = ret ?: damaged(bundle, "lab.db", migrate_lab(bundle) ?: check_lab(bundle));
	if (has_events)
		ret = ret
			      ?: damaged(bundle, events,
					 migrate_events(path) ?: check_events(bundle, path));
	return ret;
}
