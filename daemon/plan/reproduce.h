/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_REPRODUCE_H
#define LABD_PLAN_REPRODUCE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sha256.h"
#include "plan/exec.h"

/* A run done again: what reproduce.c (its queue), rerun.c (its boot) and likeness.c share. */

/**
 * struct reproduction - a row of the table, being worked on
 * @run: that is done again, of @experiment; the strings are its rows
 * @position: of its slot in the plan
 * @place: in its boot
 * @sha256: of its capture
 * @xen_sha256: of the hypervisor's, empty without one
 * @machine: as it was described then, JSON
 * @exec: the experiment as it would be booted now
 * @slot: of @exec's plan
 * @done: the agent's last word, this time
 * @reason: one sentence for the user when it fails
 */
struct reproduction {
	struct sched *sched;
	int64_t id;
	int64_t run;
	int64_t experiment;
	int64_t position;
	int64_t place;
	char *sha256;
	char *xen_sha256;
	char *machine;
	struct exec *exec;
	const struct plan_slot *slot;
	json_t *done;
	char reason[256];
};

/**
 * struct likeness - what the two runs have in common
 * @detail: for people and programs: every metric, the events, the captures
 */
struct likeness {
	bool metrics;
	bool events;
	bool captures;
	json_t *detail;
};

/* The reproduction's own files, which go when it ends. */
#define REPRODUCE_CAPTURE "dat"
#define REPRODUCE_XEN "xentrace"
#define REPRODUCE_EVENTS "db"

void reproduce_path(const struct reproduction *rep, const char *suffix, char ret_path[PATH_MAX]);
int reproduce_fail(struct reproduction *rep, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* rerun.c */
int rerun(struct reproduction *rep);

/* likeness.c */
int likeness_find(struct reproduction *rep, struct likeness *ret_likeness);

#endif
