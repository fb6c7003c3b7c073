// SPDX-License-Identifier: GPL-2.0-only
/*
 * A checked archive becomes an experiment of this labd's. First its numbers are reserved and
 * written down beside the import; then files go to where those numbers put them; then one
 * transaction has all rows. A labd that is killed in between finds the numbers, removes the files
 * and starts again.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "plan/archive.h"
#include "plan/exec.h"
#include "store/db.h"

/**
 * struct shift - what is added to an archive's numbers; slots are known in lab.db alone, boots in
 * reasons, too
 * @id: the experiment's new number
 */
struct shift {
	int64_t id;
	int64_t experiment;
	int64_t run;
	int64_t boot;
	int64_t slot;
	int64_t reproduction;
};

/* Numbers that nobody else will get, also if what needs them is never stored. */
static int reserve(sqlite3 *db, const char *table, int64_t low, int64_t high, int64_t *ret_shift)
{
	int64_t next;
	int ret;

	ret = db_get_int(
		db, &next,
		"SELECT 1 + coalesce((SELECT max(seq) FROM sqlite_sequence WHERE name = ?1), 0)",
		"t", table);
	ret = ret
		      ?: db_run(db,
				"INSERT INTO sqlite_sequence (name, seq) SELECT ?1, 0 WHERE NOT EXISTS"
				" (SELECT 1 FROM sqlite_sequence WHERE name = ?1)",
				"t", table);
	ret = ret
		      ?: db_run(db, "UPDATE sqlite_sequence SET seq = ?2 WHERE name = ?1", "ti",
				table, next + high - low);
	if (!ret)
		*ret_shift = next - low;
	return ret;
}

static int reserve_rows(sqlite3 *db, const char *table, int64_t *ret_shift)
{
	int64_t low, high;
	char sql[96];
	int ret;

	snprintf(sql, sizeof(sql), "SELECT coalesce(min(id), 1) FROM archive.%s", table);
	ret = db_get_int(db, &low, sql, "");
	snprintf(sql, sizeof(sql), "SELECT coalesce(max(id), 1) FROM archive.%s", table);
	ret = ret ?: db_get_int(db, &high, sql, "");
	return ret ?: reserve(db, table, low, high, ret_shift);
}

static int reserve_all(sqlite3 *db, const struct bundle *bundle, int64_t import,
		       struct shift *shift)
{
	char database[64];
	int ret;

	ret = db_begin(db);
	if (ret)
		return ret;
	ret = reserve(db, "experiment", bundle->experiment, bundle->experiment,
		      &shift->experiment)
		      ?: reserve_rows(db, "run", &shift->run)
		      ?: reserve_rows(db, "boot", &shift->boot)
		      ?: reserve_rows(db, "reproduction", &shift->reproduction);
	shift->id = bundle->experiment + shift->experiment;
	snprintf(database, sizeof(database), "events/%lld.db", (long long)shift->id);
	ret = ret
		      ?: db_run(db, "UPDATE import SET database = ?2 WHERE id = ?1", "it", import,
				database);
	return db_end(db, ret);
}

/* Every table of events has a column run. Twice, since a number may be in use by the next row. */
static int shift_events(const char *path, const struct shift *shift)
{
	static const char tables_sql[] =
		"SELECT group_concat(printf('UPDATE \"%w\" SET run = -(run + ?1);', m.name) ||"
		" printf('UPDATE \"%w\" SET run = -run;', m.name), '')"
		" FROM sqlite_schema m, pragma_table_info(m.name) x"
		" WHERE m.type = 'table' AND x.name = 'run'";
	char *sql = NULL, *next = NULL;
	sqlite3 *db = NULL;
	int ret;

	if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK) {
		ret = db_error(db, path);
		goto out;
	}
	/* A copy that is made anew after a crash: no journal, no syncs, until it is whole. */
	ret = db_run(db, "PRAGMA trusted_schema = OFF", "")
		      ?: db_run(db, "PRAGMA journal_mode = OFF", "")
		      ?: db_run(db, "PRAGMA synchronous = OFF", "")
		      ?: db_run(db, "PRAGMA locking_mode = EXCLUSIVE", "")
		      ?: db_begin(db) ?: db_get_text(db, &sql, tables_sql, "");
	for (char *one = ret ? NULL : strtok_r(sql, ";", &next); one && !ret;
	     one = strtok_r(NULL, ";", &next))
		ret = strstr(one, "?1") ? db_run(db, one, "i", shift->run) : db_run(db, one, "");
	ret = ret ?: db_run(db,
			    "UPDATE run SET capture = printf('captures/%d/%d.dat', ?1, run)"
			    " WHERE capture <> ''",
			    "i", shift->id)
		      ?: db_run(db,
				"UPDATE run_xen SET capture ="
				" printf('captures/%d/%d.xentrace', ?1, run)",
				"i", shift->id);
	ret = ret ?: db_commit(db);
