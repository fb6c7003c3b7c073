// SPDX-License-Identifier: GPL-2.0-only
/*
 * Raw events: one file per experiment, one transaction per run. See events.h and schema/events.sql.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/embed.h"
#include "base/log.h"
#include "base/util.h"
#include "store/db.h"
#include "store/events_priv.h"

#define EVENTS_VERSION 2
#define BUSY_MS 30000

/*
 * An event that was recorded and never came has an empty table rather than none, so that queries
 * work. A foreign capture may bring the formats of a whole kernel: then only those with records get
 * tables.
 */
#define EMPTY_TABLES_MAX 64

/** ingest_refuse() - say why an ingest ends; returns @err */
int ingest_refuse(struct ingest *in, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(in->error, in->error_size, fmt, args);
	va_end(args);
	return err;
}

/*
 * Brings the log's pages into the file and empties the log: between runs the file is complete in
 * itself, and after a full disk the log does not keep it full. A reader may be in the way; then it
 * is done next time.
 */
static void empty_log(sqlite3 *db)
{
	sqlite3_busy_timeout(db, 0);
	sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sqlite3_busy_timeout(db, BUSY_MS);
}

/* What makes version n of the file from version n - 1. */
static const char *const schema_files[EVENTS_VERSION] = {"schema/events.sql",
							 "schema/events_xen.sql"};

static int run_schema(sqlite3 *db, const char *name)
{
	const struct embedded *file = embedded_files;

	while (file->name && strcmp(file->name, name))
		file++;
	if (!file->name)
		return -ENOENT;
	return sqlite3_exec(db, file->data, NULL, NULL, NULL) == SQLITE_OK ? 0 : db_error(db, name);
}

static int update_schema(sqlite3 *db)
{
	char pragma[64];
	int64_t version;
	int ret;

	snprintf(pragma, sizeof(pragma), "PRAGMA user_version = %d", EVENTS_VERSION);
	ret = db_begin(db);
	if (ret)
		return ret;
	/* Somebody else may have done it while we waited. */
	ret = db_get_int(db, &version, "PRAGMA user_version", "");
	for (int64_t i = version; i < EVENTS_VERSION && !ret; i++)
		ret = run_schema(db, schema_files[i]);
	ret = ret ?: db_run(db, pragma, "");
	ret = db_end(db, ret);
	empty_log(db);
	return ret;
}

/*
 * WAL, because somebody may sit in a sqlite3 shell with a read transaction open: with a rollback
 * journal the ingest would have to wait for him, or he for it. That costs some 15 % of the ingest's
 * speed. FULL, since labd says in lab.db that a run is stored, and that must be true after the
 * machine's next panic.
 *
 * A small cache, for the pages are written once, in order, and never read again: 4 MiB stay in the
 * CPU's cache, where 64 MiB made the same ingest half as fast.
 */
static const char writer_pragmas[] = "PRAGMA page_size = 65536; PRAGMA journal_mode = WAL;"
				     "PRAGMA synchronous = FULL; PRAGMA cache_size = -4096;"
				     "PRAGMA trusted_schema = OFF";
static const char reader_pragmas[] = "PRAGMA query_only = ON; PRAGMA trusted_schema = OFF";

static int prepare_file(sqlite3 *db, const char *path, const char *pragmas, int64_t *ret_version)
{
	int64_t version;
	int ret;

	sqlite3_extended_result_codes(db, 1);
	sqlite3_busy_timeout(db, BUSY_MS);
	if (sqlite3_exec(db, pragmas, NULL, NULL, NULL) != SQLITE_OK)
		return db_error(db, path);
	ret = db_get_int(db, &version, "PRAGMA user_version", "");
	if (!ret && version > EVENTS_VERSION) {
		log_err("%s is of schema %lld, this labd knows up to %d: use a newer labd", path,
			(long long)version, EVENTS_VERSION);
		ret = -EPROTO;
	}
	*ret_version = version;
	return ret;
}

