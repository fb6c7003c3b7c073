/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_INIT_H
#define LABD_AGENT_INIT_H

int agent_init_become(void);

#endif
