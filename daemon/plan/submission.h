/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_SUBMISSION_H
#define LABD_PLAN_SUBMISSION_H

#include <jansson.h>
#include <sqlite3.h>

#include "plan/plan.h"
#include "plan/sched.h"
#include "plan/spec.h"

/**
 * struct submission - what a request's body becomes before anything is stored
 * @builds: manifests by arm
 * @plan_json: as plan_to_json() gives it
 */
struct submission {
	struct spec *spec;
	struct plan *plan;
	json_t *builds;
	json_t *plan_json;
};

int submission_prepare(const struct sched_config *config, sqlite3 *db, const char *body,
		       size_t length, struct submission *sub, struct problem *problem);
void submission_free(struct submission *sub);
int out_of_order(struct problem *problem, const char *what, int err);

#endif
