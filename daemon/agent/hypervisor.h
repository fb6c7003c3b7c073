/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_HYPERVISOR_H
#define LABD_AGENT_HYPERVISOR_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

bool agent_on_xen(void);
int64_t agent_hypervisor_tsc_khz(void);
json_t *agent_hypervisor_hello(void);
json_t *agent_hypervisor_env(const json_t *hello);

#endif
