// SPDX-License-Identifier: GPL-2.0-only
/* What the queries of an address say, and answers that SQLite builds. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "http/request.h"

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c | 0x20) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* In place; false for what is no escape, or one of a NUL. */
static bool unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (*from != '%') {
			*to++ = *from == '+' ? ' ' : *from;
			continue;
		}
		if (hex_digit(from[1]) < 0 || hex_digit(from[2]) < 0)
			return false;
		*to = (char)(hex_digit(from[1]) << 4 | hex_digit(from[2]));
		if (!*to++)
			return false;
		from += 2;
	}
	*to = '\0';
	return true;
}

/**
 * request_argument() - a text behind the "?" of the address, unescaped
 * @max: bytes that it may have
 * @ret_text: the caller's to free; NULL when it is not there
 *
 * Return: 0, or -EINVAL with the answer set: 400 for what is no escaped UTF-8, 422 when too long.
 */
int request_argument(struct request *req, const char *name, size_t max, char **ret_text)
{
	const char *given =
		MHD_lookup_connection_value(req->connection, MHD_GET_ARGUMENT_KIND, name);
	char *text = given ? strdup(given) : NULL;
	json_t *json = NULL;
	bool good;

	*ret_text = NULL;
	if (!given)
		return 0;
	good = text && unescape(text) && (json = json_string(text));
	json_decref(json);
	if (good && strlen(text) <= max) {
		*ret_text = text;
		return 0;
	}
	free(text);
	if (good)
		respond_error(req, 422, name, "has at most %zu bytes", max);
	else
		respond_error(req, MHD_HTTP_BAD_REQUEST, name, "is no text in escaped UTF-8");
	return -EINVAL;
}

/**
 * respond_row() - answer with what db_get_text() found
 * @ret: what it returned
 * @text: what it gave, owned by the answer
 * @what: "experiment", for the message that there is none
 */
void respond_row(struct request *req, int ret, char *text, const char *what)
{
	if (!ret)
		respond_json_text(req, MHD_HTTP_OK, text);
	else if (ret == -ENOENT)
		respond_error(req, MHD_HTTP_NOT_FOUND, NULL, "there is no %s %lld", what,
			      (long long)req->id);
	else
		respond_errno(req, ret, "reading the database");
}
