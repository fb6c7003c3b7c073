/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_MACHINE_STATE_H
#define LABD_MACHINE_STATE_H

#include "machine/console.h"
#include "machine/machine.h"

/* Why the session stopped waiting for the machine; the first reason stays. */
enum boot_stop {
	STOP_NONE,
	STOP_CANCELLED,
	STOP_INFRA,	   /* the lab's own fault: no program, no file, no disk space */
	STOP_WRONG_KERNEL, /* the agent's proof is another kernel's */
	STOP_BOOT_TIMEOUT, /* no HELLO in time */
	STOP_SILENT,	   /* neither console nor agent said anything for too long */
	STOP_RUN_TIMEOUT,  /* no DONE in time */
	STOP_OFF_TIMEOUT,  /* told to power off, and did not */
	STOP_STALLED,	   /* the machine's own clock stood still */
	STOP_CONSOLE,	   /* the console shows a panic, an oops or a second boot */
	STOP_CHANNEL,	   /* the agent's channel closed */
	STOP_PROTOCOL,	   /* the agent's bytes make no sense */
	STOP_REFUSED,	   /* the run wants to ship more than is allowed */
	STOP_EXITED,	   /* the machine's program ended unasked */
};

/**
 * struct boot_facts - what the session observed
 * @why: one sentence that belongs to @stop, may be empty
 * @exited: the machine's program ended by itself, not killed by the session
 * @exit_signal: that ended it, 0 for none
 * @exit_status: when no signal did
 */
struct boot_facts {
	enum boot_stop stop;
	char why[256];
	bool exited;
	int exit_signal;
	int exit_status;
};

void boot_classify(const struct boot_facts *facts, const struct console_report *console,
		   struct boot_end *ret_end);

#endif
