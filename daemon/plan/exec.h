/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_EXEC_H
#define LABD_PLAN_EXEC_H

#include <jansson.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"
#include "plan/plan.h"
#include "plan/sched.h"
#include "plan/spec.h"
#include "store/events.h"

/**
 * struct sched - the scheduler (private to plan/)
 * @lock: guards the writer connection and the fields below it
 * @cancel_fd: eventfd, readable when the boots in progress must end
 * @current: experiment being carried out, 0 when idle
 */
struct sched {
	struct sched_config config;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	sqlite3 *db;
	int cancel_fd;
	int64_t current;
	bool stopping;
	bool cancelling;
};

/**
 * struct exec - an experiment being carried out
 * @builds: manifests by arm
 * @store_lock: guards @events: several slots may be in work at a time, and one stores
 */
struct exec {
	struct sched *sched;
	int64_t id;
	struct spec *spec;
	struct plan *plan;
	const struct machine_ops *ops;
	json_t *machine;
	json_t *image;
	json_t *builds[SPEC_MAX_ARMS];
	pthread_mutex_t store_lock;
	struct events_db *events;
};

/**
 * exec_pool_fn - does the piece of work @index
 * @stop: becomes true when no more is to be begun
 * @reason: filled with one sentence when it fails
 */
typedef int (*exec_pool_fn)(void *arg, size_t index, const atomic_bool *stop, char reason[256]);

void sched_publish(struct sched *sched, int64_t experiment);
void sched_rearm(struct sched *sched);

/* exec_*: negative errno; -ECANCELED when the user or the end of labd stopped it. */
int exec_load(struct sched *sched, int64_t id, struct exec **ret_exec, char reason[256]);
int exec_load(struct sched *sched, int64_t id, struct exec **ret_exec, char reason[256]);
int exec_open(struct sched *sched, int64_t id, struct exec **ret_exec, char reason[256]);
void exec_close(struct exec *exec);
int exec_experiment(struct exec *exec, char reason[256]);
int exec_slot(struct exec *exec, const struct plan_slot *slot, int64_t slot_id, char reason[256]);
int exec_store(struct exec *exec, char reason[256]);
int exec_wait_for_space(struct exec *exec, bool refused);
bool exec_interrupted(struct exec *exec);
bool exec_cancelled(struct exec *exec);
int exec_pool(unsigned int workers, size_t n, exec_pool_fn work, void *arg, char reason[256]);

int import_next(struct sched *sched);
void archive_clean(const struct sched *sched);
int reproduce_next(struct sched *sched);
int result_update(sqlite3 *db, int64_t experiment, const struct spec *spec);

#endif
