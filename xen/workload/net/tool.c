// SPDX-License-Identifier: GPL-2.0-only
/*
 * Xen's own programs, each with a log that is shown when it fails.
 */
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../common/child.h"

enum { TAIL = 2048 };

/**
 * net_print_tail - print the end of a log to stderr
 * @path: the log; nothing is printed if there is none, or nothing in it
 * @what: whose it is
 */
void net_print_tail(const char *path, const char *what)
{
	char text[TAIL + 1];
	ssize_t n = 0;
	off_t size;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	size = lseek(fd, 0, SEEK_END);
	if (size > 0)
		n = pread(fd, text, TAIL, size > TAIL ? size - TAIL : 0);
	close(fd);
	if (n <= 0)
		return;
	text[n] = '\0';
	fprintf(stderr, "the end of what %s printed:\n%s%s", what, text,
		text[n - 1] == '\n' ? "" : "\n");
}

/**
 * net_tool - run one of Xen's programs
 * @step: what it is run for, as in "cannot ..."
 * @argv: its path and arguments
 * @limit_s: seconds it may take
 *
 * Return: 0 or a negative errno, printed with the end of its output.
 */
int net_tool(const char *step, const char *const *argv, unsigned int limit_s)
{
	const char *name = strrchr(argv[0], '/') + 1;
	char path[128];
	int fd, ret;

	snprintf(path, sizeof(path), NET_RUN_DIR "/%s.log", name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0) {
		ret = -errno;
		fprintf(stderr, "net: cannot %s: %s: %m\n", step, path);
		return ret;
	}
	ret = child_run(argv, fd, fd, limit_s);
	close(fd);
	if (!ret)
		return 0;
	if (ret == -ETIMEDOUT)
		fprintf(stderr, "net: cannot %s: %s took more than %u s\n", step, name, limit_s);
	else if (ret == -ECHILD)
		fprintf(stderr, "net: cannot %s: %s failed\n", step, name);
	else
		fprintf(stderr, "net: cannot %s: %s: %s\n", step, name, strerror(-ret));
	net_print_tail(path, name);
	return ret;
}
