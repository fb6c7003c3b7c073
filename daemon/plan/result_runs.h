/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_RESULT_RUNS_H
#define LABD_PLAN_RESULT_RUNS_H

#include <sqlite3.h>
#include <stdint.h>

int result_runs_update(sqlite3 *db, int64_t experiment);

#endif
