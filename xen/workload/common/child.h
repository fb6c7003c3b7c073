/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NET_CHILD_H
#define NET_CHILD_H

#include <sys/types.h>

int child_start(const char *const *argv, int out_fd, int err_fd, pid_t *ret_pid);
int child_wait(pid_t pid, unsigned int limit_s, int *ret_status);
int child_run(const char *const *argv, int out_fd, int err_fd, unsigned int limit_s);

#endif
