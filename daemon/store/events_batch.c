// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decoded records on their way into typed tables. A batch of records is a virtual table of SQLite,
 * so that one INSERT … SELECT per event stores its share of a batch: no statement per row, no bind,
 * and each value goes straight from its page into the row that SQLite builds.
 *
 * The batch is small enough that its pages are still in the CPU's cache when the rows are made of
 * them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "store/db.h"
#include "store/events_priv.h"

/* Text that needs repair and is at most this long needs no memory of its own. */
#define TEXT_ON_STACK 1024

/**
 * struct batch_record - a record in its page
 * @next: the next one of the same event, or BATCH_END
 */
struct batch_record {
	int64_t ts;
	const uint8_t *data;
	uint32_t next;
	uint32_t size;
	uint32_t cpu;
};

/**
 * struct event_batch - records waiting, and the event whose records the virtual table shows
 */
struct event_batch {
	sqlite3 *db;
	const struct event_table *table;
	int64_t run;
	uint32_t n;
	struct batch_record records[BATCH_RECORDS];
};

struct batch_vtab {
	sqlite3_vtab base;
	struct event_batch *batch;
};

struct batch_cursor {
	sqlite3_vtab_cursor base;
	uint32_t at;
};

static struct event_batch *batch_of(sqlite3_vtab_cursor *cursor)
{
	return ((struct batch_vtab *)cursor->pVtab)->batch;
}

/* The columns have no meaning of their own: which they are depends on the event being stored. */
static int batch_connect(sqlite3 *db, void *aux, int argc, const char *const *argv,
			 sqlite3_vtab **ret_vtab, char **ret_error)
{
	char sql[16 + 8 * (LAYOUT_MAX_COLUMNS + BATCH_FIXED_COLUMNS)];
	struct batch_vtab *vtab;
	size_t len = 0;
	int rc;

	for (int i = 0; i < LAYOUT_MAX_COLUMNS + BATCH_FIXED_COLUMNS; i++)
		len += snprintf(sql + len, sizeof(sql) - len, "%sc%d",
				i ? ", " : "CREATE TABLE b (", i);
	snprintf(sql + len, sizeof(sql) - len, ")");
	rc = sqlite3_declare_vtab(db, sql);
	if (rc != SQLITE_OK)
		return rc;
	vtab = sqlite3_malloc(sizeof(*vtab));
	if (!vtab)
		return SQLITE_NOMEM;
	*vtab = (struct batch_vtab){.batch = aux};
	*ret_vtab = &vtab->base;
	return SQLITE_OK;
}

static int batch_disconnect(sqlite3_vtab *vtab)
{
	sqlite3_free(vtab);
	return SQLITE_OK;
}

static int batch_best_index(sqlite3_vtab *vtab, sqlite3_index_info *info)
{
	info->estimatedCost = BATCH_RECORDS;
	return SQLITE_OK;
}

static int batch_open(sqlite3_vtab *vtab, sqlite3_vtab_cursor **ret_cursor)
{
	struct batch_cursor *cursor = sqlite3_malloc(sizeof(*cursor));

	if (!cursor)
		return SQLITE_NOMEM;
	*cursor = (struct batch_cursor){.at = BATCH_END};
	*ret_cursor = &cursor->base;
	return SQLITE_OK;
}

static int batch_close(sqlite3_vtab_cursor *cursor)
{
	sqlite3_free(cursor);
	return SQLITE_OK;
}

static int batch_filter(sqlite3_vtab_cursor *cursor, int index, const char *name, int argc,
			sqlite3_value **argv)
{
	const struct event_table *table = batch_of(cursor)->table;

	((struct batch_cursor *)cursor)->at = table ? table->head : BATCH_END;
	return SQLITE_OK;
}

static int batch_next(sqlite3_vtab_cursor *base)
{
	struct batch_cursor *cursor = (struct batch_cursor *)base;

	cursor->at = batch_of(base)->records[cursor->at].next;
	return SQLITE_OK;
}

static int batch_eof(sqlite3_vtab_cursor *cursor)
{
	return ((struct batch_cursor *)cursor)->at == BATCH_END;
}

static int batch_rowid(sqlite3_vtab_cursor *cursor, sqlite3_int64 *ret_rowid)
{
	*ret_rowid = ((struct batch_cursor *)cursor)->at;
	return SQLITE_OK;
}

/* Length of the well-formed UTF-8 character at @text, 0 when there is none. */
static size_t utf8_char(const uint8_t *text, size_t size)
{
	size_t len = *text < 0x80   ? 1
		     : *text < 0xc2 ? 0
		     : *text < 0xe0 ? 2
		     : *text < 0xf0 ? 3
		     : *text < 0xf5 ? 4
				    : 0;

	if (!len || len > size)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	/* Overlong forms, surrogates, beyond the last code point. */
	if ((*text == 0xe0 && text[1] < 0xa0) || (*text == 0xed && text[1] > 0x9f) ||
	    (*text == 0xf0 && text[1] < 0x90) || (*text == 0xf4 && text[1] > 0x8f))
		return 0;
	return len;
}

