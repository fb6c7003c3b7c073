/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_MACHINE_RECEIVE_H
#define LABD_MACHINE_RECEIVE_H

#include <limits.h>
#include <stdint.h>

/**
 * struct receive - a file that arrives in pieces and gets its name when it is whole
 * @fd: of the part file, -1 when there is none
 * @size: announced bytes
 * @have: received ones
 */
struct receive {
	char path[PATH_MAX];
	char part[PATH_MAX];
	int fd;
	uint64_t size;
	uint64_t have;
};

int receive_open(struct receive *receive, const char *path, uint64_t size);
int receive_data(struct receive *receive, const void *data, size_t length);
int receive_commit(struct receive *files, unsigned int n);
void receive_abort(struct receive *receive);

#endif
