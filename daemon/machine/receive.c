// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/util.h"
#include "machine/receive.h"

/**
 * receive_open() - begin a file
 * @receive: zeroed, with fd -1; receive_abort() cleans up until receive_commit() succeeded
 * @path: its name once it is whole; @path.part until then
 * @size: bytes that will come
 *
 * Return: 0 or negative errno.
 */
int receive_open(struct receive *receive, const char *path, uint64_t size)
{
	if (snprintf(receive->path, sizeof(receive->path), "%s", path) >=
		    (int)sizeof(receive->path) ||
	    snprintf(receive->part, sizeof(receive->part), "%s.part", path) >=
		    (int)sizeof(receive->part))
		return -ENAMETOOLONG;
	unlink(receive->part); /* of a labd that was killed */
	receive->fd =
		open(receive->part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0640);
	if (receive->fd < 0)
		return -errno;
	receive->size = size;
	receive->have = 0;
	return 0;
}

/**
 * receive_data() - append bytes
 *
 * Return: 0, -EMSGSIZE for more than were announced, or the write's negative errno.
 */
int receive_data(struct receive *receive, const void *data, size_t length)
{
	int ret;

	if (length > receive->size - receive->have)
		return -EMSGSIZE;
	ret = write_all(receive->fd, data, length);
	if (!ret)
		receive->have += length;
	return ret;
}

/**
 * receive_commit() - make the whole file durable and give it its name
 *
 * Return: 0, -ENODATA when bytes are missing, or negative errno.
 */
int receive_commit(struct receive *receive)
{
	int ret = 0;

	if (receive->have != receive->size)
		return -ENODATA;
	if (fsync(receive->fd))
		return -errno;
	if (close(receive->fd))
		ret = -errno;
	receive->fd = -1;
	if (!ret && rename(receive->part, receive->path))
		ret = -errno;
	if (ret) {
		unlink(receive->part);
		return ret;
	}
	ret = sync_dir_of(receive->path);
	if (ret)
		unlink(receive->path);
	return ret;
}

/** receive_abort() - drop a file that is not whole; harmless after receive_commit() */
void receive_abort(struct receive *receive)
{
	if (receive->fd < 0)
		return;
	close(receive->fd);
	unlink(receive->part);
	receive->fd = -1;
}
