// SPDX-License-Identifier: GPL-2.0-only
/*
 * net as libxl's vif script: libxl runs it with "online" or "offline" and the device in the
 * environment. The backend connects once hotplug-status says so.
 */
#include "hotplug.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xenstore.h>

#include "../common/netdev.h"
#include "host.h"

enum { DEVICE_LIMIT_S = 10 };

/**
 * net_hotplug_wanted - whether libxl has started us
 * @argc: number of arguments
 * @argv: the arguments
 *
 * Return: true if net_hotplug() is to be called, and nothing else.
 */
bool net_hotplug_wanted(int argc, char **argv)
{
	return argc > 1 && getenv("XENBUS_PATH") &&
	       (!strcmp(argv[1], "online") || !strcmp(argv[1], "offline"));
}

static int connected(const char *backend)
{
	static const char value[] = "connected";
	struct xs_handle *xs;
	char path[256];
	bool done;

	snprintf(path, sizeof(path), "%s/hotplug-status", backend);
	xs = xs_open(0);
	done = xs && xs_write(xs, XBT_NULL, path, value, strlen(value));
	if (xs)
		xs_close(xs);
	if (!done)
		fprintf(stderr, "net: cannot write %s: %m\n", path);
	return done ? 0 : -1;
}

/**
 * net_hotplug - put the device on the bridge; nothing to do when it goes
 * @argv: what libxl gave
 *
 * Return: the exit status.
 */
int net_hotplug(char **argv)
{
	const char *vif = getenv("vif");

	if (strcmp(argv[1], "online"))
		return 0;
	if (!vif) {
		fprintf(stderr, "net: libxl did not name the vif\n");
		return 1;
	}
	if (netdev_wait(vif, true, DEVICE_LIMIT_S)) {
		fprintf(stderr, "net: there is no device %s\n", vif);
		return 1;
	}
	if (netdev_bridge_add(NET_BRIDGE, vif) || netdev_up(vif, true) ||
	    connected(getenv("XENBUS_PATH")))
		return 1;
	return 0;
}
