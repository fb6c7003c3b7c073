/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_MACHINE_QEMU_ARGS_H
#define LABD_MACHINE_QEMU_ARGS_H

#include <jansson.h>
#include <stdbool.h>

#include "machine/machine.h"

/* How QEMU is started: one profile for a kernel on the machine itself, one for Xen below it. */

/**
 * struct qemu_fds - QEMU's ends of what it is connected to
 * @console: the kernel's serial console
 * @hypervisor: the hypervisor's, -1 without one
 * @agent: the agent's channel
 */
struct qemu_fds {
	int console;
	int hypervisor;
	int agent;
};

int qemu_machine_args(json_t *argv, const char *program, bool kvm, bool hypervisor);
int qemu_boot_args(json_t *argv, const struct boot_request *request, const struct qemu_fds *fds,
		   bool kvm);

#endif
