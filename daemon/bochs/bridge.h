/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BOCHS_BRIDGE_H
#define LABD_BOCHS_BRIDGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/frame.h"

/*
 * Between a guest that was told everything at power-on and a session that talks with its agent step
 * by step. The guest's frames pass whole, and behind a HELLO or DONE none does before the session
 * sent its next frame, which must be the very one that the guest finds on its disk. No I/O.
 */

/**
 * struct bridge - one boot's
 * @told: the frames that the guest was told: JOB... QUIT
 * @told_at: the session has sent so much of them
 * @session: parser of what the session sends
 * @guest: parser of what the guest sends
 * @out: whole frames for the session
 * @out_sent: of them, so many bytes are gone
 * @out_open: and so many may go
 * @waits: a HELLO or DONE passed, and nothing else may before the session answers
 * @done: frames HELLO and DONE that passed
 * @jobs: in @told
 * @quit: the session sent QUIT
 */
struct bridge {
	const uint8_t *told;
	size_t told_length;
	size_t told_at;
	struct frame_reader session;
	struct frame_reader guest;
	uint8_t *out;
	size_t out_length;
	size_t out_sent;
	size_t out_open;
	bool waits;
	unsigned int done;
	unsigned int jobs;
	bool quit;
};

int bridge_init(struct bridge *bridge, const void *told, size_t length);
void bridge_free(struct bridge *bridge);
int bridge_session(struct bridge *bridge, const void *bytes, size_t length);
bool bridge_wants_more(const struct bridge *bridge);
int bridge_guest(struct bridge *bridge, const void *bytes, size_t length);
void bridge_full(struct bridge *bridge);
size_t bridge_ready(const struct bridge *bridge, const uint8_t **ret_bytes);
void bridge_sent(struct bridge *bridge, size_t length);
bool bridge_complete(const struct bridge *bridge);

#endif
