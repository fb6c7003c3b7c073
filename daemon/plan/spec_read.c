// SPDX-License-Identifier: GPL-2.0-only
/* Readers of single JSON values, of lists and of objects with a table of keys. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "plan/spec_read.h"

static const char *type_name(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "an integer";
	case JSON_REAL:
		return "a number with a fraction";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a boolean";
	default:
		return "null";
	}
}

/**
 * spec_show() - a user's text cut and made printable, for a sentence or a path
 *
 * Return: @ret_shown.
 */
const char *spec_show(const char *text, char ret_shown[SPEC_NAME_MAX + 4])
{
	size_t i;

	for (i = 0; i < SPEC_NAME_MAX && text[i]; i++)
		ret_shown[i] = text[i] >= ' ' && text[i] <= '~' ? text[i] : '?';
	strcpy(ret_shown + i, text[i] ? "..." : "");
	return ret_shown;
}

/**
 * spec_problem() - refuse the value being read
 * @key: key below it that the mistake is about, or NULL for the value itself
 *
 * Return: -EINVAL.
 */
int spec_problem(struct spec_reader *reader, const char *key, const char *fmt, ...)
{
	char path[sizeof(reader->path)], detail[sizeof(reader->problem->detail)];
	bool dot = key && reader->path[0];
	va_list args;

	if (snprintf(path, sizeof(path), "%s%s%s", reader->path, dot ? "." : "", key ? key : "") >=
	    (int)sizeof(path))
		strcpy(path + sizeof(path) - 4, "...");
	va_start(args, fmt);
	vsnprintf(detail, sizeof(detail), fmt, args);
	va_end(args);
	return problem_set(reader->problem, 422, path, "%s", detail);
}

/* Opens a level of the path and returns where to cut it again. */
static size_t path_push(struct spec_reader *reader, const char *key, size_t index)
{
	size_t len = strlen(reader->path), room = sizeof(reader->path) - len;

	if (key)
		snprintf(reader->path + len, room, "%s%s", len ? "." : "", key);
	else
		snprintf(reader->path + len, room, "[%zu]", index);
	return len;
}

static const struct spec_key *find_key(const struct spec_key *keys, const char *name)
{
	while (keys->name && strcmp(keys->name, name))
		keys++;
	return keys->name ? keys : NULL;
}

static int unknown_key(struct spec_reader *reader, const struct spec_key *keys, const char *name)
{
	char shown[SPEC_NAME_MAX + 4], list[256] = "";
	size_t len = 0;

	for (; keys->name && len < sizeof(list); keys++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s", len ? ", " : "",
				keys->name);
	return spec_problem(reader, spec_show(name, shown), "Unknown key; known here are %s.",
			    list);
}

/**
 * spec_read_object() - read an object by its table of keys
 * @keys: what it may hold
 * @object: the struct that @keys' offsets are of
 *
 * Return: 0, -EINVAL with the problem set, or -ENOMEM.
 */
int spec_read_object(struct spec_reader *reader, const struct spec_key *keys, json_t *value,
		     void *object)
{
	const struct spec_key *key;
	const char *name;
	json_t *member;
	size_t mark;
	int ret;

	if (!json_is_object(value))
		return spec_problem(reader, NULL, "Must be an object, not %s.", type_name(value));
	json_object_foreach (value, name, member) {
		key = find_key(keys, name);
		if (!key)
			return unknown_key(reader, keys, name);
		mark = path_push(reader, name, 0);
		ret = key->read(reader, key, member, object);
		reader->path[mark] = '\0';
		if (ret)
			return ret;
	}
	for (key = keys; key->name; key++)
		if (key->required && !json_object_get(value, key->name))
			return spec_problem(reader, key->name, "Required, but missing.");
	return 0;
}

/**
 * spec_read_list() - read an array into a C array, item by item
 * @key: its @list says what the items are, @min and @max how many there may be
 *
 * Return: as spec_read_object().
 */
