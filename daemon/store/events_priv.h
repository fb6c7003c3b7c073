/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STORE_EVENTS_PRIV_H
#define LABD_STORE_EVENTS_PRIV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/decode.h"
#include "capture/layout.h"
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

/* events_table.c: tables, versions and views made from formats */
int event_table_open(sqlite3 *db, struct event_layout *layout, struct event_table **ret_table);
int event_table_unknown(uint16_t id, struct event_table **ret_table);
void event_table_free(struct event_table *table);

/* events_batch.c: the virtual table that feeds INSERT … SELECT */
#define BATCH_FIXED_COLUMNS 4 /* run, cpu, ts_ns, pid */
#define BATCH_END UINT32_MAX

int event_batch_open(sqlite3 *db, struct event_batch **ret_batch);
void event_batch_free(struct event_batch *batch);
void event_batch_start(struct event_batch *batch, int64_t run);
bool event_batch_push(struct event_batch *batch, struct event_table *table, unsigned int cpu,
		      const struct page_record *record);
int event_batch_flush(struct event_batch *batch, struct event_table *const *tables,
		      size_t n_tables);

/* events_result.c: what a stored run's tables say about it */
int event_result_load(sqlite3 *db, int64_t run, struct ingest_result *ret_result);

#endif
