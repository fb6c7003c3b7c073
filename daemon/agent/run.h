/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_RUN_H
#define LABD_AGENT_RUN_H

#include <stddef.h>

/**
 * struct agent_settings - what the command line decided
 * @bin_dir: folder of the workloads
 * @spool_dir: folder on a tmpfs
 * @signal_fd: readable when the agent is told to stop
 * @settle: the channel's (see struct agent_channel_ops), may be NULL
 */
struct agent_settings {
	const char *bin_dir;
	const char *spool_dir;
	int signal_fd;
	int (*settle)(int out);
};

int agent_run(const struct agent_settings *settings, int fd, const void *job, size_t length);

#endif
