/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BOCHS_TAIL_H
#define LABD_BOCHS_TAIL_H

#include <stddef.h>
#include <stdint.h>

#include "base/disk.h"

/* Reads the disk that host and guest share (base/disk.h) while the guest writes it. */

/**
 * struct tail - where the reading is
 * @layout: what is where
 * @at_sector: where the next chunk begins
 * @sequence: that it has
 * @wrong: so many times something else was there
 * @payload: of the last chunk
 */
struct tail {
	int fd;
	struct disk_layout layout;
	uint64_t at_sector;
	uint32_t sequence;
	unsigned int wrong;
	uint8_t payload[DISK_CHUNK_MAX];
};

int tail_open(struct tail *tail, int fd);
int tail_told(const struct tail *tail, void **ret_frames, size_t *ret_length);
int tail_next(struct tail *tail, size_t *ret_length);

#endif
