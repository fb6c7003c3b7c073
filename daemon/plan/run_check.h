/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_RUN_CHECK_H
#define LABD_PLAN_RUN_CHECK_H

#include <jansson.h>
#include <sqlite3.h>
#include <stdint.h>

#include "plan/spec.h"
#include "store/events.h"

#define RUN_CHECKS_MAX 2

/**
 * struct run_check - what one check of a run found
 * @name: of the row in run_check
 * @checked: things that were looked at
 * @failed: of these, how many are wrong
 * @detail: for a person
 */
struct run_check {
	const char *name;
	int64_t checked;
	int64_t failed;
	char detail[200];
};

/**
 * struct run_checks - the checks of one run
 * @reason: of the first that failed, "" when none did
 */
struct run_checks {
	struct run_check checks[RUN_CHECKS_MAX];
	size_t n;
	char reason[200];
};

int run_checks_do(struct events_db *db, int64_t run, const struct spec *spec,
		  const json_t *workload, const struct ingest_result *result,
		  struct run_checks *ret_checks);
const char *run_checks_reason(const struct run_checks *checks);
int run_checks_note(sqlite3 *db, int64_t run, const struct run_checks *checks);

#endif
