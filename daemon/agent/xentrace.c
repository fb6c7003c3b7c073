// SPDX-License-Identifier: GPL-2.0-only
/*
 * The xentrace program: it empties Xen's trace buffers into a nameless file on a tmpfs, and nothing
 * of it passes through the agent while the workload runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/xentrace.h"

#define NAME "xentrace"

/* Xen's programs lie in a folder that carries its version. */
#define XEN_FOLDERS "/usr/lib/xen-*/bin/" NAME

static bool try_path(const char *dir, char ret_path[PATH_MAX])
{
	return snprintf(ret_path, PATH_MAX, "%s/" NAME, dir) < PATH_MAX && !access(ret_path, X_OK);
}

/* The folder of the workloads first, then Xen's own, then where programs are. */
static bool find(const char *bin_dir, char ret_path[PATH_MAX])
{
	static const char *const dirs[] = {"/usr/sbin", "/usr/bin", "/sbin", "/bin"};
	bool found = try_path(bin_dir, ret_path);
	glob_t paths;

	if (!found && !glob(XEN_FOLDERS, 0, NULL, &paths)) {
		for (size_t i = paths.gl_pathc; i-- > 0 && !found;)
			found = snprintf(ret_path, PATH_MAX, "%s", paths.gl_pathv[i]) < PATH_MAX &&
				!access(ret_path, X_OK);
		globfree(&paths);
	}
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]) && !found; i++)
		found = try_path(dirs[i], ret_path);
	return found;
}

/* Runs in the child of a threaded process: system calls only. */
static void child(const struct agent_xentrace *xentrace, char *const argv[])
	__attribute__((noreturn));

static void child(const struct agent_xentrace *xentrace, char *const argv[])
{
	static char *const envp[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
	struct rlimit limit = {xentrace->limit, xentrace->limit};
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
	dup2(xentrace->fd, STDOUT_FILENO);
	dup2(xentrace->err_fd, STDERR_FILENO);
	if (!setrlimit(RLIMIT_FSIZE, &limit))
		execve(xentrace->path, argv, envp);
	_exit(127);
}

/**
 * agent_xentrace_start() - start xentrace
 * @xentrace: filled; ends with agent_xentrace_free() whatever is returned
 * @bin_dir: folder that is searched first
 * @dir: a folder on a tmpfs, for the file
 * @mask: classes of records, as Xen has them
 * @limit: bytes that the file may have
 *
 * Return: 0 or negative errno, -ENOENT when there is no xentrace.
 */
int agent_xentrace_start(struct agent_xentrace *xentrace, const char *bin_dir, const char *dir,
			 uint32_t mask, uint64_t limit)
{
	char poll_ms[16], mask_text[16];
	/* It wants a name for its file: the one that it has already. Old records are not the run's.
	 */
	char *argv[] = {NAME, "-D", "-s", poll_ms, "-e", mask_text, "/proc/self/fd/1", NULL};

	memset(xentrace, 0, sizeof(*xentrace));
	xentrace->fd = xentrace->err_fd = xentrace->pid_fd = -1;
	xentrace->limit = limit;
	if (!find(bin_dir, xentrace->path))
		return -ENOENT;
	snprintf(poll_ms, sizeof(poll_ms), "%d", AGENT_XENTRACE_POLL_MS);
	snprintf(mask_text, sizeof(mask_text), "0x%x", mask);
	xentrace->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	xentrace->err_fd = open(dir, O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
	if (xentrace->fd < 0 || xentrace->err_fd < 0)
		return -errno;
	xentrace->pid = fork();
	if (!xentrace->pid)
		child(xentrace, argv);
	if (xentrace->pid < 0) {
		xentrace->pid = 0;
		return -errno;
	}
	xentrace->pid_fd = syscall(SYS_pidfd_open, xentrace->pid, 0);
	return xentrace->pid_fd < 0 ? -errno : 0;
}

static void note_size(struct agent_xentrace *xentrace)
{
	struct stat st;

	if (!fstat(xentrace->fd, &st))
		xentrace->size = st.st_size;
}

static void collect(struct agent_xentrace *xentrace)
{
	struct stat st;
	ssize_t n = 0;
	int status;

	while (waitpid(xentrace->pid, &status, 0) < 0 && errno == EINTR)
		;
	xentrace->pid = 0;
	xentrace->ended = true;
	xentrace->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	xentrace->exit = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
	note_size(xentrace);
	/* It writes what still fits and then fails, or it is killed over the next byte. */
	xentrace->full = xentrace->signal == SIGXFSZ ||
			 (xentrace->exit && xentrace->size >= xentrace->limit);
	if (!fstat(xentrace->err_fd, &st))
		n = pread(xentrace->err_fd, xentrace->tail, AGENT_XENTRACE_TAIL,
			  st.st_size > AGENT_XENTRACE_TAIL ? st.st_size - AGENT_XENTRACE_TAIL : 0);
	xentrace->tail_len = n > 0 ? n : 0;
}

/**
 * agent_xentrace_wait() - wait for xentrace to end
 * @timeout_ms: for no longer than this
 *
 * @size is fresh afterwards.
 *
 * Return: whether it still runs.
 */
bool agent_xentrace_wait(struct agent_xentrace *xentrace, int timeout_ms)
{
	struct pollfd fd = {.fd = xentrace->pid_fd, .events = POLLIN};
	int n;

	if (xentrace->ended)
		return false;
	do
		n = poll(&fd, 1, timeout_ms);
	while (n < 0 && errno == EINTR);
	if (n > 0)
		collect(xentrace);
	else
		note_size(xentrace);
	return !n;
}

/**
 * agent_xentrace_stop() - let xentrace empty the buffers and end
 * @timeout_ms: after which it is killed
 *
 * On SIGTERM it turns Xen's trace off, reads all buffers once more and exits with 0.
 */
void agent_xentrace_stop(struct agent_xentrace *xentrace, int timeout_ms)
{
	if (xentrace->ended)
		return;
	kill(xentrace->pid, SIGTERM);
	if (!agent_xentrace_wait(xentrace, timeout_ms))
		return;
	kill(xentrace->pid, SIGKILL);
	collect(xentrace);
}

/**
 * agent_xentrace_last_words() - the last line that xentrace said on stderr
 * @ret_text: @size bytes; printable and short enough for a sentence
 *
 * Return: @ret_text, empty when it said nothing.
 */
const char *agent_xentrace_last_words(const struct agent_xentrace *xentrace, char *ret_text,
				      size_t size)
{
	size_t end = xentrace->tail_len, start, n = 0;

	while (end && (uint8_t)xentrace->tail[end - 1] <= ' ')
		end--;
	for (start = end; start && xentrace->tail[start - 1] != '\n';)
		start--;
	for (; start < end && n + 1 < size; start++, n++)
		ret_text[n] = (uint8_t)xentrace->tail[start] >= ' ' && xentrace->tail[start] <= '~'
				      ? xentrace->tail[start]
				      : '?';
	ret_text[n] = '\0';
	return ret_text;
}

/** agent_xentrace_free() - kill it if it still runs, and release the rest */
void agent_xentrace_free(struct agent_xentrace *xentrace)
{
	int *fds[] = {&xentrace->fd, &xentrace->err_fd, &xentrace->pid_fd};

	if (xentrace->pid > 0) {
		kill(xentrace->pid, SIGKILL);
		waitpid(xentrace->pid, NULL, 0);
		xentrace->pid = 0;
	}
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}
