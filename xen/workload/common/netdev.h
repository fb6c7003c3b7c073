/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NET_NETDEV_H
#define NET_NETDEV_H

#include <stdbool.h>

bool netdev_exists(const char *name);
int netdev_wait(const char *name, bool present, unsigned int limit_s);
int netdev_up(const char *name, bool up);
int netdev_address(const char *name, const char *address);
int netdev_bridge_create(const char *bridge);
int netdev_bridge_delete(const char *bridge);
int netdev_bridge_add(const char *bridge, const char *port);

#endif
