/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHURN_SCHEDULE_H
#define CHURN_SCHEDULE_H

#include <stddef.h>
#include <stdint.h>

#include "options.h"

#define CHURN_PAGE UINT64_C(4096)
#define CHURN_MIB (UINT64_C(1) << 20)
#define CHURN_TABLE (2 * CHURN_MIB) /* what one 4K leaf table maps */

/* Pages that verification watches in each table, and in the largest chunk, off the borders. */
#define CHURN_WATCH_PER_TABLE 8u
#define CHURN_WATCH_MAX ((CHURN_MAX_CHUNK_MIB / 2 + 1) * CHURN_WATCH_PER_TABLE)

/**
 * struct churn_schedule - which bytes of guest memory each round invalidates
 * @mode:	the mode of the options
 * @chunk:	size of one chunk in bytes
 * @chunks:	number of chunks a sweep rolls over; 1 when the chunk stays the same
 * @first:	offset of round 0's chunk in bytes; on a table's border when it stays the same
 */
struct churn_schedule {
	enum churn_mode mode;
	uint64_t chunk;
	uint64_t chunks;
	uint64_t first;
};

void churn_schedule_init(struct churn_schedule *s, const struct churn_options *o);
uint64_t churn_schedule_offset(const struct churn_schedule *s, unsigned int round);
uint64_t churn_start_page(const struct churn_options *o, unsigned int vcpu);
void churn_start_order(const struct churn_options *o, unsigned int *order);
uint64_t churn_start_delay_ns(const struct churn_options *o);
size_t churn_watch_list(const struct churn_options *o, unsigned int round, uint64_t offset,
			uint64_t *list);

#endif
