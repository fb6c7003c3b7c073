/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_MACHINE_SESSION_H
#define LABD_MACHINE_SESSION_H

#include "base/frame.h"
#include "machine/console.h"
#include "machine/machine.h"
#include "machine/receive.h"
#include "machine/state.h"

/* Inside of a boot's session: what session.c (its life) and pump.c (its bytes) share. */

enum boot_phase {
	PHASE_BOOTING, /* until HELLO */
	PHASE_IDLE,
	PHASE_RUNNING, /* JOB to DONE */
	PHASE_LISTING, /* EVENTS to EVENTS */
	PHASE_OFF,     /* QUIT was sent */
};

/**
 * struct boot - one boot
 * @facts: its @stop ends every wait
 * @error: negative errno that goes with the stop
 * @power_on_ns: mono_ns(), from which machine_now() counts
 * @last_sign_ns: when console or agent last said something, in the machine's time
 * @last_sign_host_ns: the same, mono_ns()
 * @moved_ns: what the machine's own clock showed when it was last seen to have moved
 * @moved_host_ns: when that was, or when the agent said something after it, mono_ns()
 * @hello: what HELLO said, until it is handed out
 * @run: the run in progress
 * @done: what DONE said, until it is handed out
 * @events: what EVENTS said, until it is handed out
 * @files: the run's captures: the kernel's, then the hypervisor's
 * @announced: of them, so many came or are coming
 * @started: STARTED came
 */
struct boot {
	const struct machine_ops *ops;
	struct boot_request request;
	struct machine_transport transport;
	struct console *console;
	struct frame_reader reader;
	struct boot_facts facts;
	enum boot_phase phase;
	int error;
	int64_t power_on_ns;
	int64_t last_sign_ns;
	int64_t last_sign_host_ns;
	int64_t moved_ns;
	int64_t moved_host_ns;
	json_t *hello;
	const struct run_request *run;
	json_t *done;
	json_t *events;
	struct receive files[2];
	unsigned int announced;
	bool started;
};

void boot_stop(struct boot *boot, enum boot_stop stop, int error, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

int64_t machine_now(const struct boot *boot);

/* pump.c */
void pump(struct boot *boot, int64_t timeout_ns);
void pump_drain(struct boot *boot);

/* frames.c */
int frames_take(void *arg, const struct frame *frame);

#endif
