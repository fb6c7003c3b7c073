/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NET_HOST_H
#define NET_HOST_H

#define NET_TOOLS "/bin"
#define NET_BRIDGE "labd0"
#define NET_BRIDGE_ADDRESS "10.201.0.1"

int net_host_prepare(void);
int net_host_bridge(void);
void net_host_bridge_gone(void);

#endif
