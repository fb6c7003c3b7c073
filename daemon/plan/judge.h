/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_JUDGE_H
#define LABD_PLAN_JUDGE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan/spec.h"

/* Of the statistics: with a higher one, labd judges again at its start what an older one judged. */
#define JUDGE_VERSION 1

/*
 * An experiment's verdicts, in three steps, so that the database is needed for short times only:
 * what is there is read, the statistics are made without it, and what they say is stored.
 */
struct judgement;

int judge_load(sqlite3 *db, int64_t experiment, const char *state,
	       struct judgement **ret_judgement);
int judge_compute(struct judgement *judgement, bool (*stop)(void *arg), void *arg);
int judge_store(sqlite3 *db, const struct judgement *judgement);
void judge_free(struct judgement *judgement);

int judge_note_plan(sqlite3 *db, int64_t experiment, const struct spec *spec);
int judge_find(sqlite3 *db, int64_t *ret_experiment);
int judge_others(sqlite3 *db, int64_t experiment);

#endif
