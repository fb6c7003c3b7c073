/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NET_BUSY_H
#define NET_BUSY_H

#include <stdint.h>

struct net_result;

int net_busy_begin(struct net_result *r);
int net_busy_end(struct net_result *r);

#endif
