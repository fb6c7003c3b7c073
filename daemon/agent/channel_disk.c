// SPDX-License-Identifier: GPL-2.0-only
/* The channel of a machine that has nothing but a disk: two pipes, and a child that pumps. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "agent/channel.h"
#include "agent/disk.h"
#include "base/log.h"
#include "base/util.h"

#define SETTLE_MS 10000

static void pump(const struct agent_disk *disk, const struct disk_layout *layout, int in, int out)
	__attribute__((noreturn));

static void pump(const struct agent_disk *disk, const struct disk_layout *layout, int in, int out)
{
	int ret = agent_disk_pump(disk, layout, in, out);

	if (ret == -ENOSPC)
		log_err("the disk to the host is full");
	else if (ret)
		log_err("the disk to the host failed: %s", strerror(-ret));
	_exit(!!ret);
}

static void close_pipe(const int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* Pipes, for the kernel of a machine that has nothing but a disk has no sockets. */
static int start_pump(const struct agent_disk *disk, struct agent_link *ret_link)
{
	struct disk_layout layout;
	int up[2], down[2], ret;
	pid_t child;

	ret = agent_disk_layout(disk, &layout);
	if (ret)
		return ret;
	if (pipe2(up, O_CLOEXEC))
		return -errno;
	if (pipe2(down, O_CLOEXEC)) {
		ret = -errno;
		goto close_up;
	}
	child = fork();
	if (!child) {
		close(up[1]);
		close(down[0]);
		pump(disk, &layout, up[0], down[1]);
	}
	if (child < 0) {
		ret = -errno;
		goto close_down;
	}
	close(up[0]);
	close(down[1]);
	*ret_link = (struct agent_link){.in = down[0], .out = up[1]};
	return 0;

close_down:
	close_pipe(down);
close_up:
	close_pipe(up);
	return ret;
}

static int disk_open(const char *address, int timeout_ms, struct agent_link *ret_link)
{
	struct agent_disk disk;
	int ret;

	ret = address ? agent_disk_open_file(address, &disk) : agent_disk_open_ata(&disk);
	if (ret)
		return ret;
	ret = start_pump(&disk, ret_link);
	disk.ops->close(&disk);
	return ret;
}

/* The pump takes bytes out of the pipe once they are on the disk. */
static int disk_settle(int out)
{
	int64_t deadline = mono_ns() + SETTLE_MS * 1000000LL;
	struct pollfd pump_end = {.fd = out};
	int queued;

	for (;;) {
		if (ioctl(out, FIONREAD, &queued))
			return -errno;
		if (!queued)
			return 0;
		if (mono_ns() > deadline)
			return -ETIMEDOUT;
		if (poll(&pump_end, 1, 1) > 0)
			return -EPIPE;
	}
}

const struct agent_channel_ops agent_channel_disk = {
	.name = "disk",
	.open = disk_open,
	.settle = disk_settle,
};
