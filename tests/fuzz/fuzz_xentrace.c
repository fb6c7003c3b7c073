// SPDX-License-Identifier: GPL-2.0-only
/* A stream of any bytes: every record is read, its clock fitted, each known column taken. */
#include <stdlib.h>
#include <string.h>

#include "capture/xen_clock.h"
#include "capture/xen_records.h"
#include "capture/xentrace_read.h"

#define MAX_ANCHORS 256

static void read_columns(const struct xentrace_record *r)
{
	const struct xen_record_type *type = xen_record_find(r->id);
	static struct event_layout *layouts[32];
	struct event_layout **layout;
	struct xen_packed packed = {.tsc = r->tsc, .id = r->id, .n = r->n};
	int64_t value;

	memcpy(packed.words, r->words, 4 * (size_t)r->n);
	if (type && type->words != r->n)
		type = NULL;
	layout = &layouts[type ? 1 + (type - xen_record_types) : 0];
	if (!*layout && xen_record_layout(type, layout))
		return;
	for (size_t i = 0; i < (*layout)->n_columns; i++)
		if (layout_number(&(*layout)->columns[i], (uint8_t *)&packed, XEN_PACKED_SIZE(r->n),
				  &value) &&
		    type && i)
			abort(); /* a record of its type's size has all columns but the TSC */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xen_anchor anchors[MAX_ANCHORS];
	struct xentrace_record r;
	struct xentrace_file *file;
	struct xentrace_walk walk;
	struct xentrace_lost lost;
	struct xen_clock clock;
	uint64_t last = 0;
	size_t n = 0;
	char error[256];

	if (xentrace_parse(data, size, &file, error, sizeof(error)))
		return 0;
	xentrace_start(&walk, file, error, sizeof(error));
	while (xentrace_next(&walk, &r) > 0) {
		last = xentrace_lost(&r, &lost) ? lost.first_tsc : r.tsc;
		read_columns(&r);
		if (r.n == 6 && n < MAX_ANCHORS)
			anchors[n++] = (struct xen_anchor){
				xentrace_word(&r, 0), xentrace_word(&r, 1), r.tsc,
				(int64_t)((uint64_t)xentrace_word(&r, 3) << 32 |
					  xentrace_word(&r, 2)),
				(int64_t)((uint64_t)xentrace_word(&r, 5) << 32 |
					  xentrace_word(&r, 4))};
	}
	if (!xen_clock_fit(anchors, n, 0, &clock, error, sizeof(error)))
		xen_clock_ns(&clock, last);
	xentrace_close(file);
	return 0;
}
