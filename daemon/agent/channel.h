/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_CHANNEL_H
#define LABD_AGENT_CHANNEL_H

#include <stdbool.h>

/**
 * struct agent_channel_ops - a transport for the frames
 * @name: as logged
 * @reopens: after the host went away it may come back; else its end is the agent's end
 * @open: make a blocking, close-on-exec descriptor with the host at its other end; waits at most
 * @timeout_ms. 0 or negative errno, -ETIMEDOUT when nobody came
 */
struct agent_channel_ops {
	const char *name;
	bool reopens;
	int (*open)(const char *address, int timeout_ms, int *ret_fd);
};

extern const struct agent_channel_ops agent_channel_virtio; /* address: the port's name */
extern const struct agent_channel_ops
	agent_channel_fd; /* address: number of an inherited descriptor */

#endif
