/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NET_IPERF_H
#define NET_IPERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct iperf_job - one measured transfer
 * @server:	dotted address of the other side
 * @streams:	TCP connections
 * @seconds:	how long; 0: as long as @mib takes
 * @mib:	how much, over all streams
 * @limit_s:	seconds after which it is given up
 * @reverse:	the server sends
 */
struct iperf_job {
	const char *server;
	unsigned int streams;
	unsigned int seconds;
	unsigned int mib;
	unsigned int limit_s;
	bool reverse;
};

int iperf_serve(pid_t *ret_pid);
bool iperf_listens(void);
int iperf_client(const struct iperf_job *job, char **ret_json);

#endif
