/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NET_DOMU_H
#define NET_DOMU_H

#include "options.h"

#define NET_DOMUS 2u

int net_domu_clean(void);
int net_domu_create(unsigned int number, const struct net_options *o);
int net_domu_wait(unsigned int number);
const char *net_domu_address(unsigned int number);
void net_domu_console(unsigned int number);

#endif