static int open_file(const char *path, int flags, const char *pragmas, struct events_db **ret_db,
		     int64_t *ret_version)
{
	struct events_db *events = calloc(1, sizeof(*events));
	int ret;

	if (!events)
		return -ENOMEM;
	if (sqlite3_open_v2(path, &events->db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		ret = events->db ? db_error(events->db, path) : -ENOMEM;
	else
		ret = prepare_file(events->db, path, pragmas, ret_version);
	if (ret)
		events_close(events);
	else
		*ret_db = events;
	return ret;
}

/**
 * events_open() - open an experiment's file of events, made if it is not there
 * @path: the file
 * @ret_db: the caller's, with events_close(); for one thread at a time
 *
 * Return: 0, -EPROTO for a file of a newer labd, -EUCLEAN for a damaged one, or another negative
 * errno; each is logged.
 */
int events_open(const char *path, struct events_db **ret_db)
{
	struct events_db *events;
	int64_t version;
	int ret;

	ret = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, writer_pragmas, &events,
			&version);
	if (ret)
		return ret;
	if (version < EVENTS_VERSION)
		ret = update_schema(events->db);
	ret = ret ?: event_batch_open(events->db, &events->batch);
	if (ret)
		events_close(events);
	else
		*ret_db = events;
	return ret;
}

/**
 * events_open_reader() - open an experiment's file of events to read it
 * @path: the file
 * @ret_db: the caller's, with events_close(); for one thread at a time, and for everything but
 * events_ingest()
 *
 * A file of an older labd is brought up to date first. Return: 0, -ENOENT when there is no file, or
 * an error as events_open() has it.
 */
int events_open_reader(const char *path, struct events_db **ret_db)
{
	struct events_db *events;
	int64_t version;
	int ret;

	if (access(path, F_OK))
		return -errno;
	ret = open_file(path, SQLITE_OPEN_READONLY, reader_pragmas, &events, &version);
	if (ret)
		return ret;
	if (version == EVENTS_VERSION) {
		*ret_db = events;
		return 0;
	}
	events_close(events);
	ret = events_open(path, &events);
	if (ret)
		return ret;
	events_close(events);
	return open_file(path, SQLITE_OPEN_READONLY, reader_pragmas, ret_db, &version);
}

/** events_close() - NULL is allowed */
void events_close(struct events_db *db)
{
	if (!db)
		return;
	db_close(db->db);
	event_batch_free(db->batch);
	free(db);
}

/**
 * ingest_use() - records of this run go to @table, which becomes the ingest's, also on failure
 *
 * Return: 0, or -EBADMSG with the reason set.
 */
int ingest_use(struct ingest *in, struct event_table *table)
{
	if (in->n_used == ARRAY_SIZE(in->used)) {
		event_table_free(table);
		return ingest_refuse(in, -EBADMSG,
				     "the capture holds records of more than %zu events",
				     ARRAY_SIZE(in->used));
	}
	in->used[in->n_used++] = table;
	/* Ids differ between kernels, names do not. */
	for (size_t i = 0; i + 1 < in->n_used; i++)
		if (!strcmp(in->used[i]->event, table->event))
			return ingest_refuse(in, -EBADMSG, "the capture holds two formats of %s",
					     table->event);
	return 0;
}

static int open_table(struct ingest *in, uint16_t id)
{
	const struct tracedat_format *format = tracedat_find_format(in->file, id);
	struct event_layout *layout;
	struct event_table *table;
	int ret;

	if (format) {
		ret = event_layout_parse(format, &layout);
		if (ret == -EBADMSG || ret == -E2BIG)
			return ingest_refuse(in, -EBADMSG, "the format of %s:%s %s", format->system,
					     format->name,
					     ret == -E2BIG ? "has too many fields"
							   : "does not parse");
		ret = ret ?: event_table_open(in->db->db, layout, &table);
		if (ret == -E2BIG)
			return ingest_refuse(
				in, -EBADMSG,
				"%s:%s has too many different formats in this experiment",
				format->system, format->name);
	} else {
		ret = event_table_unknown(id, &table);
	}
	if (ret)
		return ret;
	in->tables[id] = table;
	return ingest_use(in, table);
}

static int open_empty_tables(struct ingest *in)
{
	size_t n = 0;
	int ret = 0;

	for (size_t i = 0; i < in->file->n_formats; i++)
		n += strcmp(in->file->formats[i].system, "ftrace") != 0;
	for (size_t i = 0; n <= EMPTY_TABLES_MAX && i < in->file->n_formats && !ret; i++)
		if (strcmp(in->file->formats[i].system, "ftrace"))
			ret = open_table(in, in->file->formats[i].id);
	return ret;
}

/** ingest_flush() - store what waits in the batch; 0 or negative errno */
int ingest_flush(struct ingest *in)
{
	return event_batch_flush(in->db->batch, in->used, in->n_used);
}

/** ingest_saw() - a record of this time is in the run */
void ingest_saw(struct ingest *in, int64_t ts)
{
	if (!in->records || ts < in->first_ts)
		in->first_ts = ts;
	if (!in->records || ts > in->last_ts)
		in->last_ts = ts;
	in->records++;
}

static int push(struct ingest *in, unsigned int cpu, const struct page_record *record)
{
	uint16_t id = record->data[0] | record->data[1] << 8;
	struct event_table *table = in->tables[id];
	int ret;

	if (!table) {
		ret = open_table(in, id);
		if (ret)
			return ret;
		table = in->tables[id];
	}
	table->count++;
	if (!table->layout)
		return 0;
	return event_batch_push(in->db->batch, table, cpu, record) ? ingest_flush(in) : 0;
}

static int note_loss(struct ingest *in, unsigned int cpu, int64_t from_ts, int64_t to_ts,
		     int64_t missed)
{
	static const char sql[] =
		"INSERT INTO run_loss (run, cpu, from_ts, to_ts, count) VALUES (?1, ?2, ?3, ?4, ?5)";
	int64_t run = in->run->run;

	if (missed == PAGE_MISSED_UNKNOWN) {
		in->cpus[cpu].lost_unknown++;
		return db_run(in->db->db, sql, "iiiin", run, (int64_t)cpu, from_ts, to_ts);
	}
	in->cpus[cpu].lost += missed;
	return db_run(in->db->db, sql, "iiiii", run, (int64_t)cpu, from_ts, to_ts, missed);
}

/* One page; @last is the time of the span's event before it, 0 if there is none. */
static int read_page(struct ingest *in, unsigned int cpu, const uint8_t *page, size_t size,
		     int64_t *last)
{
	struct page_record record;
	struct page_walk walk;
	uint64_t n = 0;
	int64_t missed, page_ts;
	int ret, more;

	ret = page_open(&walk, page, size);
	missed = ret ? 0 : walk.missed;
	page_ts = ret ? 0 : (int64_t)walk.ts;
	while (!ret && (more = ret = page_next(&walk, &record)) > 0) {
		ret = 0;
		if (!n++ && missed) {
			ret = note_loss(in, cpu, *last, record.ts, missed);
			missed = 0;
		}
		*last = (int64_t)record.ts;
		ingest_saw(in, *last);
		ret = ret ?: push(in, cpu, &record);
	}
	in->cpus[cpu].records += n;
	if (!ret && missed)
		ret = note_loss(in, cpu, *last, page_ts, missed);
	return ret;
}

static int read_span(struct ingest *in, const struct tracedat_span *span)
{
	uint32_t page_size = in->file->page_size;
	int64_t last = 0;
	int ret = 0;

	for (uint64_t at = 0; at < span->size && !ret; at += page_size) {
		uint64_t left = span->size - at;

		ret = read_page(in, span->cpu, span->pages + at,
				left < page_size ? left : page_size, &last);
		if (ret == -EBADMSG && !*in->error)
			ingest_refuse(in, ret,
				      "the capture is damaged: page %llu of CPU %u does not decode",
				      (unsigned long long)(at / page_size), span->cpu);
	}
	return ret;
}

static int note_run(struct ingest *in)
{
	const struct ingest_run *run = in->run;
	sqlite3 *db = in->db->db;
	int ret;

	ret = db_run(db,
		     "INSERT INTO run VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
		     "iittttiiittt", run->run, (int64_t)run->round, run->arm, run->scenario,
		     run->capture, run->sha256, (int64_t)in->records, in->first_ts, in->last_ts,
		     in->file ? in->file->clock : "xen", in->file ? in->file->uname : "",
		     in->file ? in->file->cpustat : NULL);
	for (size_t i = 0; i < in->n_used && !ret; i++) {
		const struct event_table *table = in->used[i];
		int64_t count = table->count;

		if (table->layout && count)
			ret = db_run(db, "INSERT INTO run_span VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
				     "itiiii", run->run, table->event, table->version,
				     table->first_rowid, table->first_rowid + count - 1, count);
		else
			ret = db_run(db, "INSERT INTO run_span VALUES (?1, ?2, ?3, NULL, NULL, ?4)",
				     "itii", run->run, table->event, table->version, count);
	}
	for (unsigned int cpu = 0; in->file && cpu < in->file->n_cpus && !ret; cpu++)
		ret = db_run(db, "INSERT INTO run_cpu VALUES (?1, 'linux', ?2, ?3, ?4, ?5, NULL)",
			     "iiiii", run->run, (int64_t)cpu, (int64_t)in->cpus[cpu].records,
			     (int64_t)in->cpus[cpu].lost, (int64_t)in->cpus[cpu].lost_unknown);
	return ret;
}

/* ts_ns must be what its name says. */
static int check_clock(struct ingest *in)
{
	static const char *const not_ns[] = {"counter", "uptime", "x86-tsc", "ppc-tb"};

	for (size_t i = 0; i < ARRAY_SIZE(not_ns); i++)
		if (!strcmp(in->file->clock, not_ns[i]))
			return ingest_refuse(in, -EBADMSG,
					     "the capture's clock is %s, which does not count ns",
					     not_ns[i]);
	return 0;
}

static int store_linux(struct ingest *in)
{
	int ret;

	ret = open_empty_tables(in);
	for (size_t i = 0; i < in->file->n_spans && !ret; i++)
		ret = read_span(in, &in->file->spans[i]);
	return ret ?: ingest_flush(in);
}

static int store(struct ingest *in)
{
	sqlite3 *db = in->db->db;
	int ret;

	event_batch_start(in->db->batch, in->run->run);
	ret = db_begin(db);
	if (ret)
		return ret;
	if (in->file)
		ret = store_linux(in);
	if (in->xen)
		ret = ret ?: ingest_xen(in);
	ret = ret ?: note_run(in);
	if (ret && !*in->error)
		ingest_refuse(in, ret, "%s",
			      ret == -ENOSPC ? "the disk is full" : sqlite3_errmsg(db));
	/* Statements first: a rollback undoes the tables that they are prepared on. */
	for (size_t i = 0; i < in->n_used; i++)
		event_table_free(in->used[i]);
	ret = db_end(db, ret);
	empty_log(db);
	return ret;
}

/* Is the run here already? Then it is of these captures, or somebody mixes up two experiments. */
static int find_run(struct events_db *db, const struct ingest_run *run, char *ret_error,
		    size_t error_size)
{
	int64_t same;
	int ret;

	ret = db_get_int(db->db, &same,
			 "SELECT r.sha256 = ?2 AND x.sha256 IS ?3 FROM run r"
			 " LEFT JOIN run_xen x ON x.run = r.run WHERE r.run = ?1",
			 "itt", run->run, run->sha256, run->xen_path ? run->xen_sha256 : NULL);
	if (ret)
		return ret;
	if (!same) {
		snprintf(ret_error, error_size, "run %lld is stored already, of another capture",
			 (long long)run->run);
		ret = -EEXIST;
	}
	return ret;
}

/**
 * events_ingest() - decode a run's captures and store their events, all of them or none
 * @capture_path: trace.dat version 6; NULL for a run that has a hypervisor's capture only
 * @run: what the captures are; a run that is stored already is not stored again
 * @ret_result: the same in both cases; the caller's, with ingest_result_free()
 * @ret_error: one sentence on failure
 * @error_size: room in @ret_error
 *
 * When it returns 0 the events are on the disk, and the rows survive what may happen to the machine
 * next.
 *
 * Return: 0, -EBADMSG for a capture that cannot be decoded, -EEXIST for a run that is stored with
 * another capture, -EPROTONOSUPPORT for a trace.dat of version 7, -ENOSPC, -EROFS, -EIO, -EBUSY
 * after half a minute of waiting for another writer, or another negative errno.
 */
int events_ingest(struct events_db *db, const char *capture_path, const struct ingest_run *run,
		  struct ingest_result *ret_result, char *ret_error, size_t error_size)
{
	struct ingest *in;
	int ret;

	if (error_size)
		*ret_error = '\0';
	ret = find_run(db, run, ret_error, error_size);
	if (ret != -ENOENT)
		return ret ?: event_result_load(db->db, run->run, ret_result);
	in = calloc(1, sizeof(*in));
	if (!in)
		return -ENOMEM;
	in->db = db;
	in->run = run;
	in->error = ret_error;
	in->error_size = error_size;
	if (capture_path)
		ret = tracedat_open(capture_path, &in->file, ret_error, error_size)
			      ?: check_clock(in);
	else
		ret = 0;
	if (run->xen_path)
		ret = ret ?: xentrace_open(run->xen_path, &in->xen, ret_error, error_size);
	ret = ret ?: store(in);
	tracedat_close(in->file);
	xentrace_close(in->xen);
	free(in);
	return ret ?: event_result_load(db->db, run->run, ret_result);
}
