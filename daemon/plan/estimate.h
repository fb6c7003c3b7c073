/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_ESTIMATE_H
#define LABD_PLAN_ESTIMATE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan/spec.h"

/**
 * struct estimate - how long a plan will take, from what was done before
 * @known: @seconds says something
 * @seconds: first power-on to the last row stored, while nothing else is in the queue
 * @parallel: boots side by side
 * @boots_seen, @runs_seen: what it is the medians of
 * @why: one sentence: where it comes from, or what is not known
 */
struct estimate {
	bool known;
	double seconds;
	unsigned int parallel;
	int64_t boots_seen;
	int64_t runs_seen;
	char why[256];
};

int estimate_make(sqlite3 *db, const struct spec *spec, unsigned int capacity,
		  struct estimate *ret_estimate);

#endif
