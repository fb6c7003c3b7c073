// SPDX-License-Identifier: GPL-2.0-only
/* One workload: started in a process group of its own, watched, and its output kept within bounds.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/workload.h"
#include "base/util.h"

#define READ_CHUNK 16384

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

/* Runs in the child of a threaded process: system calls only. */
static void child(const char *path, char *const argv[], char *const envp[], int out, int err)
	__attribute__((noreturn));

static void child(const char *path, char *const argv[], char *const envp[], int out, int err)
{
	static const char message[] = "lab-agent: cannot execute the workload\n";
	sigset_t none;
	int null;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
	null = open("/dev/null", O_RDONLY);
	if (null >= 0)
		dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	execve(path, argv, envp);
	if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
		_exit(126);
	_exit(127);
}

/**
 * agent_workload_start() - start the job's program
 * @workload: filled; ends with agent_workload_free() whatever is returned
 * @job: its workload, argv and seed
 * @bin_dir: folder of the workloads
 * @tracing_on: file that turns the run's trace off and on. A workload that sets up at length before
 *	the part that counts may write "0" there at its start and "1" when that part begins.
 *
 * Return: 0 or negative errno. A program that cannot be executed ends with code 127.
 */
int agent_workload_start(struct agent_workload *workload, const struct agent_job *job,
			 const char *bin_dir, const char *tracing_on)
{
	char path[PATH_MAX], seed[64], tracing[PATH_MAX + 32];
	char *envp[] = {seed, tracing, "PATH=/bin:/sbin:/usr/bin:/usr/sbin", NULL};
	int out[2] = {-1, -1}, err[2] = {-1, -1};
	int ret = 0;

	memset(workload, 0, sizeof(*workload));
	workload->pid_fd = workload->out_fd = workload->err_fd = -1;
	workload->output = malloc(AGENT_STDOUT_MAX + 1);
	workload->tail = malloc(2 * AGENT_STDERR_TAIL);
	if (!workload->output || !workload->tail)
		return -ENOMEM;
	snprintf(seed, sizeof(seed), "LABD_SEED=%s", job->seed);
	snprintf(tracing, sizeof(tracing), "LABD_TRACING_ON=%s", tracing_on);
	if (snprintf(path, sizeof(path), "%s/%s", bin_dir, job->workload) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	if (pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) {
		ret = -errno;
		goto out;
	}
	workload->pid = fork();
	if (!workload->pid)
		child(path, job->argv, envp, out[1], err[1]);
	if (workload->pid < 0) {
		ret = -errno;
		workload->pid = 0;
		goto out;
	}
	/* Also here: the group must exist before it may have to be killed. */
	setpgid(workload->pid, workload->pid);
	workload->pid_fd = syscall(SYS_pidfd_open, workload->pid, 0);
	if (workload->pid_fd < 0) {
		ret = -errno;
		goto out;
	}
	workload->out_fd = out[0];
	workload->err_fd = err[0];
	out[0] = err[0] = -1;
	fcntl(workload->out_fd, F_SETFL, O_NONBLOCK);
	fcntl(workload->err_fd, F_SETFL, O_NONBLOCK);

out:
	for (int i = 0; i < 2; i++) {
		close_fd(&out[i]);
		close_fd(&err[i]);
	}
	return ret;
}

/* Read what a pipe holds; false at its end. */
static bool read_output(struct agent_workload *workload)
{
	char chunk[READ_CHUNK];
	size_t room;
	ssize_t n;

	while ((n = read(workload->out_fd, chunk, sizeof(chunk))) > 0) {
		room = AGENT_STDOUT_MAX - workload->output_len;
		if ((size_t)n > room) {
			workload->too_long = true;
			n = room;
		}
		memcpy(workload->output + workload->output_len, chunk, n);
		workload->output_len += n;
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* The same for stderr, of which only the end is kept. */
static bool read_errors(struct agent_workload *workload)
{
	ssize_t n;

	while ((n = read(workload->err_fd, workload->tail + workload->tail_len,
			 2 * AGENT_STDERR_TAIL - workload->tail_len)) > 0) {
		workload->tail_len += n;
		if (workload->tail_len == 2 * AGENT_STDERR_TAIL) {
			memcpy(workload->tail, workload->tail + AGENT_STDERR_TAIL,
			       AGENT_STDERR_TAIL);
			workload->tail_len = AGENT_STDERR_TAIL;
		}
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

static void kill_group(struct agent_workload *workload)
{
	/* The leader is not reaped yet, so that its number is still its group's. */
	kill(-workload->pid, SIGKILL);
	kill(workload->pid, SIGKILL);
}

/**
 * agent_workload_wait() - wait until the program has ended, by itself or killed
 * @timeout_ms: after which its process group is killed
 * @host_fd: the channel; when the host has hung up nobody wants the result any more
 * @signal_fd: readable when the agent is told to stop
 *
 * It returns as soon as the program is a zombie; agent_workload_collect() does the rest.
 */
void agent_workload_wait(struct agent_workload *workload, unsigned int timeout_ms, int host_fd,
			 int signal_fd)
{
	int64_t deadline = mono_ns() + timeout_ms * 1000000LL, left;
	struct pollfd fds[] = {
		{.fd = workload->pid_fd, .events = POLLIN},
		{.fd = workload->out_fd, .events = POLLIN},
		{.fd = workload->err_fd, .events = POLLIN},
		{.fd = signal_fd, .events = POLLIN},
		{.fd = host_fd, .events = 0},
	};

	while (!fds[0].revents) {
		left = deadline - mono_ns();
		if (workload->end == AGENT_WORKLOAD_RUNNING && left <= 0)
			workload->end = AGENT_WORKLOAD_TIMEOUT;
		else if (workload->end == AGENT_WORKLOAD_RUNNING &&
			 (fds[3].revents || fds[4].revents))
			workload->end = AGENT_WORKLOAD_CANCELLED;
		if (workload->end != AGENT_WORKLOAD_RUNNING) {
			kill_group(workload);
			poll(fds, 1, -1);
			break;
		}
		poll(fds, ARRAY_SIZE(fds), (left + 999999) / 1000000);
		if (fds[1].revents && !read_output(workload))
			fds[1].fd = -1;
		if (fds[2].revents && !read_errors(workload))
			fds[2].fd = -1;
	}
	if (workload->end == AGENT_WORKLOAD_RUNNING)
		workload->end = AGENT_WORKLOAD_ENDED;
}

/**
 * agent_workload_collect() - reap the program, end what it left running, take the rest of its
 * output
 */
void agent_workload_collect(struct agent_workload *workload)
{
	int status;

	kill_group(workload);
	while (waitpid(workload->pid, &status, 0) < 0 && errno == EINTR)
		;
	workload->pid = 0;
	workload->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	workload->exit = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	read_output(workload);
	read_errors(workload);
	workload->output[workload->output_len] = '\0';
	if (workload->tail_len > AGENT_STDERR_TAIL) {
		memmove(workload->tail, workload->tail + workload->tail_len - AGENT_STDERR_TAIL,
			AGENT_STDERR_TAIL);
		workload->tail_len = AGENT_STDERR_TAIL;
	}
}

/** agent_workload_free() - kill it if it still runs, and release the rest */
void agent_workload_free(struct agent_workload *workload)
{
	if (workload->pid > 0) {
		kill_group(workload);
		waitpid(workload->pid, NULL, 0);
	}
	close_fd(&workload->pid_fd);
	close_fd(&workload->out_fd);
	close_fd(&workload->err_fd);
	free(workload->output);
	free(workload->tail);
	memset(workload, 0, sizeof(*workload));
}
