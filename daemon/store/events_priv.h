/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STORE_EVENTS_PRIV_H
#define LABD_STORE_EVENTS_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/decode.h"
#include "capture/layout.h"
#include "capture/tracedat_read.h"
#include "capture/xentrace_read.h"
#include "store/events.h"

/* Parts of events.h's implementation; nobody else includes this. */

struct event_batch;

struct events_db {
	sqlite3 *db;
	struct event_batch *batch;
};

/**
 * struct event_table - where records of one event go during an ingest
 * @layout: of the event; NULL when the capture lacks its format, then records are only counted
 * @event: "system:event"
 * @version: of the event's format in this file, from 1
 * @table: name of the version's table
 * @insert: moves this event's records of the batch into @table
 * @head: first record in the batch, @tail the last
 * @first_rowid: of this run's rows; the last is @first_rowid + @count - 1
 */
struct event_table {
	struct event_layout *layout;
	char *event;
	int64_t version;
	char *table;
	sqlite3_stmt *insert;
	uint32_t head;
	uint32_t tail;
	int64_t first_rowid;
	uint64_t count;
};

/* Xen's known records, the unknown ones, and room for the table to grow. */
#define INGEST_MAX_XEN_TABLES 64

/**
 * struct ingest - one run's captures on their way into the tables
 * @file: NULL for a run without a Linux capture
 * @tables: by what the event's records start with
 * @used: the same and Xen's, in order of appearance
 */
struct ingest {
	struct events_db *db;
	struct tracedat_file *file;
	struct xentrace_file *xen;
	const struct ingest_run *run;
	struct event_table *tables[UINT16_MAX + 1];
	struct event_table *used[TRACEDAT_MAX_FORMATS + INGEST_MAX_XEN_TABLES];
	size_t n_used;
	struct ingest_cpu cpus[TRACEDAT_MAX_CPUS];
	uint64_t records;
	int64_t first_ts;
	int64_t last_ts;
	char *error;
	size_t error_size;
};

/* events.c */
int ingest_refuse(struct ingest *in, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int ingest_use(struct ingest *in, struct event_table *table);
void ingest_saw(struct ingest *in, int64_t ts);
int ingest_flush(struct ingest *in);

/* events_xen.c: a hypervisor's capture */
int ingest_xen(struct ingest *in);

/* events_table.c: tables, versions and views made from formats */
int event_table_open(sqlite3 *db, struct event_layout *layout, struct event_table **ret_table);
int event_table_unknown(uint16_t id, struct event_table **ret_table);
void event_table_free(struct event_table *table);

/* events_batch.c: the virtual table that feeds INSERT … SELECT */
#define BATCH_FIXED_COLUMNS 4 /* run, cpu, ts_ns, pid */
#define BATCH_END UINT32_MAX
#define BATCH_RECORDS 16384

int event_batch_open(sqlite3 *db, struct event_batch **ret_batch);
void event_batch_free(struct event_batch *batch);
void event_batch_start(struct event_batch *batch, int64_t run);
bool event_batch_push(struct event_batch *batch, struct event_table *table, unsigned int cpu,
		      const struct page_record *record);
int event_batch_flush(struct event_batch *batch, struct event_table *const *tables,
		      size_t n_tables);

/**
 * struct event_span - rows of one run in one table, of one version of an event's format
 * @table: NULL for an event that the run does not have, or of which only the count is known
 * @hash: of the format, NULL without @table
 */
struct event_span {
	char *table;
	char *hash;
	int64_t first;
	int64_t last;
	uint64_t count;
};

/* events_read.c */
int event_span_find(sqlite3 *db, int64_t run, const char *event, struct event_span *ret_span);
void event_span_free(struct event_span *span);

/* events_result.c: what a stored run's tables say about it */
int event_result_load(sqlite3 *db, int64_t run, struct ingest_result *ret_result);

#endif
