// SPDX-License-Identifier: GPL-2.0-only
/* The data directory: lab.db, events/, captures/, consoles/, token, and the lock that keeps it to
 * one labd. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "store/datadir.h"

static int path_in(char ret_path[PATH_MAX], const char *data_dir, const char *name)
{
	return snprintf(ret_path, PATH_MAX, "%s/%s", data_dir, name) < PATH_MAX ? 0 : -ENAMETOOLONG;
}

static int lock(const char *path, int *ret_fd)
{
	char pid[32];
	ssize_t n;
	int fd;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		n = errno == EWOULDBLOCK ? read(fd, pid, sizeof(pid) - 1) : -1;
		close(fd);
		if (n < 0)
			return -EIO;
		pid[n] = '\0';
		log_err("another labd (process %s) already serves this data directory",
			n ? pid : "unknown");
		return -EBUSY;
	}
	snprintf(pid, sizeof(pid), "%d", getpid());
	if (ftruncate(fd, 0) || pwrite(fd, pid, strlen(pid), 0) < 0) {
		int ret = -errno;

		close(fd);
		return ret;
	}
	*ret_fd = fd;
	return 0;
}

/**
 * datadir_open() - make what is missing of a data directory and take its lock
 * @ret_lock_fd: holds the lock until it is closed
 *
 * Return: 0, -EBUSY when another labd has it, or another negative errno; each is logged.
 */
int datadir_open(const char *data_dir, int *ret_lock_fd)
{
	static const char *const folders[] = {"events", "captures", "consoles", "run"};
	char path[PATH_MAX];
	int ret;

	ret = make_dir(data_dir, 0755);
	for (size_t i = 0; !ret && i < ARRAY_SIZE(folders); i++) {
		ret = path_in(path, data_dir, folders[i]);
		if (!ret)
			ret = make_dir(path, strcmp(folders[i], "run") ? 0755 : 0700);
	}
	if (!ret)
		ret = path_in(path, data_dir, "lock");
	if (!ret)
		ret = lock(path, ret_lock_fd);
	if (ret && ret != -EBUSY)
		log_err("data directory %s cannot be used: %s", data_dir, strerror(-ret));
	return ret;
}

/**
 * datadir_token() - the secret that every change over HTTP must show, made at first start
 *
 * Return: 0 or negative errno, logged.
 */
int datadir_token(const char *data_dir, char ret_token[TOKEN_HEX_LEN + 1])
{
	char path[PATH_MAX], *text;
	struct stat st;
	int ret;

	ret = path_in(path, data_dir, "token");
	if (ret)
		return ret;
	ret = read_file(path, 256, &text, NULL);
	if (ret == -ENOENT) {
		ret = random_hex(ret_token, TOKEN_HEX_LEN / 2);
		if (!ret)
			ret = write_file_atomic(path, ret_token, TOKEN_HEX_LEN, 0600);
		if (ret)
			log_err("cannot write %s: %s", path, strerror(-ret));
		return ret;
	}
	if (ret) {
		log_err("cannot read %s: %s", path, strerror(-ret));
		return ret;
	}
	text[strcspn(text, "\r\n")] = '\0';
	if (strlen(text) != TOKEN_HEX_LEN || strspn(text, "0123456789abcdef") != TOKEN_HEX_LEN) {
		log_err("%s is no token of %d hex digits: remove it and a new one is made", path,
			TOKEN_HEX_LEN);
		ret = -EBADMSG;
	} else if (!stat(path, &st) && (st.st_mode & 077)) {
		log_err("%s can be read by others (mode %o): make it 0600", path,
			st.st_mode & 0777);
		ret = -EPERM;
	} else {
		memcpy(ret_token, text, TOKEN_HEX_LEN + 1);
	}
	explicit_bzero(text, strlen(text));
	free(text);
	return ret;
}

/** datadir_free_bytes() - space that labd may still fill, or negative errno */
int64_t datadir_free_bytes(const char *data_dir)
{
	struct statvfs fs;

	if (statvfs(data_dir, &fs))
		return -errno;
	return (int64_t)fs.f_bavail * fs.f_frsize;
}
