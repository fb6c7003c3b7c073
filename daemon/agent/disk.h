/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_DISK_H
#define LABD_AGENT_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/disk.h"

struct agent_disk;

/**
 * struct agent_disk_ops - how sectors are reached
 * @read: @count of them, at most DISK_CHUNK_SECTORS; 0 or negative errno
 * @write: the same
 * @close: this process needs them no more; another that was forked before keeps them
 */
struct agent_disk_ops {
	int (*read)(const struct agent_disk *disk, uint32_t sector, uint32_t count, void *ret_data);
	int (*write)(const struct agent_disk *disk, uint32_t sector, uint32_t count,
		     const void *data);
	void (*close)(struct agent_disk *disk);
};

/**
 * struct agent_disk - a disk, open
 * @sectors: that it has
 * @fd: of a plain file
 */
struct agent_disk {
	const struct agent_disk_ops *ops;
	uint64_t sectors;
	int fd;
};

int agent_disk_open_ata(struct agent_disk *ret_disk);
int agent_disk_open_file(const char *path, struct agent_disk *ret_disk);

int agent_disk_layout(const struct agent_disk *disk, struct disk_layout *ret_layout);
int agent_disk_pump(const struct agent_disk *disk, const struct disk_layout *layout, int in,
		    int out);

#endif
