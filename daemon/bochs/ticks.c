// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "bochs/ticks.h"

#define AT "Next at t="
#define ENDS "Bochs is exiting with the following message:"
#define PANIC ">>PANIC<< "
#define POWER_OFF "ACPI control: soft power off"

/* The first reason stays: what follows is said because of it. */
static void note_reason(struct ticks *ticks, const char *text)
{
	if (ticks->reason[0])
		return;
	snprintf(ticks->reason, sizeof(ticks->reason), "%s", text);
	for (char *p = ticks->reason; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	ticks->powered_off = strstr(text, POWER_OFF) != NULL;
}

/* A screen may have been drawn in front of what the line says. */
static void take_line(struct ticks *ticks)
{
	char *line = ticks->line, *found;
	int64_t at;

	line[ticks->length] = '\0';
	line[strcspn(line, "\r")] = '\0';
	if (ticks->reason_next) {
		ticks->reason_next = false;
		note_reason(ticks, line);
	} else if ((found = strstr(line, AT))) {
		if (!parse_i64(found + strlen(AT), 0, INT64_MAX, &at) && at > ticks->ticks)
			ticks->ticks = at;
	} else if ((found = strstr(line, PANIC))) {
		note_reason(ticks, found + strlen(PANIC));
	} else {
		ticks->reason_next = strstr(line, ENDS) != NULL;
	}
}

/**
 * ticks_feed() - take what the terminal says
 * @ticks: starts as zeroes
 */
void ticks_feed(struct ticks *ticks, const char *bytes, size_t length)
{
	for (; length; bytes++, length--) {
		if (*bytes == '\n') {
			take_line(ticks);
			ticks->length = 0;
		} else if (*bytes && ticks->length < TICKS_LINE_MAX - 1) {
			ticks->line[ticks->length++] = *bytes;
		}
	}
}