int spec_read_list(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		   void *object)
{
	const struct spec_list *list = key->list;
	size_t *count = (size_t *)((char *)object + list->count);
	char *slots = (char *)object + key->offset;
	json_t *item;
	size_t i, mark;
	int ret;

	if (!json_is_array(value))
		return spec_problem(reader, NULL, "Must be a list, not %s.", type_name(value));
	if (json_array_size(value) < (size_t)key->min || json_array_size(value) > (size_t)key->max)
		return spec_problem(reader, NULL, "Must hold %lld to %lld items, not %zu.",
				    (long long)key->min, (long long)key->max,
				    json_array_size(value));
	json_array_foreach (value, i, item) {
		*count = i + 1; /* first, so that a half-read item is freed too */
		mark = path_push(reader, NULL, i);
		ret = list->item(reader, item, slots + i * list->stride);
		reader->path[mark] = '\0';
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * spec_take_string() - the text of a JSON string that is not empty
 * @max: most bytes
 * @ret_text: the JSON value's own
 *
 * Return: 0 or -EINVAL with the problem set.
 */
int spec_take_string(struct spec_reader *reader, json_t *value, size_t max, const char **ret_text)
{
	if (!json_is_string(value))
		return spec_problem(reader, NULL, "Must be a string, not %s.", type_name(value));
	if (!json_string_length(value))
		return spec_problem(reader, NULL, "Must not be empty.");
	if (json_string_length(value) > max)
		return spec_problem(reader, NULL, "Must be at most %zu bytes long, not %zu.", max,
				    json_string_length(value));
	*ret_text = json_string_value(value);
	return 0;
}

/**
 * spec_take_choice() - one of some words
 * @names: the words, @n of them, at least 2
 *
 * Return: 0 or -EINVAL with the problem set, which lists the words.
 */
int spec_take_choice(struct spec_reader *reader, json_t *value, const char *const *names, size_t n,
		     size_t *ret_index)
{
	const char *text = json_string_value(value);
	char list[256] = "";
	size_t len = 0;

	for (size_t i = 0; text && i < n; i++) {
		if (!strcmp(text, names[i])) {
			*ret_index = i;
			return 0;
		}
	}
	for (size_t i = 0; i < n && len < sizeof(list); i++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s",
				!i	    ? ""
				: i + 1 < n ? ", "
					    : " or ",
				names[i]);
	return spec_problem(reader, NULL, "Must be %s.", list);
}

/** spec_store_string() - replace a field's text by a copy; 0 or -ENOMEM */
int spec_store_string(char **field, const char *text)
{
	char *copy = strdup(text);

	if (!copy)
		return -ENOMEM;
	free(*field);
	*field = copy;
	return 0;
}

/**
 * spec_is_word() - letters and digits, first a letter, digit or underscore
 * @max: most characters
 * @also: other characters that may follow the first
 */
bool spec_is_word(const char *text, size_t max, const char *also)
{
	size_t len = strlen(text);

	if (!len || len > max)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || (i && strchr(also, c))))
			return false;
	}
	return true;
}

/** spec_read_name() - a name that is safe in files, tables and shells */
int spec_read_name(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		   void *object)
{
	const char *text;
	int ret;

	ret = spec_take_string(reader, value, SPEC_NAME_MAX, &text);
	if (ret)
		return ret;
	if (!spec_is_word(text, SPEC_NAME_MAX, ".-"))
		return spec_problem(reader, NULL,
				    "May hold only letters, digits, '.', '_' and '-', "
				    "and must not start with '.' or '-'.");
	return spec_store_string((char **)((char *)object + key->offset), text);
}

/* Control characters of either kind; jansson has checked that the text is UTF-8. */
static bool is_printable(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	for (; *p; p++)
		if (*p < ' ' || *p == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0))
			return false;
	return true;
}

/** spec_read_text() - a line of printable UTF-8 of at most @key's max characters, not only blanks
 */
int spec_read_text(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		   void *object)
{
	size_t chars = 0;
	const char *text;
	int ret;

	ret = spec_take_string(reader, value, 4 * key->max, &text);
	if (ret)
		return ret;
	for (const char *p = text; *p; p++)
		chars += (*p & 0xc0) != 0x80;
	if (chars > (size_t)key->max)
		return spec_problem(reader, NULL, "Must be at most %lld characters long, not %zu.",
				    (long long)key->max, chars);
	if (!is_printable(text) || !text[strspn(text, " ")])
		return spec_problem(reader, NULL, "Must be one line of printable text.");
	return spec_store_string((char **)((char *)object + key->offset), text);
}

/** spec_read_ascii() - printable ASCII of at most @key's max characters; may be empty if its min is
 * 0 */
int spec_read_ascii(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		    void *object)
{
	const char *text = "";
	int ret;

	if (key->min || !json_is_string(value) || json_string_length(value)) {
		ret = spec_take_string(reader, value, key->max, &text);
		if (ret)
			return ret;
	}
	for (const char *p = text; *p; p++)
		if (*p < ' ' || *p > '~')
			return spec_problem(reader, NULL,
					    "May hold only printable ASCII characters.");
	return spec_store_string((char **)((char *)object + key->offset), text);
}

static int take_integer(struct spec_reader *reader, const struct spec_key *key, json_t *value,
			json_int_t *ret_number)
{
	json_int_t number = json_integer_value(value);

	if (!json_is_integer(value))
		return spec_problem(reader, NULL, "Must be an integer, not %s.", type_name(value));
	if (number < key->min || number > key->max)
		return spec_problem(reader, NULL, "Must be from %lld to %lld, not %lld.",
				    (long long)key->min, (long long)key->max, (long long)number);
	*ret_number = number;
	return 0;
}

/** spec_read_uint() - an integer of @key's range into an unsigned int */
int spec_read_uint(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		   void *object)
{
	json_int_t number;
	int ret;

	ret = take_integer(reader, key, value, &number);
	if (!ret)
		*(unsigned int *)((char *)object + key->offset) = number;
	return ret;
}

/** spec_read_u64() - an integer of @key's range into a uint64_t */
int spec_read_u64(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		  void *object)
{
	json_int_t number;
	int ret;

	ret = take_integer(reader, key, value, &number);
	if (!ret)
		*(uint64_t *)((char *)object + key->offset) = number;
	return ret;
}

/** spec_read_bool() - true or false into a bool */
int spec_read_bool(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		   void *object)
{
	if (!json_is_boolean(value))
		return spec_problem(reader, NULL, "Must be true or false, not %s.",
				    type_name(value));
	*(bool *)((char *)object + key->offset) = json_is_true(value);
	return 0;
}
