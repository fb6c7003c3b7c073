// SPDX-License-Identifier: GPL-2.0-only
/*
 * From an event's format file to the places of its values, resolved once. libtraceevent reads the
 * lines of fields. The print format is kept from it: a store prints nothing, and that half of the
 * parser is the one that a hostile file would aim at.
 */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <traceevent/event-parse.h>

#include "base/util.h"
#include "capture/layout.h"

static const char empty_print[] = "\nprint fmt: \"\"\n";

/* Where in the record a dynamic field is: size in the upper half, offset in the lower. */
#define LOC_OFFSET(word) ((word)&0xffff)
#define LOC_SIZE(word) ((word) >> 16)

static bool is_char(const char *type)
{
	static const char *const prefixes[] = {"__data_loc ", "__rel_loc ", "const "};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(type, prefixes[i], strlen(prefixes[i])))
			type += strlen(prefixes[i]);
	return !strncmp(type, "char", 4) && (type[4] == '\0' || type[4] == '[' || type[4] == ' ');
}

static bool number_kind(size_t size, bool is_signed, enum value_kind *ret_kind)
{
	switch (size) {
	case 1:
		*ret_kind = is_signed ? VALUE_S8 : VALUE_U8;
		return true;
	case 2:
		*ret_kind = is_signed ? VALUE_S16 : VALUE_U16;
		return true;
	case 4:
		*ret_kind = is_signed ? VALUE_S32 : VALUE_U32;
		return true;
	case 8:
		*ret_kind = VALUE_64;
		return true;
	default:
		return false;
	}
}

static int add_column(struct event_layout *layout, char *name, enum value_kind kind,
		      uint32_t offset, uint32_t size)
{
	if (!name)
		return -ENOMEM;
	if (layout->n_columns == LAYOUT_MAX_COLUMNS) {
		free(name);
		return -E2BIG;
	}
	layout->columns[layout->n_columns++] = (struct layout_column){name, kind, offset, size};
	return 0;
}

static int add_field(struct event_layout *layout, const struct tep_format_field *field)
{
	bool text = is_char(field->type), is_signed = field->flags & TEP_FIELD_IS_SIGNED;
	unsigned int count = field->arraylen;
	enum value_kind kind;
	size_t each;
	int ret = 0;

	if (field->offset < 0 || field->size < 0 ||
	    (int64_t)field->offset + field->size > UINT16_MAX)
		return -EBADMSG;
	if (field->flags & (TEP_FIELD_IS_DYNAMIC | TEP_FIELD_IS_RELATIVE)) {
		if (field->flags & TEP_FIELD_IS_RELATIVE)
			kind = text ? VALUE_TEXT_REL : VALUE_BYTES_REL;
		else
			kind = text ? VALUE_TEXT_LOC : VALUE_BYTES_LOC;
		return add_column(layout, strdup(field->name), kind, field->offset, field->size);
	}
	if (!(field->flags & TEP_FIELD_IS_ARRAY)) {
		if (!number_kind(field->size, is_signed, &kind))
			kind = VALUE_BYTES;
		return add_column(layout, strdup(field->name), kind, field->offset, field->size);
	}
	/* Bytes in a row are an address or a buffer, not numbers of their own. */
	each = count ? field->size / count : 0;
	if (text || each < 2 || count > LAYOUT_MAX_ELEMENTS ||
	    !number_kind(each, is_signed, &kind)) {
		/* Without a length it is all that the record has left. */
		uint32_t size = field->size ?: UINT16_MAX;

		return add_column(layout, strdup(field->name), text ? VALUE_TEXT : VALUE_BYTES,
				  field->offset, size);
	}
	for (unsigned int i = 0; i < count && !ret; i++)
		ret = add_column(layout, str_printf("%s_%u", field->name, i), kind,
				 field->offset + i * each, each);
	return ret;
}

static int add_fields(struct event_layout *layout, const struct tep_event *event)
{
	const struct tep_format_field *field;
	int ret = 0;

	for (field = event->format.common_fields; field; field = field->next) {
		if (strcmp(field->name, "common_pid"))
			continue;
		if (field->size != 4 || field->offset < 0 || field->offset > UINT16_MAX)
			return -EBADMSG;
		layout->pid = (struct layout_column){.kind = VALUE_S32, .offset = field->offset};
	}
	for (field = event->format.fields; field && !ret; field = field->next)
		ret = add_field(layout, field);
	return ret;
}

/* The lines of fields, from behind "format:" to the print format. */
static int copy_texts(struct event_layout *layout, const struct tracedat_format *format)
{
	const char *end = memmem(format->text, format->size, "\nprint fmt:", 11);
	const char *start = memmem(format->text, format->size, "\n\tfield:", 8);

	layout->event = str_printf("%s:%s", format->system, format->name);
	layout->format = strndup(format->text, format->size);
	for (char *c = layout->format; c && *c; c++)
		if (*c & 0x80)
			*c = '?'; /* formats are ASCII */
	if (!start)
		start = end;
	if (!start || end < start)
		return -EBADMSG;
	layout->fields = strndup(start, end - start);
	layout->columns = calloc(LAYOUT_MAX_COLUMNS, sizeof(*layout->columns));
	return layout->event && layout->format && layout->fields && layout->columns ? 0 : -ENOMEM;
}

