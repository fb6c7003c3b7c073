// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "bochs/tail.h"

/* A sector is read while it is written now and then; what stays wrong for so long is wrong. */
#define WRONG_MAX 40

static int read_at(int fd, void *buffer, size_t length, uint64_t sector)
{
	ssize_t n = pread(fd, buffer, length, sector * DISK_SECTOR);

	if (n < 0)
		return -errno;
	return (size_t)n == length ? 0 : -EIO;
}

/**
 * tail_open() - begin with the first chunk
 * @fd: the image; stays the caller's
 *
 * Return: 0, -EBADMSG when it is no such image, or another negative errno.
 */
int tail_open(struct tail *tail, int fd)
{
	uint8_t sector[DISK_SECTOR];
	int ret;

	ret = read_at(fd, sector, sizeof(sector), 0);
	if (!ret)
		ret = disk_layout_read(sector, &tail->layout);
	if (ret)
		return ret;
	tail->fd = fd;
	tail->at_sector = tail->layout.out_sector;
	tail->sequence = 0;
	tail->wrong = 0;
	return 0;
}

/**
 * tail_told() - the frames that the guest was told
 * @ret_frames: for the caller to free
 *
 * Return: 0 or negative errno.
 */
int tail_told(const struct tail *tail, void **ret_frames, size_t *ret_length)
{
	size_t length = tail->layout.in_bytes;
	void *frames = malloc(length ? length : 1);
	int ret = frames ? read_at(tail->fd, frames, length, tail->layout.in_sector) : -ENOMEM;

	if (ret) {
		free(frames);
		return ret;
	}
	*ret_frames = frames;
	*ret_length = length;
	return 0;
}

/**
 * tail_next() - the next chunk, once all of it is there
 * @ret_length: of its payload, in @tail->payload; 0 says that the guest found the disk full
 *
 * Return: 0, -EAGAIN while it is not there, -EBADMSG when something else is, or another negative
 * errno.
 */
int tail_next(struct tail *tail, size_t *ret_length)
{
	uint64_t bytes = (tail->layout.sectors - tail->at_sector) * DISK_SECTOR;
	uint8_t header[DISK_CHUNK_HEADER];
	size_t length;
	ssize_t n;
	int ret;

	if (tail->at_sector >= tail->layout.sectors)
		return -EAGAIN;
	ret = read_at(tail->fd, header, sizeof(header), tail->at_sector);
	if (!ret)
		ret = disk_chunk_length(header, tail->sequence, &length);
	if (ret == -EBADMSG && ++tail->wrong < WRONG_MAX)
		ret = -EAGAIN;
	if (!ret && DISK_CHUNK_HEADER + length > bytes)
		ret = -EBADMSG;
	if (ret)
		return ret;
	tail->wrong = 0;
	n = pread(tail->fd, tail->payload, length,
		  tail->at_sector * DISK_SECTOR + DISK_CHUNK_HEADER);
	if (n != (ssize_t)length)
		return n < 0 ? -errno : -EIO;
	ret = disk_chunk_check(header, tail->payload);
	if (ret)
		return ret;
	tail->at_sector += disk_chunk_sectors(length);
	tail->sequence++;
	*ret_length = length;
	return 0;
}
