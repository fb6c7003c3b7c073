/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STORE_BUILD_EVENT_H
#define LABD_STORE_BUILD_EVENT_H

#include <jansson.h>
#include <sqlite3.h>
#include <stdbool.h>

/*
 * The tracepoints of kernels, by build-id: what a boot of one said that it has. A hypervisor's
 * records are known without a boot.
 */
int build_event_known(sqlite3 *db, const char *build_id, bool *ret_known);
int build_event_note(sqlite3 *db, const char *build_id, const json_t *events);
int build_event_list(sqlite3 *db, const json_t *build, bool *ret_booted, json_t **ret_events);

#endif
