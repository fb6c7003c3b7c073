/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NET_HOTPLUG_H
#define NET_HOTPLUG_H

#include <stdbool.h>

bool net_hotplug_wanted(int argc, char **argv);
int net_hotplug(char **argv);

#endif
