// SPDX-License-Identifier: GPL-2.0-only
/* Starts a program that dies with labd and inherits nothing that it was not given. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "machine/spawn.h"

#define ASK_TIMEOUT_NS 10000000000LL

/* In the child of a program with threads: nothing here may take a lock. */
static int become(const struct spawn_request *request, pid_t parent)
{
	sigset_t none;
	int null;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		return errno;
	if (getppid() != parent) /* it died before the line above */
		return ESRCH;
	setsid(); /* out of the reach of the terminal's Ctrl-C: labd ends its machines itself */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);

	null = open("/dev/null", O_RDONLY);
	if (null < 0 || dup2(null, 0) < 0 || dup2(request->output_fd, 1) < 0 ||
	    dup2(request->output_fd, 2) < 0)
		return errno;
	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC))
		return errno;
	for (size_t i = 0; i < request->n_keep; i++)
		if (fcntl(request->keep[i], F_SETFD, 0))
			return errno;
	execvp(request->argv[0], request->argv);
	return errno;
}

/**
 * spawn() - start a program
 * @ret_pid: its process id
 * @ret_pid_fd: a pidfd; end and reap it with spawn_kill()
 *
 * The program is killed when the calling *thread* ends: call it from one that lives as long as
 * labd.
 *
 * Return: 0 or negative errno, that of exec included.
 */
int spawn(const struct spawn_request *request, int *ret_pid, int *ret_pid_fd)
{
	int failure[2], error = 0, pid_fd;
	pid_t parent = getpid(), pid;
	ssize_t n;

	if (pipe2(failure, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (pid < 0) {
		error = errno;
		close(failure[0]);
		close(failure[1]);
		return -error;
	}
	if (!pid) {
		error = become(request, parent);
		n = write(failure[1], &error, sizeof(error));
		_exit(127);
	}
	close(failure[1]);
	pid_fd = pidfd_open(pid, 0);
	if (pid_fd < 0)
		error = errno;
	/* Closed by exec: nothing to read means that the program runs. */
	do
		n = error ? 0 : read(failure[0], &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close(failure[0]);
	if (error) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		if (pid_fd >= 0)
			close(pid_fd);
		return -error;
	}
	*ret_pid = pid;
	*ret_pid_fd = pid_fd;
	return 0;
}

/**
 * spawn_kill() - kill a program unless it ended, reap it and close its pidfd
 * @pid_fd: set to -1; a second call does nothing
 */
void spawn_kill(int *pid_fd)
{
	siginfo_t info;

	if (*pid_fd < 0)
		return;
	pidfd_send_signal(*pid_fd, SIGKILL, NULL, 0);
	while (waitid(P_PIDFD, *pid_fd, &info, WEXITED) && errno == EINTR)
		;
	close(*pid_fd);
	*pid_fd = -1;
}

/* What came, up to the end of the line that @wanted is in, of the output, or of the time. */
static int read_line(int fd, const char *wanted, char *text, size_t size)
{
	int64_t until = mono_ns() + ASK_TIMEOUT_NS;
	struct pollfd poll_fd = {fd, POLLIN};
	const char *found;
	size_t have = 0;
	ssize_t n;

	while (have < size - 1) {
		if (mono_ns() >= until)
			return -ETIMEDOUT;
		if (poll(&poll_fd, 1, 100) <= 0)
			continue;
		n = read(fd, text + have, size - 1 - have);
		if (n <= 0)
			break;
		have += n;
		text[have] = '\0';
		found = strstr(text, wanted);
		if (found && strpbrk(found, "\r\n"))
			break;
	}
	return 0;
}

/**
 * spawn_ask() - start a program for a line of its output
 * @wanted: the line is the first that has this in it, and begins there
 * @ret_text: the line, made printable, cut to @size
 *
 * Return: 0, -ENOEXEC when there is no such line, -ETIMEDOUT, or the negative errno of spawn().
 */
int spawn_ask(char *const *argv, const char *wanted, char *ret_text, size_t size)
{
	struct spawn_request request = {.argv = argv};
	int pipe_fd[2], pid, pid_fd = -1, ret;
	char text[4096] = "", *found;

	if (pipe2(pipe_fd, O_CLOEXEC))
		return -errno;
	request.output_fd = pipe_fd[1];
	ret = spawn(&request, &pid, &pid_fd);
	close(pipe_fd[1]);
	ret = ret ?: read_line(pipe_fd[0], wanted, text, sizeof(text));
	spawn_kill(&pid_fd);
	close(pipe_fd[0]);
	found = strstr(text, wanted);
	if (found)
		found[strcspn(found, "\r\n")] = '\0';
	if (!found || !*found)
		return ret ?: -ENOEXEC;
	snprintf(ret_text, size, "%s", found);
	for (char *p = ret_text; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	return 0;
}
