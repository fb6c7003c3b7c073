/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_SPOOL_H
#define LABD_AGENT_SPOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/tracefs.h"

#define AGENT_SPOOL_MAX (1ull << 30)

struct agent_spool;

/**
 * struct agent_spooled - what came off one CPU
 * @fd: file of raw pages; the spool's
 * @size: bytes, whole pages
 * @lost_pages: pages that came when there was no room left
 * @error: 0, or the negative errno that ended the reading early
 */
struct agent_spooled {
	int fd;
	uint64_t size;
	uint64_t lost_pages;
	int error;
};

int agent_spool_start(struct agent_trace *trace, const char *dir, uint64_t limit,
		      struct agent_spool **ret_spool);
void agent_spool_drain(struct agent_spool *spool);
const struct agent_spooled *agent_spool_cpu(const struct agent_spool *spool, int cpu);
void agent_spool_free(struct agent_spool *spool);

#endif
