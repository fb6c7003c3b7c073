/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BASE_JSON_H
#define LABD_BASE_JSON_H

#include <jansson.h>

/** json_text() - the text that an object has under a key, "" where there is none */
static inline const char *json_text(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

#endif
