/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_MACHINE_SPAWN_H
#define LABD_MACHINE_SPAWN_H

#include <stddef.h>

/**
 * struct spawn_request - a program to start
 * @argv: found by PATH; ends with NULL
 * @output_fd: its stdout and stderr; its stdin is /dev/null
 * @keep: descriptors that it inherits under their numbers; all others are closed
 */
struct spawn_request {
	char *const *argv;
	int output_fd;
	const int *keep;
	size_t n_keep;
};

int spawn(const struct spawn_request *request, int *ret_pid, int *ret_pid_fd);
void spawn_kill(int *pid_fd);
int spawn_ask(char *const *argv, const char *wanted, char *ret_text, size_t size);

#endif
