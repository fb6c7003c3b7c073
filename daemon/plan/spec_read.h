/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_SPEC_READ_H
#define LABD_PLAN_SPEC_READ_H

#include <stddef.h>

#include "plan/spec.h"

/* Inside of the spec parser: one table of accepted keys per JSON object, and the readers they name.
 */

#define SPEC_NAME_MAX 64

/**
 * struct spec_reader - where the parser is
 * @path: of the value being read: "arms[1].build"
 */
struct spec_reader {
	struct problem *problem;
	char path[128];
};

/**
 * struct spec_list - what the items of a JSON array are
 * @item: reads one into the C array's slot
 * @count: offset of the size_t that counts them, in the object that holds the array
 * @stride: size of a slot
 */
struct spec_list {
	int (*item)(struct spec_reader *reader, json_t *value, void *slot);
	size_t count;
	size_t stride;
};

/**
 * struct spec_key - one key that an object accepts; a table ends with a NULL name
 * @read: checks the value and stores it
 * @offset: of the field in the object
 * @required: its absence is a mistake
 * @min: smallest number, shortest text or list
 * @max: largest number, longest text or list
 * @list: of spec_read_list()
 */
struct spec_key {
	const char *name;
	int (*read)(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		    void *object);
	size_t offset;
	bool required;
	int64_t min;
	int64_t max;
	const struct spec_list *list;
};

int spec_read_object(struct spec_reader *reader, const struct spec_key *keys, json_t *value,
		     void *object);
int spec_read_list(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		   void *object);
int spec_read_name(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		   void *object);
int spec_read_text(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		   void *object);
int spec_read_ascii(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		    void *object);
int spec_read_uint(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		   void *object);
int spec_read_u64(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		  void *object);
int spec_read_bool(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		   void *object);

int spec_take_string(struct spec_reader *reader, json_t *value, size_t max, const char **ret_text);
int spec_take_choice(struct spec_reader *reader, json_t *value, const char *const *names, size_t n,
		     size_t *ret_index);
int spec_store_string(char **field, const char *text);
int spec_problem(struct spec_reader *reader, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
const char *spec_show(const char *text, char ret_shown[SPEC_NAME_MAX + 4]);
bool spec_is_word(const char *text, size_t max, const char *also);

/* spec_metric.c */
int spec_read_metric(struct spec_reader *reader, json_t *value, void *slot);
void spec_metric_free(struct spec_metric *metric);

/* spec_trace.c */
int spec_read_trace(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		    void *object);
int spec_read_event(struct spec_reader *reader, json_t *value, void *slot);

/* spec_xen.c */
int spec_check_xen_event(struct spec_reader *reader, const char *event);
int spec_read_xen_mask(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		       void *object);

/* spec_primary.c */
int spec_read_primary(struct spec_reader *reader, struct spec *spec);

/* spec_check.c */
int spec_check(const struct spec *spec, struct problem *problem);

#endif
