// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records this host's system calls under a dd with lab-agent, as a run in a machine is recorded,
 * and keeps the capture: record LAB-AGENT SPOOL-DIR CAPTURE BLOCKS
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/frame.h"
#include "base/util.h"

struct record {
	int out;
	bool done;
};

static int on_frame(void *arg, const struct frame *frame)
{
	struct record *record = arg;

	switch (frame->type) {
	case FRAME_DATA:
		return write_all(record->out, frame->payload, frame->length);
	case FRAME_DONE:
		record->done = true;
		return 0;
	default:
		return 0;
	}
}

static pid_t start_agent(const char *program, const char *spool, int fd)
{
	pid_t pid = fork();
	char number[12];

	if (pid)
		return pid;
	snprintf(number, sizeof(number), "%d", fd);
	/* The agent says which kernel it is on; here nobody asks. */
	dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDOUT_FILENO);
	execl(program, program, "--fd", number, "--bin", "/bin", "--spool", spool, NULL);
	perror(program);
	_exit(127);
}

static int record(int fd, struct record *record, const char *blocks)
{
	struct frame_reader reader;
	static uint8_t buffer[65536];
	char *job;
	ssize_t n;
	int ret;

	job = str_printf(
		"{\"run\":1,\"workload\":\"dd\",\"argv\":[\"if=/dev/zero\",\"of=/dev/null\",\"bs=1\","
		"\"count=%s\"],\"seed\":\"1\",\"timeout_ms\":120000,\"trace\":{\"events\":["
		"\"raw_syscalls:sys_enter\",\"raw_syscalls:sys_exit\"],\"kprobes\":[],"
		"\"buffer_kib_per_cpu\":262144,\"clock\":\"mono\"}}",
		blocks);
	ret = job ? frame_reader_init(&reader) : -ENOMEM;
	if (ret) {
		free(job);
		return ret;
	}
	ret = frame_write(fd, FRAME_JOB, job, strlen(job));
	while (!ret && !record->done) {
		n = read(fd, buffer, sizeof(buffer));
		ret = n > 0 ? frame_reader_push(&reader, buffer, n, on_frame, record)
		      : n   ? -errno
			    : -EPIPE;
	}
	ret = ret ?: frame_write(fd, FRAME_QUIT, NULL, 0);
	frame_reader_free(&reader);
	free(job);
	return ret;
}

int main(int argc, char **argv)
{
	struct record run = {0};
	int fds[2], ret;
	pid_t agent;

	if (argc != 5) {
		fprintf(stderr, "usage: record LAB-AGENT SPOOL-DIR CAPTURE BLOCKS\n");
		return EXIT_FAILURE;
	}
	run.out = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (run.out < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, fds)) {
		perror(argv[3]);
		return EXIT_FAILURE;
	}
	fcntl(fds[0], F_SETFD, FD_CLOEXEC);
	agent = start_agent(argv[1], argv[2], fds[1]);
	close(fds[1]);
	ret = agent < 0 ? -errno : record(fds[0], &run, argv[4]);
	close(fds[0]);
	if (agent > 0)
		waitpid(agent, NULL, 0);
	if (ret)
		fprintf(stderr, "record: %s\n", strerror(-ret));
	return ret || close(run.out) ? EXIT_FAILURE : EXIT_SUCCESS;
}
