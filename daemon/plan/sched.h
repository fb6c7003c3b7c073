/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_SCHED_H
#define LABD_PLAN_SCHED_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/problem.h"

/*
 * The scheduler: one thread that takes experiments in the order of their submission, and its
 * helpers when an experiment's machine may run several times at once. Everything it is about to do
 * is in lab.db first, so that a labd that starts on the same data directory goes on where the last
 * one was killed.
 */
struct sched;

/**
 * sched_listen_fn - told that an experiment's state, a boot or a run has changed, after it was
 * stored
 *
 * Called on any of the scheduler's threads, or on that of a caller of it: must not block nor call
 * back.
 */
typedef void (*sched_listen_fn)(void *arg, int64_t experiment);

struct sched_config {
	const char *data_dir;
	const char *builds_dir; /* manifests of kernel/build.sh */
	const char *images_dir; /* <subject>.json */
	sched_listen_fn listen;
	void *listen_arg;
};

int sched_start(const struct sched_config *config, struct sched **ret_sched);
void sched_stop(struct sched *sched);

int sched_submit(struct sched *sched, const char *body, size_t length, const char *idempotency_key,
		 int64_t *ret_experiment, bool *ret_created, struct problem *problem);
int sched_preview(struct sched *sched, const char *body, size_t length, json_t **ret_preview,
		  struct problem *problem);
int sched_aa(struct sched *sched, int64_t base, int64_t *ret_experiment, struct problem *problem);
int sched_cancel(struct sched *sched, int64_t experiment, struct problem *problem);
int sched_register_build(struct sched *sched, const char *body, size_t length, char **ret_name,
			 struct problem *problem);
int sched_import(struct sched *sched, const char *body, size_t length, int64_t *ret_import,
		 struct problem *problem);
int sched_reproduce(struct sched *sched, int64_t run, int64_t *ret_reproduction,
		    struct problem *problem);

#endif
