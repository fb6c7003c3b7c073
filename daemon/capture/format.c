// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines of fields in tracefs' format files and in header_page:
 *
 *	field:unsigned long args[6];	offset:16;	size:48;	signed:0;
 *
 * libtraceevent reads them too, and much more; but a capture comes from a machine under test, and a
 * damaged line can make that parser follow a NULL pointer (seen with 1.7).
 */
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "capture/format.h"

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The number behind @key, which stands at *@pos; *@pos is moved behind its semicolon. */
static bool take_number(const char **pos, const char *end, const char *key, int64_t max,
			int64_t *ret_value)
{
	const char *start, *stop;
	char number[12] = "";

	while (*pos < end && (**pos == '\t' || **pos == ' '))
		++*pos;
	if ((size_t)(end - *pos) < strlen(key) || memcmp(*pos, key, strlen(key)))
		return false;
	start = *pos + strlen(key);
	stop = memchr(start, ';', end - start);
	if (!stop || (size_t)(stop - start) >= sizeof(number))
		return false;
	memcpy(number, start, stop - start);
	*pos = stop + 1;
	return !parse_i64(number, 0, max, ret_value);
}

static bool starts_with(const char **pos, const char *end, const char *word)
{
	if ((size_t)(end - *pos) < strlen(word) || memcmp(*pos, word, strlen(word)))
		return false;
	*pos += strlen(word);
	return true;
}

/* "unsigned long args[6]", "__data_loc char[] msg", "const struct kvm *kvm" */
static bool parse_declaration(const char *pos, const char *end, struct format_field *field)
{
	const char *name, *bracket;

	starts_with(&pos, end, " "); /* header_page has one */
	if (starts_with(&pos, end, "__data_loc "))
		field->place = FORMAT_DATA_LOC;
	else if (starts_with(&pos, end, "__rel_loc "))
		field->place = FORMAT_REL_LOC;
	if (end > pos && end[-1] == ']') {
		char number[8] = "";
		int64_t count;

		bracket = memrchr(pos, '[', end - pos);
		if (!bracket)
			return false;
		field->is_array = true;
		/* Old kernels name a constant here; then only the size is known. */
		if ((size_t)(end - bracket - 2) < sizeof(number)) {
			memcpy(number, bracket + 1, end - bracket - 2);
			if (!parse_i64(number, 0, UINT16_MAX, &count))
				field->count = count;
		}
		end = bracket;
	}
	for (name = end; name > pos && is_word(name[-1]);)
		name--;
	if (name == end || name == pos || (size_t)(end - name) >= sizeof(field->name))
		return false;
	memcpy(field->name, name, end - name);
	starts_with(&pos, name, "const ");
	field->is_text = starts_with(&pos, name, "char") && (pos == name || !is_word(*pos)) &&
			 !memchr(pos, '*', name - pos) &&
			 (field->is_array || field->place != FORMAT_HERE);
	return true;
}

/**
 * format_next_field() - the next line that describes a field
 * @pos: where to look, moved behind the line
 * @end: end of the lines
 * @ret_field: untouched unless 1 is returned
 *
 * Return: 1, 0 when there is no further field, -EBADMSG for a line that is none.
 */
int format_next_field(const char **pos, const char *end, struct format_field *ret_field)
{
	while (*pos < end) {
		int64_t offset, size, is_signed = 0;
		struct format_field field = {0};
		const char *line = *pos, *stop;

		stop = memchr(line, '\n', end - line) ?: end;
		*pos = stop < end ? stop + 1 : end;
		if (!starts_with(&line, stop, "\tfield:"))
			continue;
		end = stop;
		stop = memchr(line, ';', end - line);
		if (!stop || !parse_declaration(line, stop, &field))
			return -EBADMSG;
		line = stop + 1;
		if (!take_number(&line, end, "offset:", UINT16_MAX + 1, &offset) ||
		    !take_number(&line, end, "size:", UINT16_MAX + 1, &size) ||
		    offset + size > UINT16_MAX + 1)
			return -EBADMSG;
		take_number(&line, end, "signed:", 1, &is_signed); /* not in every old kernel */
		field.offset = offset;
		field.size = size;
		field.is_signed = is_signed;
		*ret_field = field;
		return 1;
	}
	return 0;
}
