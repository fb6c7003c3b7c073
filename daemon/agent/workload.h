/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_WORKLOAD_H
#define LABD_AGENT_WORKLOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "agent/job.h"

/* The output must fit into one DONE frame. */
#define AGENT_STDOUT_MAX (768u * 1024)
#define AGENT_STDERR_TAIL (8u * 1024)

enum agent_workload_end {
	AGENT_WORKLOAD_RUNNING,
	AGENT_WORKLOAD_ENDED, /* by itself; see @exit and @signal */
	AGENT_WORKLOAD_TIMEOUT,
	AGENT_WORKLOAD_CANCELLED,
};

/**
 * struct agent_workload - a workload and what it printed
 * @exit: exit code, when @signal is 0
 * @output: stdout, NUL-terminated, at most AGENT_STDOUT_MAX bytes
 * @too_long: it printed more than that
 * @tail: the last AGENT_STDERR_TAIL bytes of stderr
 */
struct agent_workload {
	enum agent_workload_end end;
	int exit;
	int signal;
	char *output;
	size_t output_len;
	bool too_long;
	char *tail;
	size_t tail_len;

	pid_t pid;
	int pid_fd;
	int out_fd;
	int err_fd;
};

int agent_workload_start(struct agent_workload *workload, const struct agent_job *job,
			 const char *bin_dir, const char *tracing_on);
void agent_workload_wait(struct agent_workload *workload, unsigned int timeout_ms, int host_fd,
			 int signal_fd);
void agent_workload_collect(struct agent_workload *workload);
void agent_workload_free(struct agent_workload *workload);

#endif
