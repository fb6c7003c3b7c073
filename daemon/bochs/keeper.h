/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BOCHS_KEEPER_H
#define LABD_BOCHS_KEEPER_H

#include <stdint.h>

/**
 * struct keeper_config - one boot, as the driver describes it
 * @bochs: the program
 * @limit_ms: at which the script ends
 * @config_fd: Bochs' configuration
 * @script_fd: its debugger's script
 * @grub_fd: GRUB's script
 * @boot_fd: becomes the boot disk
 * @channel_fd: the disk that host and guest share
 * @clock_fd: a page that is told the time in ns
 * @agent_fd: the session's frames
 * @console_fd: the kernel's serial console
 * @hypervisor_fd: the hypervisor's, -1 without one
 * @files: for the boot disk, and NULL
 */
struct keeper_config {
	const char *bochs;
	int64_t limit_ms;
	int config_fd;
	int script_fd;
	int grub_fd;
	int boot_fd;
	int channel_fd;
	int clock_fd;
	int agent_fd;
	int console_fd;
	int hypervisor_fd;
	char *const *files;
};

int keeper_run(const struct keeper_config *config);

#endif
