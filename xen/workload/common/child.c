// SPDX-License-Identifier: GPL-2.0-only
/*
 * Other programs: started without a shell, waited for with a limit.
 */
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tracing.h"

enum { POLL_MS = 100 };

/**
 * child_start - start a program
 * @argv: its path and arguments
 * @out_fd: its standard output, or -1 for /dev/null
 * @err_fd: its standard error, or -1 for /dev/null
 * @ret_pid: its process, to be given to child_wait(). It dies with the caller.
 *
 * Return: 0 or a negative errno. A program that cannot be executed ends with status 127.
 */
int child_start(const char *const *argv, int out_fd, int err_fd, pid_t *ret_pid)
{
	pid_t pid;
	int null;

	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGPIPE, SIG_DFL);
		null = open("/dev/null", O_RDWR);
		dup2(null, STDIN_FILENO);
		dup2(out_fd < 0 ? null : out_fd, STDOUT_FILENO);
		dup2(err_fd < 0 ? null : err_fd, STDERR_FILENO);
		if (null > STDERR_FILENO)
			close(null);
		/* execv() takes the strings as they are; its prototype is older than const. */
		execv(argv[0], (char *const *)(uintptr_t)argv);
		fprintf(stderr, "cannot execute %s: %m\n", argv[0]);
		fflush(stderr);
		_exit(127);
	}
	*ret_pid = pid;
	return 0;
}

/**
 * child_wait - wait for a program's end, and kill it if that does not come
 * @pid: from child_start()
 * @limit_s: seconds to wait at most
 * @ret_status: as of waitpid()
 *
 * Return: 0, -ETIMEDOUT or -EINTR (meanwhile a signal asked us to end) if it was killed, or a
 * negative errno.
 */
int child_wait(pid_t pid, unsigned int limit_s, int *ret_status)
{
	uint64_t end = gnt_now_ns() + limit_s * UINT64_C(1000000000);
	/* What is begun after the signal is the clean-up. */
	bool stopped = gnt_stopped();
	struct pollfd poller;
	int status, ret = 0;

	poller.fd = syscall(SYS_pidfd_open, pid, 0);
	poller.events = POLLIN;
	if (poller.fd < 0)
		ret = -errno;
	while (!ret) {
		int n = poll(&poller, 1, POLL_MS);

		if (n > 0)
			break;
		if (!stopped && gnt_stopped())
			ret = -EINTR;
		else if (n < 0 && errno != EINTR)
			ret = -errno;
		else if (gnt_now_ns() >= end)
			ret = -ETIMEDOUT;
	}
	if (ret)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR) {
			status = 0;
			ret = ret ? ret : -errno;
			break;
		}
	if (poller.fd >= 0)
		close(poller.fd);
	if (!ret)
		*ret_status = status;
	return ret;
}

/**
 * child_run - run a program to its end
 * @argv: its path and arguments
 * @out_fd: its standard output, or -1
 * @err_fd: its standard error, or -1
 * @limit_s: seconds it may take
 *
 * Return: 0 if it ended with status 0, -ECHILD if it ended otherwise, or as child_wait().
 */
int child_run(const char *const *argv, int out_fd, int err_fd, unsigned int limit_s)
{
	int ret, status = 0;
	pid_t pid = 0;

	ret = child_start(argv, out_fd, err_fd, &pid);
	if (!ret)
		ret = child_wait(pid, limit_s, &status);
	if (!ret && status)
		ret = -ECHILD;
	return ret;
}
