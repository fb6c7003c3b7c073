// SPDX-License-Identifier: GPL-2.0-only
/* How the agent reaches the host: a named virtio-serial port, or a descriptor that it was born
 * with. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/channel.h"
#include "base/util.h"

#define VIRTIO_PORTS "/sys/class/virtio-ports"
#define RETRY_MS 20

/* Neither the port's appearing nor the host's connecting can be waited for without udev or sockets.
 */
static void pause_ms(int ms)
{
	poll(NULL, 0, ms);
}

/* Path of the device whose port carries @name; -ENOENT while there is none. */
static int find_port(const char *name, char *ret_path, size_t size)
{
	char path[PATH_MAX], *text;
	struct dirent *entry;
	int ret = -ENOENT;
	DIR *dir;

	dir = opendir(VIRTIO_PORTS);
	if (!dir)
		return -errno;
	while (ret == -ENOENT && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), VIRTIO_PORTS "/%s/name", entry->d_name);
		if (read_file(path, 256, &text, NULL))
			continue;
		text[strcspn(text, "\n")] = '\0';
		if (!strcmp(text, name)) {
			snprintf(ret_path, size, "/dev/%s", entry->d_name);
			ret = 0;
		}
		free(text);
	}
	closedir(dir);
	return ret;
}

static int virtio_open(const char *address, int timeout_ms, struct agent_link *ret_link)
{
	int64_t deadline = mono_ns() + timeout_ms * 1000000LL;
	struct pollfd pfd = {.fd = -1, .events = POLLOUT};
	char path[PATH_MAX];
	int ret;

	while (pfd.fd < 0) {
		ret = find_port(address, path, sizeof(path));
		if (!ret) {
			pfd.fd = open(path, O_RDWR | O_CLOEXEC);
			ret = pfd.fd < 0 ? -errno : 0;
		}
		if (ret && mono_ns() > deadline)
			return ret == -ENOENT ? -ETIMEDOUT : ret;
		if (ret)
			pause_ms(RETRY_MS);
	}

	/* POLLHUP is how the driver says that nobody listens; poll() does not wait for that to
	 * change. */
	for (;;) {
		if (poll(&pfd, 1, 0) >= 0 && !(pfd.revents & (POLLHUP | POLLERR)))
			break;
		if (mono_ns() > deadline) {
			close(pfd.fd);
			return -ETIMEDOUT;
		}
		pause_ms(RETRY_MS);
	}
	*ret_link = (struct agent_link){pfd.fd, pfd.fd};
	return 0;
}

static int fd_open(const char *address, int timeout_ms, struct agent_link *ret_link)
{
	int64_t fd;
	int ret;

	ret = parse_i64(address, 0, INT_MAX, &fd);
	if (ret)
		return ret;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC))
		return -errno;
	*ret_link = (struct agent_link){fd, fd};
	return 0;
}

const struct agent_channel_ops agent_channel_virtio = {
	.name = "virtio-serial",
	.reopens = true,
	.open = virtio_open,
};

const struct agent_channel_ops agent_channel_fd = {
	.name = "inherited descriptor",
	.open = fd_open,
};
