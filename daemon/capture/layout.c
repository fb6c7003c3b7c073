// SPDX-License-Identifier: GPL-2.0-only
/* From an event's format file to the places of its values, resolved once. */
#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "capture/format.h"
#include "capture/layout.h"

/* Where in the record a dynamic field is: size in the upper half, offset in the lower. */
#define LOC_OFFSET(word) ((word)&0xffff)
#define LOC_SIZE(word) ((word) >> 16)

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

static enum value_kind bytes_kind(const struct format_field *field)
{
	switch (field->place) {
	case FORMAT_DATA_LOC:
		return field->is_text ? VALUE_TEXT_LOC : VALUE_BYTES_LOC;
	case FORMAT_REL_LOC:
		return field->is_text ? VALUE_TEXT_REL : VALUE_BYTES_REL;
	default:
		return field->is_text ? VALUE_TEXT : VALUE_BYTES;
	}
}

static int add_field(struct event_layout *layout, const struct format_field *field)
{
	uint32_t each = field->count ? field->size / field->count : 0;
	enum value_kind kind;
	int ret = 0;

	if (!field->is_array && field->place == FORMAT_HERE &&
	    number_kind(field->size, field->is_signed, &kind))
		return add_column(layout, strdup(field->name), kind, field->offset, field->size);
	/* Bytes in a row are an address or a buffer, not numbers of their own. */
	if (field->place != FORMAT_HERE || field->is_text || each < 2 ||
	    field->count > LAYOUT_MAX_ELEMENTS || !number_kind(each, field->is_signed, &kind))
		/* Without a size it is all that the record has left. */
		return add_column(layout, strdup(field->name), bytes_kind(field), field->offset,
				  field->size ?: UINT16_MAX);
	for (uint32_t i = 0; i < field->count && !ret; i++)
		ret = add_column(layout, str_printf("%s_%u", field->name, i), kind,
				 field->offset + i * each, each);
	return ret;
}

static int add_fields(struct event_layout *layout)
{
	const char *pos = layout->fields, *end = pos + strlen(pos);
	struct format_field field;
	int ret;

	while ((ret = format_next_field(&pos, end, &field)) > 0) {
		if (!strcmp(field.name, "common_pid") && field.size == 4)
			layout->pid =
				(struct layout_column){.kind = VALUE_S32, .offset = field.offset};
		if (!strncmp(field.name, "common_", 7))
			continue;
		ret = add_field(layout, &field);
		if (ret)
			return ret;
	}
	return ret;
}

/* The lines of fields are those up to the print format. */
static int copy_texts(struct event_layout *layout, const struct tracedat_format *format)
{
	const char *end = memmem(format->text, format->size, "\nprint fmt:", 11);
	const char *start = memmem(format->text, format->size, "\n\tfield:", 8);

	layout->event = str_printf("%s:%s", format->system, format->name);
	layout->format = strndup(format->text, format->size);
	for (char *c = layout->format; c && *c; c++)
		if (*c & 0x80)
			*c = '?'; /* formats are ASCII */
	if (!end || !start || end < start)
		return -EBADMSG;
	layout->fields = strndup(start + 1, end - start - 1);
	layout->columns = calloc(LAYOUT_MAX_COLUMNS, sizeof(*layout->columns));
	return layout->event && layout->format && layout->fields && layout->columns ? 0 : -ENOMEM;
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
	ret = ret ?: add_fields(layout);
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
	[VALUE_U8] = 1,	 [VALUE_S8] = 1,  [VALUE_U16] = 2,	  [VALUE_S16] = 2,
	[VALUE_U32] = 4, [VALUE_S32] = 4, [VALUE_64_OR_NONE] = 8, [VALUE_64] = 8,
};

/**
 * layout_number() - a number out of a record
 * @column: of a kind up to VALUE_64
 * @data: the record
 * @size: its bytes
 * @ret_value: unsigned 64-bit values above INT64_MAX as two's complement
 *
 * Return: 0, -ENODATA when the record does not have it.
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
		if (column->kind == VALUE_64_OR_NONE && !v.u64)
			return -ENODATA;
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