out:
	free(sql);
	db_close(db);
	return ret;
}

/* Where a file of the archive belongs; false for one that is not kept. */
static bool new_name(const struct bundle *bundle, const struct shift *shift, const char *name,
		     char ret_name[256])
{
	const char *tail = strchr(name, '/');
	long long run;

	if (!strcmp(name, "lab.db"))
		return false;
	if (!strncmp(name, "events/", 7))
		snprintf(ret_name, 256, "events/%lld.db", (long long)shift->id);
	else if (sscanf(name, "captures/%*d/%lld", &run) == 1)
		snprintf(ret_name, 256, "captures/%lld/%lld%s", (long long)shift->id,
			 run + (long long)shift->run, strrchr(name, '.'));
	else if (!strncmp(name, "consoles/", 9))
		snprintf(ret_name, 256, "consoles/%lld%s", (long long)shift->id, strchr(tail, '-'));
	else
		snprintf(ret_name, 256, "archives/%lld/%s", (long long)shift->id, name);
	return true;
}

static int make_folders(const char *data_dir, const struct shift *shift)
{
	static const char *const folders[] = {"captures/%lld", "archives", "archives/%lld",
					      "archives/%lld/builds"};
	char path[PATH_MAX], name[64];
	int ret = 0;

	for (size_t i = 0; i < ARRAY_SIZE(folders) && !ret; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		snprintf(name, sizeof(name), folders[i], (long long)shift->id);
#pragma GCC diagnostic pop
		snprintf(path, sizeof(path), "%s/%s", data_dir, name);
		ret = make_dir(path, 0755);
	}
	return ret;
}

