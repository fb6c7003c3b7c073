/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_XENTRACE_H
#define LABD_AGENT_XENTRACE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define AGENT_XENTRACE_TAIL 2048

/*
 * How often xentrace looks into Xen's buffers unasked. Each look costs some system calls beside the
 * workload, so they are few; Xen wakes it when a buffer is half full, so that this bounds only how
 * long a run waits for its first and last records.
 */
#define AGENT_XENTRACE_POLL_MS 250

/**
 * struct agent_xentrace - a running or ended xentrace and its files
 * @path: the program
 * @fd: its stream, a nameless file
 * @limit: bytes that the file may have
 * @size: bytes that it has; final once it ended
 * @ended: it did, and the rest is valid
 * @exit: exit code, when @signal is 0
 * @full: it ended because the file had no more room
 * @tail: the end of what it said on stderr
 */
struct agent_xentrace {
	char path[PATH_MAX];
	int fd;
	uint64_t limit;
	uint64_t size;
	bool ended;
	int exit;
	int signal;
	bool full;
	char tail[AGENT_XENTRACE_TAIL + 1];
	size_t tail_len;

	pid_t pid;
	int pid_fd;
	int err_fd;
};

int agent_xentrace_start(struct agent_xentrace *xentrace, const char *bin_dir, const char *dir,
			 uint32_t mask, uint64_t limit);
bool agent_xentrace_wait(struct agent_xentrace *xentrace, int timeout_ms);
void agent_xentrace_stop(struct agent_xentrace *xentrace, int timeout_ms);
const char *agent_xentrace_last_words(const struct agent_xentrace *xentrace, char *ret_text,
				      size_t size);
void agent_xentrace_free(struct agent_xentrace *xentrace);

#endif
