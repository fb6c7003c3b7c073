// SPDX-License-Identifier: GPL-2.0-only
/*
 * iperf3 as a child: its server for good, its client for one transfer.
 */
#include "iperf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "wire.h"

static const char iperf_path[] = "/bin/iperf3";

/**
 * iperf_serve - start a server that stays
 * @ret_pid: its process
 *
 * Return: 0 or a negative errno.
 */
int iperf_serve(pid_t *ret_pid)
{
	char port[16];
	const char *argv[] = {iperf_path, "-s", "-4", "-p", port, NULL};

	snprintf(port, sizeof(port), "%u", NET_IPERF_PORT);
	return child_start(argv, -1, STDERR_FILENO, ret_pid);
}

/**
 * iperf_listens - whether the server is ready for clients
 *
 * Asking it by a connection would be taken for a test.
 *
 * Return: true if something listens at its port.
 */
bool iperf_listens(void)
{
	char line[256], wanted[32];
	bool listens = false;
	FILE *file;

	/* In state 0A, of any address. */
	snprintf(wanted, sizeof(wanted), "00000000:%04X 00000000:0000 0A ", NET_IPERF_PORT);
	file = fopen("/proc/net/tcp", "re");
	while (file && !listens && fgets(line, sizeof(line), file))
		listens = strstr(line, wanted);
	if (file)
		fclose(file);
	return listens;
}

static int read_output(FILE *file, char **ret_text)
{
	char *text;
	size_t n;

	text = malloc(NET_IPERF_OUTPUT + 1);
	if (!text)
		return -ENOMEM;
	rewind(file);
	n = fread(text, 1, NET_IPERF_OUTPUT + 1, file);
	if (n > NET_IPERF_OUTPUT || ferror(file)) {
		free(text);
		return -EFBIG;
	}
	text[n] = '\0';
	*ret_text = text;
	return 0;
}

/**
 * iperf_client - transfer
 * @job: what, where to
 * @ret_json: what iperf3 printed, even if it failed, for it names errors there; NULL if nothing
 *	came of it. To be freed by the caller.
 *
 * Return: 0, -ECHILD if iperf3 failed, -ETIMEDOUT, or another negative errno.
 */
int iperf_client(const struct iperf_job *job, char **ret_json)
{
	char port[16], streams[16], amount[16];
	const char *argv[] = {iperf_path,  "-c",
			      job->server, "-4",
			      "-p",	   port,
			      "-J",	   "-i",
			      "0",	   "--connect-timeout",
			      "10000",	   "-P",
			      streams,	   job->seconds ? "-t" : "-n",
			      amount,	   job->reverse ? "-R" : NULL,
			      NULL};
	char *text = NULL;
	FILE *file;
	int ret, err;

	snprintf(port, sizeof(port), "%u", NET_IPERF_PORT);
	snprintf(streams, sizeof(streams), "%u", job->streams);
	snprintf(amount, sizeof(amount), job->seconds ? "%u" : "%uM",
		 job->seconds ? job->seconds : job->mib);
	*ret_json = NULL;
	file = tmpfile();
	if (!file)
		return -errno;
	fcntl(fileno(file), F_SETFD, FD_CLOEXEC);
	ret = child_run(argv, fileno(file), STDERR_FILENO, job->limit_s);
	err = read_output(file, &text);
	fclose(file);
	if (!err)
		*ret_json = text;
	return ret ? ret : err;
}
