/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BOCHS_TICKS_H
#define LABD_BOCHS_TICKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What Bochs says on its terminal: its debugger tells the time at each step, between them a screen
 * is drawn, and when Bochs gives up it says why.
 */

#define TICKS_LINE_MAX 512

/**
 * struct ticks - reads that stream, in pieces of any size
 * @line: in the making; what is beyond its size is lost
 * @reason_next: the next line says why Bochs ends
 * @ticks: the time told last
 * @reason: why Bochs ends, printable; empty while it does not
 * @powered_off: that reason is the guest's power-off
 */
struct ticks {
	char line[TICKS_LINE_MAX];
	size_t length;
	bool reason_next;
	int64_t ticks;
	char reason[200];
	bool powered_off;
};

void ticks_feed(struct ticks *ticks, const char *bytes, size_t length);

#endif
