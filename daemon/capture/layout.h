/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_CAPTURE_LAYOUT_H
#define LABD_CAPTURE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "capture/tracedat_read.h"

#define LAYOUT_MAX_COLUMNS 500

/* An array of at most this many numbers becomes a column per element. */
#define LAYOUT_MAX_ELEMENTS 16

enum value_kind {
	VALUE_U8,
	VALUE_S8,
	VALUE_U16,
	VALUE_S16,
	VALUE_U32,
	VALUE_S32,
	VALUE_64_OR_NONE, /* 0 says that there is no value */
	VALUE_64,	  /* signed or not: the same 64 bits; the last of the numbers */
	VALUE_TEXT,
	VALUE_BYTES,
	VALUE_TEXT_LOC, /* the field says where in the record the text is */
	VALUE_BYTES_LOC,
	VALUE_TEXT_REL, /* the same, counted from the end of the field */
	VALUE_BYTES_REL,
};

/**
 * struct layout_column - one value of a record
 * @name: the field's, with _0, _1, … for the elements of a small array
 * @offset: bytes from the start of the record
 * @size: bytes, for VALUE_TEXT and VALUE_BYTES
 */
struct layout_column {
	char *name;
	enum value_kind kind;
	uint32_t offset;
	uint32_t size;
};

/**
 * struct event_layout - how to read the records of one event
 * @event: "system:event"
 * @pid: where common_pid is
 * @columns: the event's own fields in the order of its format
 * @format: the format file's text, NUL-terminated
 * @fields: its lines of fields, what decides about the columns; no id, no print format
 */
struct event_layout {
	char *event;
	struct layout_column pid;
	struct layout_column *columns;
	size_t n_columns;
	char *format;
	char *fields;
};

int event_layout_parse(const struct tracedat_format *format, struct event_layout **ret_layout);
void event_layout_free(struct event_layout *layout);

int layout_number(const struct layout_column *column, const uint8_t *data, size_t size,
		  int64_t *ret_value);
int layout_bytes(const struct layout_column *column, const uint8_t *data, size_t size,
		 const uint8_t **ret_bytes, size_t *ret_size);

#endif
