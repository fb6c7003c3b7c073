// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/problem.h"

/**
 * problem_set() - say what is wrong; the first problem stays
 * @key: path of the key, or NULL
 *
 * Return: -EINVAL, so that a checker can return the call.
 */
int problem_set(struct problem *problem, int status, const char *key, const char *fmt, ...)
{
	va_list args;

	if (problem->status)
		return -EINVAL;
	problem->status = status;
	snprintf(problem->key, sizeof(problem->key), "%s", key ? key : "");
	va_start(args, fmt);
	vsnprintf(problem->detail, sizeof(problem->detail), fmt, args);
	va_end(args);
	return -EINVAL;
}
