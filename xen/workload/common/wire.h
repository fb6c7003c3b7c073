/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NET_WIRE_H
#define NET_WIRE_H

#include <stddef.h>
#include <stdint.h>

/*
 * What dom0's net and a domU's net-guest say to each other: one connection per request, which is a
 * line of text. An answer is a line too, "ok", "wrong N" or "error …", but for iperf3's output,
 * which ends with the connection.
 *
 *	ping				is the guest up, its iperf3 as well?
 *	iperf ADDRESS STREAMS SECONDS MIB LIMIT
 *					run iperf3 against ADDRESS for at most LIMIT seconds
 *	receive SEED BYTES		BYTES of the pattern follow; answers "wrong N"
 *	send SEED BYTES			the guest sends the pattern
 *	forward ADDRESS SEED BYTES	the guest does "receive" at ADDRESS, and passes on its
 *answer
 */
#define NET_CONTROL_PORT 5200u
#define NET_IPERF_PORT 5201u
#define NET_LINE 128u
#define NET_IPERF_OUTPUT (1u << 20) /* bytes of iperf3's output that are taken */
#define NET_STREAM_LIMIT_S 60u

int net_connect(const char *address, unsigned int port, unsigned int limit_ms, int *ret_fd);
int net_set_limit(int fd, unsigned int limit_s);
int net_write(int fd, const void *data, size_t size);
int net_write_line(int fd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int net_read_line(int fd, char *line, size_t size);
int net_stream_send(int fd, uint64_t seed, uint64_t bytes, unsigned int limit_s);
int net_stream_check(int fd, uint64_t seed, uint64_t bytes, unsigned int limit_s,
		     uint64_t *ret_wrong);

#endif
