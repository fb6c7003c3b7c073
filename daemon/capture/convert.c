// SPDX-License-Identifier: GPL-2.0-only
/*
 * Foreign captures on their way in. labd reads trace.dat version 6; what newer trace-cmds write,
 * version 7 and often compressed, is made version 6 by trace-cmd itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "capture/convert.h"

#define CONVERT_TIMEOUT_MS (10 * 60 * 1000)

static const char magic[] = "\x17\x08\x44tracing";

#define MAGIC_SIZE (sizeof(magic) - 1)

extern char **environ;

static int fail(char *ret_error, size_t size, int err, const char *path)
{
	snprintf(ret_error, size, "%s: %s", path, strerror(-err));
	return err;
}

static int copy_all(int from, int to)
{
	ssize_t n;

	do {
		n = sendfile(to, from, NULL, 1 << 30);
	} while (n > 0 || (n < 0 && errno == EINTR));
	return n < 0 || fsync(to) ? -errno : 0;
}

/**
 * capture_copy() - a copy of a capture as it is
 * @to: new file; replaced if it exists, and there only when it is whole
 * @ret_error: one sentence on failure
 * @size: room in @ret_error
 *
 * Return: 0 or negative errno.
 */
int capture_copy(const char *from, const char *to, char *ret_error, size_t size)
{
	char *part = str_printf("%s.part", to);
	int in = -1, out = -1, ret = 0;

	if (!part)
		return -ENOMEM;
	in = open(from, O_RDONLY | O_CLOEXEC);
	if (in < 0) {
		ret = fail(ret_error, size, -errno, from);
		goto out;
	}
	out = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	ret = out < 0 ? -errno : copy_all(in, out);
	if (!ret && rename(part, to))
		ret = -errno;
	ret = ret ?: sync_dir_of(to);
	if (ret) {
		fail(ret_error, size, ret, to);
		unlink(part);
	}

out:
	if (in >= 0)
		close(in);
	if (out >= 0)
		close(out);
	free(part);
	return ret;
}

/* Waits for the child; one that takes too long is killed. Returns its status as waitpid() gives it.
 */
static int wait_child(pid_t pid, int *ret_status)
{
	struct pollfd fd = {.fd = pidfd_open(pid, 0), .events = POLLIN};
	int64_t until = mono_ns() + CONVERT_TIMEOUT_MS * 1000000LL;
	int ready;

	do {
		int64_t left = (until - mono_ns()) / 1000000;

		ready = poll(&fd, 1, left > 0 ? (int)left : 0);
	} while (ready < 0 && errno == EINTR);
	if (ready <= 0)
		kill(pid, SIGKILL);
	if (fd.fd >= 0)
		close(fd.fd);
	while (waitpid(pid, ret_status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return ready > 0 ? 0 : -ETIMEDOUT;
}

static int run_trace_cmd(const char *from, const char *to, char *ret_error, size_t size)
{
	char *argv[] = {"trace-cmd", "convert", "--file-version", "6",	"--compression",
			"none",	     "-i",	(char *)from,	  "-o", (char *)to,
			NULL};
	posix_spawn_file_actions_t actions;
	int ret, status = 0;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions))
		return -ENOMEM;
	ret = -posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	ret = ret ?: -posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	ret = ret ?: -posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	ret = ret ?: -posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret == -ENOENT) {
		snprintf(
			ret_error, size,
			"the capture is a trace.dat of version 7; trace-cmd, which reads it, is not installed");
		return -EPROTONOSUPPORT;
	}
	ret = ret ?: wait_child(pid, &status);
	if (!ret && (!WIFEXITED(status) || WEXITSTATUS(status)))
		ret = -EBADMSG;
	if (ret == -ETIMEDOUT)
		snprintf(ret_error, size,
			 "trace-cmd took more than %d minutes to convert the capture",
			 CONVERT_TIMEOUT_MS / 60000);
	else if (ret)
		snprintf(ret_error, size,
			 "trace-cmd could not convert the capture from version 7 to 6");
	return ret;
}

/* In a folder of its own: trace-cmd puts temporary files beside its output. */
static int convert(const char *from, const char *to, char *ret_error, size_t size)
{
	char *dir = str_printf("%s.XXXXXX", to), *file = NULL;
	int ret;

	if (!dir)
		return -ENOMEM;
	if (!mkdtemp(dir)) {
		ret = fail(ret_error, size, -errno, to);
		free(dir);
		return ret;
	}
	file = str_printf("%s/v6.dat", dir);
	ret = file ? run_trace_cmd(from, file, ret_error, size) : -ENOMEM;
	ret = ret ?: capture_copy(file, to, ret_error, size);
	if (file)
		unlink(file);
	rmdir(dir);
	free(file);
	free(dir);
	return ret;
}

/**
 * capture_to_v6() - a copy of a capture that labd can read
 * @from: trace.dat of version 6 or 7
 * @to: new file, of version 6 and not compressed; replaced if it exists, and there only when it is
 * whole
 * @ret_error: one sentence on failure
 * @error_size: room in @ret_error
 *
 * Return: 0, -EBADMSG for what is no trace.dat or does not convert, -EPROTONOSUPPORT for version 7
 * without trace-cmd, -ETIMEDOUT, or what copying gave.
 */
int capture_to_v6(const char *from, const char *to, char *ret_error, size_t error_size)
{
	char start[MAGIC_SIZE + 2] = "";
	ssize_t n;
	int fd;

	fd = open(from, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fail(ret_error, error_size, -errno, from);
	n = pread(fd, start, sizeof(start), 0);
	close(fd);
	if (n == (ssize_t)sizeof(start) && !memcmp(start, magic, MAGIC_SIZE) &&
	    !start[MAGIC_SIZE + 1]) {
		if (start[MAGIC_SIZE] == '6')
			return capture_copy(from, to, ret_error, error_size);
		if (start[MAGIC_SIZE] == '7')
			return convert(from, to, ret_error, error_size);
	}
	snprintf(ret_error, error_size,
		 "%s is no trace.dat of version 6 or 7 and no xentrace stream", from);
	return -EBADMSG;
}
