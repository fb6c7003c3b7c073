// SPDX-License-Identifier: GPL-2.0-only
/*
 * The domUs, made and destroyed by xl. They are known by their names alone, so that a run also
 * finds those of an earlier one that was killed.
 */
#include "domu.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <xenstore.h>

#include "../common/netdev.h"
#include "../common/tracing.h"
#include "../common/wire.h"
#include "host.h"
#include "tool.h"

enum {
	CREATE_LIMIT_S = 60,
	DESTROY_LIMIT_S = 30,
	BOOT_LIMIT_S = 60,
	VIF_LIMIT_S = 10,
	CONNECT_MS = 1000,
	POLL_NS = 100 * 1000 * 1000,
};

static const char *const names[NET_DOMUS] = {"labd-net-1", "labd-net-2"};
static const char *const addresses[NET_DOMUS] = {"10.201.0.11", "10.201.0.12"};

/**
 * net_domu_address - where a domU is to be reached
 * @number: from 0
 *
 * Return: a dotted address, static.
 */
const char *net_domu_address(unsigned int number)
{
	return addresses[number];
}

/**
 * net_domu_console - print the end of a domU's console to stderr
 * @number: from 0
 */
void net_domu_console(unsigned int number)
{
	char path[128];

	snprintf(path, sizeof(path), NET_CONSOLE_DIR "/guest-%s.log", names[number]);
	net_print_tail(path, names[number]);
}

static int write_config(const char *path, unsigned int number, const struct net_options *o)
{
	char self[256];
	ssize_t n;
	FILE *file;

	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n < 0) {
		fprintf(stderr, "net: cannot find out my own path: %m\n");
		return -errno;
	}
	self[n] = '\0';
	file = fopen(path, "we");
	if (file) {
		fprintf(file,
			"name = \"%s\"\n"
			"type = \"pvh\"\n"
			"kernel = \"/domu/bzImage\"\n"
			"ramdisk = \"/domu/initramfs.cpio.gz\"\n"
			"extra = \"console=hvc0 quiet panic=-1 labd.ip=%s\"\n"
			"vcpus = %u\n"
			"memory = %u\n"
			"maxmem = %u\n"
			"vif = [ \"mac=00:16:3e:1a:bd:%02x,bridge=" NET_BRIDGE ",script=%s\" ]\n",
			names[number], addresses[number], o->vcpus, o->memory, o->memory,
			number + 1, self);
		if (!fclose(file))
			return 0;
	}
	fprintf(stderr, "net: cannot write %s: %m\n", path);
	return -EIO;
}

/**
 * net_domu_create - make a domU and let it run
 * @number: from 0
 * @o: its size
 *
 * Return: 0 or a negative errno, printed.
 */
int net_domu_create(unsigned int number, const struct net_options *o)
{
	char path[128];
	/* -e: no process stays to look after it. */
	const char *argv[] = {NET_TOOLS "/xl", "create", "-e", "-q", path, NULL};
	int ret;

	snprintf(path, sizeof(path), NET_RUN_DIR "/%s.cfg", names[number]);
	ret = write_config(path, number, o);
	return ret ? ret : net_tool("create a domU", argv, CREATE_LIMIT_S);
}

static int ping(const char *address)
{
	char answer[NET_LINE];
	int fd, ret;

	ret = net_connect(address, NET_CONTROL_PORT, CONNECT_MS, &fd);
	if (ret)
		return ret;
	ret = net_write_line(fd, "ping");
	if (!ret)
		ret = net_read_line(fd, answer, sizeof(answer));
	if (!ret && strcmp(answer, "ok"))
		ret = -EPROTO;
	close(fd);
	return ret;
}

/**
 * net_domu_wait - wait until a domU answers
 * @number: from 0
 *
 * Return: 0 or a negative errno, printed.
 */
int net_domu_wait(unsigned int number)
{
	uint64_t end = gnt_now_ns() + BOOT_LIMIT_S * UINT64_C(1000000000);
	struct timespec pause = {.tv_nsec = POLL_NS};
	int ret;

	while ((ret = ping(addresses[number]))) {
		if (gnt_stopped())
			return -EINTR;
		if (gnt_now_ns() >= end) {
			fprintf(stderr, "net: %s did not answer within %d s: %s\n", names[number],
				BOOT_LIMIT_S, strerror(-ret));
			net_domu_console(number);
			return ret;
		}
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* Whether it is one of ours; -1 if not. */
static int number_of(struct xs_handle *xs, const char *domid)
{
	unsigned int length;
	char path[64], *name;
	int number = -1;

	snprintf(path, sizeof(path), "/local/domain/%s/name", domid);
	name = xs_read(xs, XBT_NULL, path, &length);
	for (unsigned int i = 0; name && i < NET_DOMUS; i++)
		if (!strcmp(name, names[i]))
			number = i;
	free(name);
	return number;
}

static int destroy(const char *domid, unsigned int number)
{
	const char *argv[] = {NET_TOOLS "/xl", "destroy", domid, NULL};
	char path[128];
	int ret;

	ret = net_tool("destroy a domU", argv, DESTROY_LIMIT_S);
	snprintf(path, sizeof(path), "vif%s.0", domid);
	if (!ret && netdev_wait(path, false, VIF_LIMIT_S)) {
		fprintf(stderr, "net: %s did not go with its domain\n", path);
		ret = -EBUSY;
	}
	snprintf(path, sizeof(path), NET_CONSOLE_DIR "/guest-%s.log", names[number]);
	unlink(path);
	return ret;
}

/**
 * net_domu_clean - destroy all domUs of ours, whichever run made them
 *
 * Return: 0 or a negative errno, printed. The first failure does not keep the others.
 */
int net_domu_clean(void)
{
	struct xs_handle *xs;
	unsigned int count;
	char **domids;
	int ret = 0, err;

	xs = xs_open(0);
	if (!xs) {
		fprintf(stderr, "net: cannot open the store: %m\n");
		return -EIO;
	}
	domids = xs_directory(xs, XBT_NULL, "/local/domain", &count);
	for (unsigned int i = 0; domids && i < count; i++) {
		int number = number_of(xs, domids[i]);

		if (number < 0)
			continue;
		err = destroy(domids[i], number);
		ret = ret ? ret : err;
	}
	free(domids);
	xs_close(xs);
	return ret;
}
