// SPDX-License-Identifier: GPL-2.0-only
/* Other programs: sqlite3 and tar. */
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/ctl.h"

extern char **environ;

static int read_all(int fd, char **ret_text)
{
	char buffer[4096], *text = NULL;
	size_t length = 0;
	ssize_t n;
	FILE *out;

	out = open_memstream(&text, &length);
	if (!out)
		return -ENOMEM;
	while ((n = read(fd, buffer, sizeof(buffer))) > 0 || (n < 0 && errno == EINTR)) {
		if (n > 0)
			fwrite(buffer, 1, (size_t)n, out);
	}
	if (fclose(out)) {
		free(text);
		return -ENOMEM;
	}
	*ret_text = text;
	return 0;
}

/**
 * program_run() - run a program and wait for it
 * @argv: found in PATH; its errors go to our stderr
 * @ret_output: what it printed, for the caller to free, or NULL to let it go to our stdout
 *
 * Return: 0, or negative errno with the reason printed.
 */
int program_run(char *const argv[], char **ret_output)
{
	posix_spawn_file_actions_t actions;
	int pipe_fd[2] = {-1, -1}, status = 0, ret;
	char *output = NULL;
	pid_t pid;

	if (ret_output && pipe(pipe_fd))
		return -errno;
	posix_spawn_file_actions_init(&actions);
	if (ret_output) {
		posix_spawn_file_actions_adddup2(&actions, pipe_fd[1], STDOUT_FILENO);
		posix_spawn_file_actions_addclose(&actions, pipe_fd[0]);
	}
	ret = -posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (ret_output)
		close(pipe_fd[1]);
	if (ret) {
		ctl_fail("%s cannot be started: %s", argv[0], strerror(-ret));
		goto out;
	}
	if (ret_output)
		ret = read_all(pipe_fd[0], &output);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!ret && status) {
		ctl_fail("%s failed", argv[0]);
		ret = -EIO;
	}
out:
	if (ret_output)
		close(pipe_fd[0]);
	if (ret)
		free(output);
	else if (ret_output)
		*ret_output = output;
	return ret;
}

/**
 * sqlite_uri() - a file as a read-only URI, ready to stand between single quotes in SQL
 *
 * Return: for the caller to free, or NULL without memory.
 */
char *sqlite_uri(const char *path)
{
	char *uri = NULL;
	size_t length;
	FILE *out;

	out = open_memstream(&uri, &length);
	if (!out)
		return NULL;
	fputs("file:", out);
	for (; *path; path++) {
		if (strchr("%?#'\"", *path))
			fprintf(out, "%%%02x", (unsigned char)*path);
		else
			fputc(*path, out);
	}
	fputs("?mode=ro", out);
	if (fclose(out)) {
		free(uri);
		return NULL;
	}
	return uri;
}
