// SPDX-License-Identifier: GPL-2.0-only
/*
 * What dom0 may ask of a domU, one request per connection.
 */
#include "requests.h"

#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/iperf.h"
#include "../common/wire.h"

enum { CONNECT_MS = 10000 };

static int run_iperf(int fd, const char *line)
{
	char address[INET_ADDRSTRLEN];
	struct iperf_job job = {.server = address};
	char *json;
	int ret;

	if (sscanf(line, "iperf %15s %u %u %u %u", address, &job.streams, &job.seconds, &job.mib,
		   &job.limit_s) != 5)
		return -EPROTO;
	ret = iperf_client(&job, &json);
	/* A failed iperf3 says in its output why. */
	if (json && *json)
		ret = net_write(fd, json, strlen(json));
	free(json);
	return ret;
}

static int receive(int fd, const char *line)
{
	uint64_t seed, bytes, wrong;
	int ret;

	if (sscanf(line, "receive %" SCNu64 " %" SCNu64, &seed, &bytes) != 2)
		return -EPROTO;
	ret = net_stream_check(fd, seed, bytes, NET_STREAM_LIMIT_S, &wrong);
	return ret ? ret : net_write_line(fd, "wrong %" PRIu64, wrong);
}

static int send_pattern(int fd, const char *line)
{
	uint64_t seed, bytes;

	if (sscanf(line, "send %" SCNu64 " %" SCNu64, &seed, &bytes) != 2)
		return -EPROTO;
	return net_stream_send(fd, seed, bytes, NET_STREAM_LIMIT_S);
}

static int forward(int fd, const char *line)
{
	char address[INET_ADDRSTRLEN], answer[NET_LINE];
	uint64_t seed, bytes;
	int other, ret;

	if (sscanf(line, "forward %15s %" SCNu64 " %" SCNu64, address, &seed, &bytes) != 3)
		return -EPROTO;
	ret = net_connect(address, NET_CONTROL_PORT, CONNECT_MS, &other);
	if (ret)
		return ret;
	ret = net_write_line(other, "receive %" PRIu64 " %" PRIu64, seed, bytes);
	if (!ret)
		ret = net_stream_send(other, seed, bytes, NET_STREAM_LIMIT_S);
	if (!ret)
		ret = net_read_line(other, answer, sizeof(answer));
	close(other);
	return ret ? ret : net_write_line(fd, "%s", answer);
}

static int ping(int fd, const char *line)
{
	(void)line;
	return net_write_line(fd, iperf_listens() ? "ok" : "error iperf3 does not listen yet");
}

static const struct request {
	const char *name;
	int (*serve)(int fd, const char *line);
} requests[] = {{"ping", ping},
		{"iperf", run_iperf},
		{"receive", receive},
		{"send", send_pattern},
		{"forward", forward}};

/**
 * guest_request - read one request and answer it
 * @fd: a connection; stays open. Failures are printed and answered if the other side still reads.
 */
void guest_request(int fd)
{
	char line[NET_LINE];
	size_t length;
	int ret;

	ret = net_read_line(fd, line, sizeof(line));
	if (ret)
		return;
	length = strcspn(line, " ");
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (strlen(requests[i].name) != length || memcmp(line, requests[i].name, length))
			continue;
		ret = requests[i].serve(fd, line);
		if (ret) {
			fprintf(stderr, "net-guest: %s: %s\n", line, strerror(-ret));
			net_write_line(fd, "error %s", strerror(-ret));
		}
		return;
	}
	net_write_line(fd, "error no such request");
}
