/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_VOID_PAIR_H
#define LABD_PLAN_VOID_PAIR_H

#include <sqlite3.h>
#include <stdint.h>

#include "plan/spec.h"

int void_pair_update(sqlite3 *db, int64_t experiment, const struct spec *spec);

#endif
