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

/* A whole file that is safe on disk under its part name. */
static int settle(struct receive *receive)
{
	int ret = 0;

	if (fsync(receive->fd))
		return -errno;
	if (close(receive->fd))
		ret = -errno;
	receive->fd = -1;
	return ret;
}

/**
 * receive_commit() - make whole files durable and give them their names, all or none
 * @files: in one folder
 *
 * Return: 0, -ENODATA when bytes are missing, or negative errno.
 */
int receive_commit(struct receive *files, unsigned int n)
{
	unsigned int named = 0;
	int ret = 0;

	for (unsigned int i = 0; i < n; i++)
		if (files[i].have != files[i].size)
			return -ENODATA;
	for (unsigned int i = 0; i < n && !ret; i++)
		ret = settle(&files[i]);
	for (; named < n && !ret; named += !ret)
		if (rename(files[named].part, files[named].path))
			ret = -errno;
	if (!ret && n)
		ret = sync_dir_of(files[0].path);
	if (!ret)
		return 0;
	for (unsigned int i = 0; i < n; i++) {
		if (files[i].fd >= 0)
			close(files[i].fd);
		files[i].fd = -1;
		unlink(i < named ? files[i].path : files[i].part);
	}
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
