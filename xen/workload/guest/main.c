// SPDX-License-Identifier: GPL-2.0-only
/*
 * net-guest: all of a domU but for its kernel and iperf3.
 *
 * PID 1 of an initramfs. It brings eth0 up with the address of labd.ip= on the kernel's command
 * line, keeps an iperf3 server running and answers requests of dom0 (see common/wire.h). dom0
 * destroys the domain when it has no more use for it.
 */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../common/iperf.h"
#include "../common/netdev.h"
#include "../common/wire.h"
#include "requests.h"

enum {
	DEVICE_LIMIT_S = 60,
	POLL_MS = 500,
};

static const struct mount_point {
	const char *type;
	const char *path;
} mounts[] = {{"devtmpfs", "/dev"}, {"proc", "/proc"}, {"sysfs", "/sys"}, {"tmpfs", "/tmp"}};

static void mount_all(void)
{
	for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
		mkdir(mounts[i].path, 0755);
		/* Busy is mounted already, by the kernel. */
		if (mount(mounts[i].type, mounts[i].path, mounts[i].type, 0, NULL) &&
		    errno != EBUSY)
			fprintf(stderr, "net-guest: cannot mount %s: %m\n", mounts[i].path);
		if (!i && (!freopen("/dev/console", "w", stderr) ||
			   !freopen("/dev/console", "w", stdout)))
			continue;
	}
	setvbuf(stderr, NULL, _IOLBF, 0);
}

static int own_address(char *address, size_t size)
{
	char text[4096] = "";
	const char *at;
	size_t length;
	FILE *file;

	file = fopen("/proc/cmdline", "re");
	if (!file || !fgets(text, sizeof(text), file))
		fprintf(stderr, "net-guest: cannot read /proc/cmdline: %m\n");
	if (file)
		fclose(file);
	at = strstr(text, "labd.ip=");
	if (!at)
		return -ENOENT;
	at += strlen("labd.ip=");
	length = strspn(at, "0123456789.");
	if (!length || length >= size)
		return -EINVAL;
	memcpy(address, at, length);
	address[length] = '\0';
	return 0;
}

static int network_up(void)
{
	char address[INET_ADDRSTRLEN];
	int ret;

	ret = own_address(address, sizeof(address));
	if (ret) {
		fprintf(stderr, "net-guest: labd.ip=ADDRESS is not on the kernel's command line\n");
		return ret;
	}
	ret = netdev_wait("eth0", true, DEVICE_LIMIT_S);
	if (ret) {
		fprintf(stderr, "net-guest: eth0 did not come within %d s\n", DEVICE_LIMIT_S);
		return ret;
	}
	ret = netdev_up("lo", true);
	if (!ret)
		ret = netdev_up("eth0", true);
	if (!ret)
		ret = netdev_address("eth0", address);
	return ret;
}

static int listen_control(int *ret_fd)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(NET_CONTROL_PORT)};
	int fd, ret;

	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 16)) {
		ret = -errno;
		fprintf(stderr, "net-guest: cannot listen: %m\n");
		if (fd >= 0)
			close(fd);
		return ret;
	}
	*ret_fd = fd;
	return 0;
}

static void serve(int listener)
{
	struct pollfd poller = {.fd = listener, .events = POLLIN};
	pid_t server = 0, pid;
	int fd;

	for (;;) {
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			if (pid == server)
				server = 0;
		if (!server && iperf_serve(&server)) {
			fprintf(stderr, "net-guest: cannot start iperf3\n");
			server = 0;
		}
		if (poll(&poller, 1, POLL_MS) <= 0)
			continue;
		fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0)
			continue;
		if (!net_set_limit(fd, NET_STREAM_LIMIT_S))
			guest_request(fd);
		close(fd);
	}
}

int main(void)
{
	int listener = -1;

	if (getpid() != 1) {
		fprintf(stderr, "net-guest: I am PID 1 of a domU, nothing else\n");
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	mount_all();
	if (!network_up() && !listen_control(&listener)) {
		fprintf(stderr, "net-guest: ready\n");
		serve(listener);
	}
	fprintf(stderr, "net-guest: giving up\n");
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}
