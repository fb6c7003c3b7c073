/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_CAPTURE_H
#define LABD_AGENT_CAPTURE_H

#include "agent/spool.h"
#include "agent/tracefs.h"

int agent_capture_send(int fd, struct agent_trace *trace, const struct agent_spool *spool,
		       char *const stats[]);

#endif
