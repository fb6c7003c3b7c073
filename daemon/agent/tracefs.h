/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_TRACEFS_H
#define LABD_AGENT_TRACEFS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tracefs.h>

#include "agent/job.h"

#define AGENT_MAX_CPUS 1024
/* Tracepoints that are listed at most, and bytes of the list: it has to fit one frame. */
#define AGENT_MAX_LISTED 8192
#define AGENT_LIST_MAX (512u << 10)

/**
 * struct agent_trace - a private trace instance, set up for one job
 * @job: borrowed
 * @made: which of the job's kprobes exist
 * @absent: "labd:name" of the kprobes whose symbol this kernel lacks
 * @cpus: buffers, one per possible CPU, numbered from 0
 * @page_size: of one ring-buffer page
 */
struct agent_trace {
	struct tracefs_instance *instance;
	const struct agent_job *job;
	bool made[AGENT_JOB_MAX_EVENTS];
	json_t *absent;
	int cpus;
	unsigned int page_size;
};

/**
 * struct agent_ring - what one CPU's ring buffer says about itself, in events (@bytes: bytes left)
 * @entries: still in the buffer
 * @overrun: overwritten before they were read
 * @commit_overrun: lost because an interrupt filled the buffer under an unfinished event
 * @dropped: refused by a full buffer that does not overwrite
 * @read: handed to the reader
 */
struct agent_ring {
	uint64_t entries;
	uint64_t overrun;
	uint64_t commit_overrun;
	uint64_t bytes;
	uint64_t dropped;
	uint64_t read;
};

void agent_trace_sweep(void);
json_t *agent_trace_events(void);
int agent_trace_setup(const struct agent_job *job, struct agent_trace **ret_trace, char *ret_error);
void agent_trace_remove(struct agent_trace *trace);
int agent_trace_switch(struct agent_trace *trace, bool on);
int agent_trace_open_raw(struct agent_trace *trace, int cpu);
int agent_trace_stats(struct agent_trace *trace, int cpu, struct agent_ring *ret_ring,
		      char **ret_text);
bool agent_trace_is_kprobe(const struct agent_job *job, const struct agent_event *event);

#endif