static void result_text(sqlite3_context *ctx, const uint8_t *text, size_t size)
{
	static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */
	char on_stack[TEXT_ON_STACK], *copy = on_stack;
	size_t at = 0, len = 0, n;

	while (at < size && (n = utf8_char(text + at, size - at)))
		at += n;
	if (at == size) {
		sqlite3_result_text(ctx, (const char *)text, size, SQLITE_STATIC);
		return;
	}
	if (size * 3 > sizeof(on_stack)) {
		copy = sqlite3_malloc64(size * 3);
		if (!copy) {
			sqlite3_result_error_nomem(ctx);
			return;
		}
	}
	for (at = 0; at < size; at += n ?: 1) {
		n = utf8_char(text + at, size - at);
		memcpy(copy + len, n ? (const char *)text + at : replacement, n ?: 3);
		len += n ?: 3;
	}
	sqlite3_result_text(ctx, copy, len, SQLITE_TRANSIENT);
	if (copy != on_stack)
		sqlite3_free(copy);
}

static void result_value(sqlite3_context *ctx, const struct layout_column *column,
			 const struct batch_record *record)
{
	const uint8_t *bytes;
	int64_t value;
	size_t size;

	if (column->kind <= VALUE_64) {
		if (!layout_number(column, record->data, record->size, &value))
			sqlite3_result_int64(ctx, value);
		return;
	}
	if (layout_bytes(column, record->data, record->size, &bytes, &size))
		return;
	if (column->kind == VALUE_TEXT || column->kind == VALUE_TEXT_LOC ||
	    column->kind == VALUE_TEXT_REL)
		result_text(ctx, bytes, size);
	else
		sqlite3_result_blob(ctx, bytes, size, SQLITE_STATIC);
}

static int batch_column(sqlite3_vtab_cursor *cursor, sqlite3_context *ctx, int i)
{
	struct event_batch *batch = batch_of(cursor);
	const struct batch_record *record = &batch->records[((struct batch_cursor *)cursor)->at];
	const struct event_layout *layout = batch->table->layout;

	switch (i) {
	case 0:
		sqlite3_result_int64(ctx, batch->run);
		break;
	case 1:
		sqlite3_result_int64(ctx, record->cpu);
		break;
	case 2:
		sqlite3_result_int64(ctx, record->ts);
		break;
	case 3:
		result_value(ctx, &layout->pid, record);
		break;
	default:
		result_value(ctx, &layout->columns[i - BATCH_FIXED_COLUMNS], record);
	}
	return SQLITE_OK;
}

/* No xCreate: the table is there under its module's name, for this connection only. */
static const sqlite3_module batch_module = {
	.xConnect = batch_connect,
	.xBestIndex = batch_best_index,
	.xDisconnect = batch_disconnect,
	.xOpen = batch_open,
	.xClose = batch_close,
	.xFilter = batch_filter,
	.xNext = batch_next,
	.xEof = batch_eof,
	.xColumn = batch_column,
	.xRowid = batch_rowid,
};

/**
 * event_batch_open() - give a connection the virtual table event_batch
 * @ret_batch: the caller's, with event_batch_free() after the connection is closed
 *
 * Return: 0 or negative errno, logged.
 */
int event_batch_open(sqlite3 *db, struct event_batch **ret_batch)
{
	struct event_batch *batch = malloc(sizeof(*batch));

	if (!batch)
		return -ENOMEM;
	batch->db = db;
	batch->table = NULL;
	event_batch_start(batch, 0);
	if (sqlite3_create_module(db, "event_batch", &batch_module, batch) != SQLITE_OK) {
		int ret = db_error(db, "event_batch");

		free(batch);
		return ret;
	}
	*ret_batch = batch;
	return 0;
}

/** event_batch_free() - NULL is allowed */
void event_batch_free(struct event_batch *batch)
{
	free(batch);
}

/** event_batch_start() - forget what is in the batch; records pushed from now on are of @run */
void event_batch_start(struct event_batch *batch, int64_t run)
{
	batch->run = run;
	batch->n = 0;
}

/**
 * event_batch_push() - append a record, whose page must stay until the flush
 * @table: of the record's event
 *
 * Return: whether the batch is full and must be flushed now.
 */
bool event_batch_push(struct event_batch *batch, struct event_table *table, unsigned int cpu,
		      const struct page_record *record)
{
	uint32_t at = batch->n++;

	batch->records[at] = (struct batch_record){
		.ts = (int64_t)record->ts,
		.data = record->data,
		.next = BATCH_END,
		.size = record->size,
		.cpu = cpu,
	};
	if (table->head == BATCH_END)
		table->head = at;
	else
		batch->records[table->tail].next = at;
	table->tail = at;
	return batch->n == BATCH_RECORDS;
}

/**
 * event_batch_flush() - store the records and empty the batch
 * @tables: all tables that records were pushed for
 *
 * Return: 0 or negative errno; SQLite's message is the connection's last.
 */
int event_batch_flush(struct event_batch *batch, struct event_table *const *tables, size_t n_tables)
{
	int rc = SQLITE_DONE;

	for (size_t i = 0; i < n_tables && rc == SQLITE_DONE; i++) {
		struct event_table *table = tables[i];

		if (table->head == BATCH_END)
			continue;
		batch->table = table;
		rc = sqlite3_step(table->insert);
		sqlite3_reset(table->insert);
		table->head = BATCH_END;
	}
	batch->table = NULL;
	batch->n = 0;
	return rc == SQLITE_DONE ? 0 : db_errno(rc);
}
