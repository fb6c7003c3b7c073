/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_XEN_TRACE_H
#define LABD_AGENT_XEN_TRACE_H

#include <jansson.h>
#include <stdint.h>

#include "agent/job.h"
#include "agent/run.h"

struct agent_xen;

int agent_xen_start(const struct agent_settings *settings, uint32_t mask, uint64_t limit,
		    struct agent_xen **ret_xen, char *ret_error);
int agent_xen_stop(struct agent_xen *xen, char *ret_error);
json_t *agent_xen_json(const struct agent_xen *xen);
int agent_xen_send(const struct agent_xen *xen, int fd);
void agent_xen_free(struct agent_xen *xen);

#endif
