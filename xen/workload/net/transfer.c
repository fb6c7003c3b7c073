// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two transfers of a run: iperf3's, which is measured, and one whose contents are checked, for
 * iperf3 looks at no byte that it gets.
 */
#include "transfer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../common/iperf.h"
#include "../common/tracing.h"
#include "../common/wire.h"
#include "busy.h"
#include "domu.h"

enum {
	CONNECT_MS = 10000,
	ANSWER_MARGIN_S = 30,
};

/* Have the first domU run iperf3 against the second one. */
static int iperf_in_domu(const struct iperf_job *job, char **ret_json)
{
	size_t length = 0;
	ssize_t n = 0;
	char *json;
	int fd, ret;

	*ret_json = NULL;
	ret = net_connect(net_domu_address(0), NET_CONTROL_PORT, CONNECT_MS, &fd);
	if (ret)
		return ret;
	json = malloc(NET_IPERF_OUTPUT + 1);
	if (!json)
		ret = -ENOMEM;
	if (!ret)
		ret = net_set_limit(fd, job->limit_s + ANSWER_MARGIN_S);
	if (!ret)
		ret = net_write_line(fd, "iperf %s %u %u %u %u", job->server, job->streams,
				     job->seconds, job->mib, job->limit_s);
	while (!ret && length < NET_IPERF_OUTPUT) {
		n = read(fd, json + length, NET_IPERF_OUTPUT - length);
		if (n <= 0)
			break;
		length += n;
	}
	if (!ret && n < 0)
		ret = -errno;
	close(fd);
	if (ret) {
		free(json);
		return ret;
	}
	json[length] = '\0';
	*ret_json = json;
	return 0;
}

/* Numbers of iperf3's "end"; whoever sent them, they are only taken if they are there. */
static int take_end(json_t *end, struct net_result *r)
{
	json_t *sent = json_object_get(end, "sum_sent");
	json_t *received = json_object_get(end, "sum_received");
	json_t *bytes = json_object_get(received, "bytes");
	json_t *rate = json_object_get(received, "bits_per_second");

	if (!json_is_integer(bytes) || !json_is_number(rate) || json_integer_value(bytes) <= 0)
		return -EPROTO;
	r->bytes = json_integer_value(bytes);
	r->gbit = json_number_value(rate) / 1e9;
	r->retransmits = json_integer_value(json_object_get(sent, "retransmits"));
	return 0;
}

static int read_output(const char *text, struct net_result *r)
{
	json_error_t mistake;
	json_t *output, *error;
	int ret;

	/* iperf3 repeats keys of "start" for each stream. */
	output = json_loads(text, 0, &mistake);
	if (!output) {
		fprintf(stderr, "net: iperf3's output is not JSON (%s): %.200s\n", mistake.text,
			text);
		return -EPROTO;
	}
	error = json_object_get(output, "error");
	if (error) {
		fprintf(stderr, "net: iperf3 failed: %s\n",
			json_is_string(error) ? json_string_value(error) : "it does not say why");
		ret = -EIO;
	} else {
		ret = take_end(json_object_get(output, "end"), r);
		if (ret)
			fprintf(stderr, "net: iperf3 does not say how much arrived\n");
		else
			r->iperf3 = json_incref(json_object_get(output, "end"));
	}
	json_decref(output);
	return ret;
}

/**
 * net_measure - let iperf3 run, and count the time of dom0's vCPUs meanwhile
 * @o: what is asked for
 * @r: gets the measured values
 *
 * Return: 0 or a negative errno, printed.
 */
int net_measure(const struct net_options *o, struct net_result *r)
{
	struct iperf_job job = {
		.server = net_domu_address(o->direction == NET_DU_DU ? 1 : 0),
		.streams = o->streams,
		.seconds = o->seconds,
		.mib = o->mib,
		.limit_s = o->limit,
		.reverse = o->direction == NET_DU_D0,
	};
	char *json = NULL;
	int ret, err;

	ret = gnt_tracing(true);
	if (!ret)
		ret = net_busy_begin(r);
	if (ret)
		return ret;
	if (o->direction == NET_DU_DU)
		ret = iperf_in_domu(&job, &json);
	else
		ret = iperf_client(&job, &json);
	err = net_busy_end(r);
	if (ret == -ETIMEDOUT || ret == -EAGAIN)
		fprintf(stderr, "net: the transfer took more than --limit %u s\n", o->limit);
	else if (ret && ret != -ECHILD)
		fprintf(stderr, "net: iperf3: %s\n", strerror(-ret));
	if (json && (!ret || ret == -ECHILD)) {
		int bad = read_output(json, r);

		ret = ret ? ret : bad;
	}
	free(json);
	if (ret && ret != -EINTR)
		for (unsigned int i = 0; i < (o->direction == NET_DU_DU ? 2 : 1); i++)
			net_domu_console(i);
	return ret ? ret : err;
}

static int read_answer(int fd, uint64_t *ret_wrong)
{
	char answer[NET_LINE];
	int ret;

	ret = net_read_line(fd, answer, sizeof(answer));
	if (!ret && sscanf(answer, "wrong %" SCNu64, ret_wrong) != 1) {
		fprintf(stderr, "net: the domU answers \"%s\"\n", answer);
		ret = -EPROTO;
	}
	return ret;
}

/**
 * net_check - send the pattern the same way and count the wrong bytes
 * @o: what is asked for
 * @r: gets the counts
 *
 * Return: 0 even if bytes were wrong, or a negative errno, printed.
 */
int net_check(const struct net_options *o, struct net_result *r)
{
	uint64_t bytes = (uint64_t)o->check_mib << 20;
	int fd, ret;

	if (!bytes)
		return 0;
	ret = net_connect(net_domu_address(0), NET_CONTROL_PORT, CONNECT_MS, &fd);
	if (ret)
		goto out;
	/* Whoever asks for a forwarded stream waits for the whole of it. */
	ret = net_set_limit(fd, NET_STREAM_LIMIT_S + ANSWER_MARGIN_S);
	if (ret)
		goto out_close;
	switch (o->direction) {
	case NET_DU_D0:
		ret = net_write_line(fd, "send %" PRIu64 " %" PRIu64, o->seed, bytes);
		if (!ret)
			ret = net_stream_check(fd, o->seed, bytes, NET_STREAM_LIMIT_S, &r->wrong);
		break;
	case NET_D0_DU:
		ret = net_write_line(fd, "receive %" PRIu64 " %" PRIu64, o->seed, bytes);
		if (!ret)
			ret = net_stream_send(fd, o->seed, bytes, NET_STREAM_LIMIT_S);
		if (!ret)
			ret = read_answer(fd, &r->wrong);
		break;
	default:
		ret = net_write_line(fd, "forward %s %" PRIu64 " %" PRIu64, net_domu_address(1),
				     o->seed, bytes);
		if (!ret)
			ret = read_answer(fd, &r->wrong);
	}
	if (!ret)
		r->checked = bytes;
out_close:
	close(fd);
out:
	if (ret) {
		fprintf(stderr, "net: the checked transfer failed: %s\n", strerror(-ret));
		net_domu_console(0);
	}
	return ret;
}
