// SPDX-License-Identifier: GPL-2.0-only
/* Starts a program that dies with labd and inherits nothing that it was not given. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "machine/spawn.h"

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
