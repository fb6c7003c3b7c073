/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_CAPTURE_FORMAT_H
#define LABD_CAPTURE_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FORMAT_MAX_NAME 128

/* Where a field's value is. */
enum format_place {
	FORMAT_HERE,	 /* at the field's offset */
	FORMAT_DATA_LOC, /* the field says where, from the start of the record */
	FORMAT_REL_LOC,	 /* the same, from the end of the field */
};

/**
 * struct format_field - a line of a format file
 * @name: without the type
 * @is_text: an array of char
 * @is_array: of @count elements, 0 if the line does not say how many
 * @offset: bytes from the start of the record, @offset + @size is at most 64 Ki
 */
struct format_field {
	char name[FORMAT_MAX_NAME];
	enum format_place place;
	bool is_text;
	bool is_array;
	bool is_signed;
	uint32_t count;
	uint32_t offset;
	uint32_t size;
};

int format_next_field(const char **pos, const char *end, struct format_field *ret_field);

#endif
