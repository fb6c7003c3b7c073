/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_SLOT_BOOT_H
#define LABD_PLAN_SLOT_BOOT_H

#include <jansson.h>
#include <limits.h>
#include <stddef.h>

#include "machine/machine.h"
#include "plan/exec.h"
#include "plan/plan.h"
#include "plan/spec.h"

/* What a planned boot is asked to do, for those who do it: the plan's slots, and a reproduction. */

/* At which a run's capture is refused. */
#define CAPTURE_MAX (4ULL << 30)

/**
 * struct slot_request - a boot's request with the texts that it points to
 * @boot: not to be copied without the rest
 */
struct slot_request {
	struct boot_request boot;
	char token[33];
	char runtime[PATH_MAX];
	char console[PATH_MAX];
};

/* job.c; a job's "run" is its number in the boot: its place in the slot, from 1 */
json_t *jobs_make(const struct spec *spec, const struct plan_slot *slot);
size_t job_place(const json_t *job);
unsigned int job_timeout_ms(const struct spec *spec, const struct plan_slot *slot, size_t place);

/* slot_request.c */
int slot_request_make(const struct exec *exec, const struct plan_slot *slot, const json_t *jobs,
		      const char *console, struct slot_request *ret_request);

#endif
