// SPDX-License-Identifier: GPL-2.0-only
/*
 * Network devices by ioctl: what ip and brctl would do, for images that have neither.
 */
#include "netdev.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "tracing.h"

enum { POLL_NS = 50 * 1000 * 1000 };

/* One ioctl on a socket of its own; prints what failed. */
static int request(unsigned long cmd, void *arg, const char *what, const char *name)
{
	int fd, ret = 0;

	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, cmd, arg)) {
		ret = -errno;
		fprintf(stderr, "cannot %s %s: %s\n", what, name, strerror(-ret));
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

static int named(struct ifreq *ifr, const char *name)
{
	memset(ifr, 0, sizeof(*ifr));
	if (strlen(name) >= sizeof(ifr->ifr_name)) {
		fprintf(stderr, "\"%s\" is too long for a network device\n", name);
		return -ENAMETOOLONG;
	}
	memcpy(ifr->ifr_name, name, strlen(name));
	return 0;
}

/**
 * netdev_exists - whether there is a network device
 * @name: its name
 *
 * Return: true if there is.
 */
bool netdev_exists(const char *name)
{
	return if_nametoindex(name);
}

/**
 * netdev_wait - wait until a device has come or gone
 * @name: its name
 * @present: which of the two
 * @limit_s: seconds to wait at most
 *
 * Return: 0 or -ETIMEDOUT.
 */
int netdev_wait(const char *name, bool present, unsigned int limit_s)
{
	uint64_t end = gnt_now_ns() + limit_s * UINT64_C(1000000000);
	struct timespec pause = {.tv_nsec = POLL_NS};

	while (netdev_exists(name) != present) {
		if (gnt_now_ns() >= end)
			return -ETIMEDOUT;
		nanosleep(&pause, NULL);
	}
	return 0;
}

/**
 * netdev_up - switch a device on or off
 * @name: its name
 * @up: which of the two
 *
 * Return: 0 or a negative errno, printed.
 */
int netdev_up(const char *name, bool up)
{
	struct ifreq ifr;
	int ret;

	ret = named(&ifr, name);
	if (!ret)
		ret = request(SIOCGIFFLAGS, &ifr, "find the device", name);
	if (ret)
		return ret;
	if (up)
		ifr.ifr_flags |= IFF_UP;
	else
		ifr.ifr_flags &= ~IFF_UP;
	return request(SIOCSIFFLAGS, &ifr, up ? "switch on" : "switch off", name);
}

/**
 * netdev_address - give a device an IPv4 address within a /24
 * @name: its name
 * @address: dotted
 *
 * Return: 0 or a negative errno, printed.
 */
int netdev_address(const char *name, const char *address)
{
	struct sockaddr_in in = {.sin_family = AF_INET};
	struct ifreq ifr;
	int ret;

	if (inet_pton(AF_INET, address, &in.sin_addr) != 1) {
		fprintf(stderr, "\"%s\" is no IPv4 address\n", address);
		return -EINVAL;
	}
	ret = named(&ifr, name);
	if (ret)
		return ret;
	memcpy(&ifr.ifr_addr, &in, sizeof(in));
	ret = request(SIOCSIFADDR, &ifr, "set the address of", name);
	if (ret)
		return ret;
	in.sin_addr.s_addr = htonl(0xffffff00);
	memcpy(&ifr.ifr_netmask, &in, sizeof(in));
	return request(SIOCSIFNETMASK, &ifr, "set the netmask of", name);
}

/**
 * netdev_bridge_create - make a bridge, without spanning tree
 * @bridge: its name
 *
 * Return: 0 or a negative errno, printed.
 */
int netdev_bridge_create(const char *bridge)
{
	char name[IFNAMSIZ] = "";

	snprintf(name, sizeof(name), "%s", bridge);
	return request(SIOCBRADDBR, name, "make the bridge", bridge);
}

/**
 * netdev_bridge_delete - switch a bridge off and remove it
 * @bridge: its name
 *
 * Return: 0 or a negative errno, printed.
 */
int netdev_bridge_delete(const char *bridge)
{
	char name[IFNAMSIZ] = "";
	int ret;

	snprintf(name, sizeof(name), "%s", bridge);
	ret = netdev_up(bridge, false);
	return ret ? ret : request(SIOCBRDELBR, name, "remove the bridge", bridge);
}

/**
 * netdev_bridge_add - make a device a port of a bridge
 * @bridge: the bridge
 * @port: the device
 *
 * Return: 0 or a negative errno, printed.
 */
int netdev_bridge_add(const char *bridge, const char *port)
{
	struct ifreq ifr;
	int ret;

	ret = named(&ifr, bridge);
	if (ret)
		return ret;
	ifr.ifr_ifindex = if_nametoindex(port);
	return request(SIOCBRADDIF, &ifr, "put on the bridge the device", port);
}
