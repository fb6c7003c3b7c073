/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_CHANNEL_H
#define LABD_AGENT_CHANNEL_H

#include <stdbool.h>

/**
 * struct agent_link - an open channel; blocking, close-on-exec
 * @in: from the host
 * @out: to the host; may be the same descriptor
 */
struct agent_link {
	int in;
	int out;
};

/**
 * struct agent_channel_ops - a transport for the frames
 * @name: as logged
 * @reopens: after the host went away it may come back; else its end is the agent's end
 * @open: make a link with the host at its other end; waits at most @timeout_ms. 0 or negative
 * errno, -ETIMEDOUT when nobody came
 * @settle: wait until nothing that was written is still being moved by somebody on this machine; 0
 * or negative errno. NULL where nobody does
 */
struct agent_channel_ops {
	const char *name;
	bool reopens;
	int (*open)(const char *address, int timeout_ms, struct agent_link *ret_link);
	int (*settle)(int out);
};

extern const struct agent_channel_ops agent_channel_virtio; /* address: the port's name */
extern const struct agent_channel_ops
	agent_channel_fd; /* address: number of an inherited descriptor */
extern const struct agent_channel_ops
	agent_channel_disk; /* address: an image file, NULL for the machine's second ATA disk */

#endif