static int parse(struct event_layout *layout, const struct tracedat_format *format)
{
	const char *end = memmem(format->text, format->size, "\nprint fmt:", 11);
	size_t size = end ? end - format->text : 0;
	struct tep_handle *tep;
	struct tep_event **events;
	char *text;
	int ret;

	if (!end)
		return -EBADMSG;
	tep = tep_alloc();
	text = malloc(size + sizeof(empty_print));
	ret = tep && text ? 0 : -ENOMEM;
	if (ret)
		goto out_free;
	tep_set_loglevel(TEP_LOG_NONE);
	tep_set_long_size(tep, 8);
	memcpy(text, format->text, size);
	memcpy(text + size, empty_print, sizeof(empty_print));
	ret = -EBADMSG;
	if (tep_parse_event(tep, text, size + sizeof(empty_print) - 1, format->system))
		goto out_free;
	events = tep_list_events(tep, TEP_EVENT_SORT_ID);
	if (events && events[0])
		ret = add_fields(layout, events[0]);

out_free:
	free(text);
	tep_free(tep);
	return ret;
}

/**
 * event_layout_parse() - resolve the fields of an event
 * @format: of the capture
 * @ret_layout: the caller's, with event_layout_free()
 *
 * Return: 0, -EBADMSG for a text that is no format, -E2BIG for one of more than LAYOUT_MAX_COLUMNS
 * values, -ENOMEM.
 */
int event_layout_parse(const struct tracedat_format *format, struct event_layout **ret_layout)
{
	struct event_layout *layout = calloc(1, sizeof(*layout));
	int ret;

	if (!layout)
		return -ENOMEM;
	layout->pid.offset = UINT32_MAX / 2; /* outside of any record: no such field */
	ret = copy_texts(layout, format);
	ret = ret ?: parse(layout, format);
	if (ret)
		event_layout_free(layout);
	else
		*ret_layout = layout;
	return ret;
}

/** event_layout_free() - NULL is allowed */
void event_layout_free(struct event_layout *layout)
{
	if (!layout)
		return;
	for (size_t i = 0; i < layout->n_columns; i++)
		free(layout->columns[i].name);
	free(layout->columns);
	free(layout->event);
	free(layout->format);
	free(layout->fields);
	free(layout);
}

static const uint8_t number_size[] = {
	[VALUE_U8] = 1,	 [VALUE_S8] = 1,  [VALUE_U16] = 2, [VALUE_S16] = 2,
	[VALUE_U32] = 4, [VALUE_S32] = 4, [VALUE_64] = 8,
};

/**
 * layout_number() - a number out of a record
 * @column: of a kind up to VALUE_64
 * @data: the record
 * @size: its bytes
 * @ret_value: unsigned 64-bit values above INT64_MAX as two's complement
 *
 * Return: 0, -ENODATA when the record is too short to have it.
 */
int layout_number(const struct layout_column *column, const uint8_t *data, size_t size,
		  int64_t *ret_value)
{
	union {
		uint16_t u16;
		uint32_t u32;
		uint64_t u64;
	} v;

	if ((size_t)column->offset + number_size[column->kind] > size)
		return -ENODATA;
	data += column->offset;
	switch (column->kind) {
	case VALUE_U8:
		*ret_value = *data;
		break;
	case VALUE_S8:
		*ret_value = (int8_t)*data;
		break;
	case VALUE_U16:
		memcpy(&v.u16, data, 2);
		*ret_value = le16toh(v.u16);
		break;
	case VALUE_S16:
		memcpy(&v.u16, data, 2);
		*ret_value = (int16_t)le16toh(v.u16);
		break;
	case VALUE_U32:
		memcpy(&v.u32, data, 4);
		*ret_value = le32toh(v.u32);
		break;
	case VALUE_S32:
		memcpy(&v.u32, data, 4);
		*ret_value = (int32_t)le32toh(v.u32);
		break;
	default:
		memcpy(&v.u64, data, 8);
		*ret_value = (int64_t)le64toh(v.u64);
	}
	return 0;
}

/**
 * layout_bytes() - a string or an array out of a record
 * @column: of a kind above VALUE_64
 * @ret_bytes: in the record; a text ends before its NUL
 * @ret_size: bytes
 *
 * Return: 0, -ENODATA when the record does not have it, wherever it says that it is.
 */
int layout_bytes(const struct layout_column *column, const uint8_t *data, size_t size,
		 const uint8_t **ret_bytes, size_t *ret_size)
{
	size_t offset = column->offset, length = column->size;
	uint32_t word;

	if (column->kind >= VALUE_TEXT_LOC) {
		if (offset + sizeof(word) > size)
			return -ENODATA;
		memcpy(&word, data + offset, sizeof(word));
		word = le32toh(word);
		length = LOC_SIZE(word);
		if (column->kind >= VALUE_TEXT_REL)
			offset += sizeof(word) + LOC_OFFSET(word);
		else
			offset = LOC_OFFSET(word);
		if (offset + length > size)
			return -ENODATA;
	} else {
		if (offset > size)
			return -ENODATA;
		if (length > size - offset)
			length = size - offset;
	}
	*ret_bytes = data + offset;
	*ret_size = length;
	if (column->kind == VALUE_TEXT || column->kind == VALUE_TEXT_LOC ||
	    column->kind == VALUE_TEXT_REL)
		*ret_size = strnlen((const char *)data + offset, length);
	return 0;
}
