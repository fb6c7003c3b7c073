/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_CAPTURE_H
#define LABD_AGENT_CAPTURE_H

#include "agent/spool.h"
#include "agent/tracefs.h"

struct agent_capture;

int agent_capture_make(struct agent_trace *trace, const struct agent_spool *spool,
		       char *const stats[], struct agent_capture **ret_capture);
int agent_capture_send(const struct agent_capture *capture, int fd);
void agent_capture_free(struct agent_capture *capture);

#endif
