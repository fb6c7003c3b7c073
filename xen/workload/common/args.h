/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GNT_ARGS_H
#define GNT_ARGS_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct gnt_number - where a numeric option goes and what it may be
 * @opt:	its value in the table of long options
 * @name:	as on the command line
 * @offset:	of the unsigned int in the struct of options
 * @min:	smallest value
 * @max:	largest value
 */
struct gnt_number {
	int opt;
	const char *name;
	size_t offset;
	unsigned int min;
	unsigned int max;
};

__attribute__((format(printf, 3, 4))) int gnt_mistake(char *err, size_t err_size, const char *fmt,
						      ...);
int gnt_parse_u64(const char *text, uint64_t *ret_value);
int gnt_set_number(const struct gnt_number *table, size_t count, void *options, int opt,
		   const char *text, char *err, size_t err_size);
int gnt_set_seed(const char *env_seed, uint64_t *ret_seed, char *err, size_t err_size);

#endif
