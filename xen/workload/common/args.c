// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the command lines of the grant workloads have in common.
 */
#include "args.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/**
 * gnt_mistake - write the one sentence about a mistake
 * @err: filled
 * @err_size: size of @err in bytes
 * @fmt: as for printf()
 *
 * Return: always -EINVAL, so that callers can return it.
 */
int gnt_mistake(char *err, size_t err_size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, err_size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/**
 * gnt_parse_u64 - read a whole decimal number
 * @text: digits only; strtoull() itself takes blanks, signs and hexadecimal
 * @ret_value: the number
 *
 * Return: 0, or -EINVAL with @ret_value untouched.
 */
int gnt_parse_u64(const char *text, uint64_t *ret_value)
{
	unsigned long long value;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

/**
 * gnt_set_number - read a numeric option into its place, or say why getopt took none
 * @table: all numeric options
 * @count: how many these are
 * @options: the struct that the table's offsets count from
 * @opt: which option it is, or getopt's ':' or '?'
 * @text: its value, or the word that getopt did not like
 * @err: one sentence that says what is wrong
 * @err_size: size of @err in bytes
 *
 * Return: 0, or -EINVAL with @err filled and @options untouched.
 */
int gnt_set_number(const struct gnt_number *table, size_t count, void *options, int opt,
		   const char *text, char *err, size_t err_size)
{
	if (opt == ':')
		return gnt_mistake(err, err_size, "%s needs a value", text);
	if (opt == '?')
		return gnt_mistake(err, err_size, "%s is not an option, or takes no value", text);
	for (size_t i = 0; i < count; i++) {
		const struct gnt_number *n = &table[i];
		uint64_t value;

		if (n->opt != opt)
			continue;
		if (gnt_parse_u64(text, &value) || value < n->min || value > n->max)
			return gnt_mistake(err, err_size,
					   "%s must be a number from %u to %u, not \"%s\"", n->name,
					   n->min, n->max, text);
		*(unsigned int *)((char *)options + n->offset) = value;
		return 0;
	}
	return gnt_mistake(err, err_size, "option %d is not a number", opt);
}

/**
 * gnt_set_seed - take the seed of the environment
 * @env_seed: value of LABD_SEED, or NULL
 * @ret_seed: the seed; untouched without LABD_SEED
 * @err: one sentence that says what is wrong
 * @err_size: size of @err in bytes
 *
 * Return: 0, or -EINVAL with @err filled.
 */
int gnt_set_seed(const char *env_seed, uint64_t *ret_seed, char *err, size_t err_size)
{
	if (env_seed && gnt_parse_u64(env_seed, ret_seed))
		return gnt_mistake(err, err_size,
				   "LABD_SEED must be a number from 0 to 2^64-1, not \"%s\"",
				   env_seed);
	return 0;
}
