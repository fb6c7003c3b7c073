/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GNT_TRACING_H
#define GNT_TRACING_H

#include <stdbool.h>
#include <stdint.h>

int gnt_tracing(bool on);
void gnt_catch_signals(void);
bool gnt_stopped(void);
uint64_t gnt_now_ns(void);

#endif
