/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_MACHINE_BOCHS_ARGS_H
#define LABD_MACHINE_BOCHS_ARGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "machine/machine.h"

/* Bochs' texts: its configuration, its debugger's script, and what its boot loader is told. */

#define BOCHS_TICK_NS 10 /* one instruction at 100 MIPS */
#define BOCHS_STEP_TICKS 10000000

/* The boot disk: GRUB, and from BOCHS_FILES_SECTOR the files, each from a sector's beginning. */
#define BOCHS_SECTOR 512
#define BOCHS_FILES_SECTOR 2048
#define BOCHS_FILES_MAX 3

/**
 * struct bochs_fds - what Bochs inherits
 * @boot: the boot disk
 * @channel: the disk that host and agent share
 * @console: the kernel's serial console
 * @hypervisor: the hypervisor's, -1 without one
 */
struct bochs_fds {
	int boot;
	int channel;
	int console;
	int hypervisor;
};

int bochs_machine_lines(json_t *lines, bool hypervisor);
char *bochs_config(const struct bochs_fds *fds);
char *bochs_script(uint64_t limit_ms);
unsigned int bochs_files(const struct boot_request *request,
			 const char *ret_paths[BOCHS_FILES_MAX]);
int bochs_grub(const struct boot_request *request, const uint64_t sizes[BOCHS_FILES_MAX],
	       char **ret_text);

#endif
