// SPDX-License-Identifier: GPL-2.0-only
/* A disk that is a plain file, so that everything but the ports runs on any host. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/disk.h"

static int result(ssize_t n, uint32_t count)
{
	if (n < 0)
		return -errno;
	return n == (ssize_t)count * DISK_SECTOR ? 0 : -EIO;
}

static int file_read(const struct agent_disk *disk, uint32_t sector, uint32_t count, void *ret_data)
{
	return result(
		pread(disk->fd, ret_data, (size_t)count * DISK_SECTOR, (off_t)sector * DISK_SECTOR),
		count);
}

static int file_write(const struct agent_disk *disk, uint32_t sector, uint32_t count,
		      const void *data)
{
	return result(
		pwrite(disk->fd, data, (size_t)count * DISK_SECTOR, (off_t)sector * DISK_SECTOR),
		count);
}

static void file_close(struct agent_disk *disk)
{
	close(disk->fd);
}

static const struct agent_disk_ops ops = {
	.read = file_read,
	.write = file_write,
	.close = file_close,
};

/** agent_disk_open_file() - 0 or negative errno; ends with its close */
int agent_disk_open_file(const char *path, struct agent_disk *ret_disk)
{
	int fd = open(path, O_RDWR | O_CLOEXEC), ret;
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	*ret_disk = (struct agent_disk){&ops, st.st_size / DISK_SECTOR, fd};
	return 0;
}
