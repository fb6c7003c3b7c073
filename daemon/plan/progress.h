/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_PROGRESS_H
#define LABD_PLAN_PROGRESS_H

#include <sqlite3.h>
#include <stdint.h>

int progress_json(sqlite3 *db, int64_t experiment, char **ret_json);

#endif