static int move_files(const struct sched *sched, const struct bundle *bundle,
		      const struct shift *shift)
{
	char from[PATH_MAX * 2], to[PATH_MAX * 2], renamed[256];
	const char *data_dir = sched->config.data_dir, *name;
	json_t *sum;
	int fd, ret;

	ret = make_folders(data_dir, shift);
	if (ret)
		return ret;
	json_object_foreach (bundle->files, name, sum) {
		if (!new_name(bundle, shift, name, renamed))
			continue;
		snprintf(from, sizeof(from), "%s/%s", bundle->folder, name);
		snprintf(to, sizeof(to), "%s/%s", data_dir, renamed);
		if (rename(from, to))
			return -errno;
	}
	fd = open(data_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = syncfs(fd) ? -errno : 0;
	close(fd);
	return ret;
}

/*
 * SQL: renumber(text). Reasons name runs and boots at their start or after a colon: "run 7: boot 3
 * ended: panic".
 */
static void renumber(sqlite3_context *context, int argc, sqlite3_value **argv)
{
	const struct shift *shift = sqlite3_user_data(context);
	const char *text = (const char *)sqlite3_value_text(argv[0]);
	sqlite3_str *out = sqlite3_str_new(NULL);
	bool start = true;

	while (text && *text) {
		bool run = !strncmp(text, "run ", 4);
		size_t word = run ? 4 : 5;
		long long number;
		int digits = 0;

		if (start && (run || !strncmp(text, "boot ", 5)) &&
		    strspn(text + word, "0123456789") &&
		    sscanf(text + word, "%18lld%n", &number, &digits) == 1) {
			sqlite3_str_appendf(out, "%.*s%lld", (int)word, text,
					    number + (run ? shift->run : shift->boot));
			text += word + digits;
			start = false;
		} else {
			start = *text == ':' || (start && *text == ' ');
			sqlite3_str_appendchar(out, 1, *text++);
		}
	}
	text = sqlite3_str_finish(out);
	sqlite3_result_text(context, text ?: "", -1, SQLITE_TRANSIENT);
	sqlite3_free((char *)text);
}

/*
 * Both halves of the copy of a table, made from its columns: a key of ours is shifted, a secret is
 * not taken, a file has its new name; all else is as it was.
 */
static const char copy_sql[] =
	"SELECT printf('INSERT %%s INTO main.\"%%w\" (%%s) SELECT %%s FROM archive.\"%%w\"',"
	" iif(?1 = 'build_event', 'OR IGNORE', ''), ?1, group_concat(printf('\"%%w\"', name)),"
	" group_concat(CASE"
	" WHEN name = 'experiment' OR (name = 'id' AND ?1 = 'experiment') THEN name || ' + %lld'"
	" WHEN name = 'run' OR (name = 'id' AND ?1 = 'run') THEN name || ' + %lld'"
	" WHEN name = 'boot' OR (name = 'id' AND ?1 = 'boot') THEN name || ' + %lld'"
	" WHEN name = 'slot' OR (name = 'id' AND ?1 = 'slot') THEN name || ' + %lld'"
	" WHEN name = 'id' THEN 'id + %lld'"
	" WHEN name = 'idempotency_key' THEN 'NULL'"
	" WHEN name = 'token' THEN ''''''"
	" WHEN name = 'origin_json' THEN '?1'"
	" WHEN name = 'reason' THEN 'renumber(reason)'"
	" WHEN name = 'capture' THEN 'iif(capture IS NULL, NULL,"
	"  printf(''captures/%%d/%%d.dat'', %lld, id + %lld))'"
	" WHEN name = 'xen_capture' THEN 'iif(xen_capture IS NULL, NULL,"
	"  printf(''captures/%%d/%%d.xentrace'', %lld, id + %lld))'"
	" WHEN name = 'console' THEN 'printf(''consoles/%%d-%%d-%%d.log'', %lld,"
	"  (SELECT position FROM archive.slot s WHERE s.id = slot), attempt)'"
	" ELSE printf('\"%%w\"', name) END), ?1) FROM pragma_table_info(?1, 'archive')";

static int copy_table(sqlite3 *db, const struct shift *shift, const char *table, const char *origin)
{
	char *query, *sql = NULL;
	int ret;

	query = str_printf(copy_sql, (long long)shift->experiment, (long long)shift->run,
			   (long long)shift->boot, (long long)shift->slot,
			   (long long)shift->reproduction, (long long)shift->id,
			   (long long)shift->run, (long long)shift->id, (long long)shift->run,
			   (long long)shift->id);
	ret = query ? db_get_text(db, &sql, query, "t", table) : -ENOMEM;
	if (!ret)
		ret = strcmp(table, "experiment") ? db_run(db, sql, "")
						  : db_run(db, sql, "t", origin);
	free(query);
	free(sql);
	return ret;
}

/* Tables of a later schema come by themselves, by the columns that name what they belong to. */
static int copy_rows(sqlite3 *db, const struct shift *shift, const char *origin)
{
	char *tables = NULL, *next = NULL;
	int ret;

	ret = db_get_text(
		db, &tables,
		"SELECT group_concat(name) FROM archive.sqlite_schema WHERE type = 'table'"
		" AND name NOT GLOB 'sqlite_*' AND name NOT IN ('import', 'build')",
		"");
	for (char *table = ret ? NULL : strtok_r(tables, ",", &next); table && !ret;
	     table = strtok_r(NULL, ",", &next))
		ret = copy_table(db, shift, table, origin);
	free(tables);
	return ret;
}

static char *make_origin(const struct bundle *bundle, const char *file)
{
	json_t *origin, *exported = json_object_get(bundle->about, "exported");
	char *text;

	origin = json_pack("{s:I, s:s, s:s, s:O*}", "experiment", (json_int_t)bundle->experiment,
			   "file", file, "sha256", bundle->sha256, "exported",
			   json_is_string(exported) ? exported : NULL);
	text = origin ? json_dumps(origin, JSON_COMPACT) : NULL;
	json_decref(origin);
	return text;
}

static int commit(sqlite3 *db, const struct bundle *bundle, struct shift *shift, int64_t import,
		  const char *origin)
{
	int ret;

	ret = db_begin(db);
	if (ret)
		return ret;
	ret = db_run(db, "PRAGMA defer_foreign_keys = ON", "")
		      ?: db_get_int(db, &shift->slot,
				    "SELECT coalesce((SELECT max(id) FROM main.slot), 0) + 1"
				    " - coalesce((SELECT min(id) FROM archive.slot), 1)",
				    "")
		      ?: copy_rows(db, shift, origin)
		      ?: db_run(db,
				"UPDATE import SET state = 'done', experiment = ?2, sha256 = ?3,"
				" events = (SELECT coalesce(sum(events), 0) FROM archive.run),"
				" lost = (SELECT coalesce(sum(lost), 0) FROM archive.run)"
				" WHERE id = ?1",
				"iit", import, shift->id, bundle->sha256);
	return db_end(db, ret);
}

static int attach(sqlite3 *db, const struct bundle *bundle)
{
	char path[PATH_MAX * 2];

	snprintf(path, sizeof(path), "%s/lab.db", bundle->folder);
	return db_run(db, "ATTACH ?1 AS archive", "t", path);
}

/**
 * bundle_store() - give a checked archive its new numbers, and store it
 * @import: the row that asked for it
 * @file: the archive's name
 *
 * On failure bundle_forget() removes what there is of it.
 *
 * Return: 0 when it is an experiment, or negative errno.
 */
int bundle_store(struct sched *sched, struct bundle *bundle, int64_t import, const char *file)
{
	char *origin = make_origin(bundle, file), path[PATH_MAX * 2];
	struct shift shift = {0};
	int ret;

	if (!origin)
		return -ENOMEM;
	pthread_mutex_lock(&sched->lock);
	ret = attach(sched->db, bundle);
	if (!ret) {
		ret = reserve_all(sched->db, bundle, import, &shift);
		db_run(sched->db, "DETACH archive", "");
	}
	pthread_mutex_unlock(&sched->lock);

	snprintf(path, sizeof(path), "%s/events/%lld.db", bundle->folder,
		 (long long)bundle->experiment);
	if (!access(path, F_OK))
		ret = ret ?: shift_events(path, &shift);
	ret = ret ?: move_files(sched, bundle, &shift);
	if (ret)
		goto out;

	pthread_mutex_lock(&sched->lock);
	ret = attach(sched->db, bundle);
	if (!ret) {
		sqlite3_create_function(sched->db, "renumber", 1, SQLITE_UTF8 | SQLITE_DIRECTONLY,
					&shift, renumber, NULL, NULL);
		ret = commit(sched->db, bundle, &shift, import, origin);
		sqlite3_create_function(sched->db, "renumber", 1, SQLITE_UTF8, NULL, NULL, NULL,
					NULL);
		db_run(sched->db, "DETACH archive", "");
	}
	pthread_mutex_unlock(&sched->lock);
	if (!ret) {
		log_info("experiment %lld: imported from %s", (long long)shift.id, file);
		sched_publish(sched, shift.id);
	}
out:
	free(origin);
	return ret;
}

static void remove_consoles(const char *data_dir, long long id)
{
	char folder[PATH_MAX], path[PATH_MAX * 2], prefix[32];
	const struct dirent *entry;
	DIR *dir;

	snprintf(folder, sizeof(folder), "%s/consoles", data_dir);
	snprintf(prefix, sizeof(prefix), "%lld-", id);
	dir = opendir(folder);
	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		unlink(path);
	}
	if (dir)
		closedir(dir);
}

/**
 * bundle_forget() - remove what an import that did not end had put in place
 *
 * Only what is below a number that was reserved for it; no other experiment ever has that.
 *
 * Return: 0 or negative errno.
 */
int bundle_forget(struct sched *sched, int64_t import)
{
	const char *data_dir = sched->config.data_dir;
	char path[PATH_MAX], *database = NULL;
	long long id = 0;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_get_text(sched->db, &database, "SELECT database FROM import WHERE id = ?1", "i",
			  import);
	pthread_mutex_unlock(&sched->lock);
	if (ret || sscanf(database, "events/%lld.db", &id) != 1)
		goto out;
	snprintf(path, sizeof(path), "%s/captures/%lld", data_dir, id);
	bundle_remove_tree(path);
	snprintf(path, sizeof(path), "%s/archives/%lld", data_dir, id);
	bundle_remove_tree(path);
	snprintf(path, sizeof(path), "%s/events/%lld.db", data_dir, id);
	unlink(path);
	remove_consoles(data_dir, id);
out:
	free(database);
	return ret;
}
