/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GCHURN_CHURN_H
#define GCHURN_CHURN_H

#include <stdint.h>

#include "../common/domain.h"
#include "options.h"

/**
 * struct gchurn_result - what came of a run, as far as it went
 * @batches:	measured batches that were done
 * @maps:	grants that were mapped, of all batches
 * @unmaps:	grants that were unmapped, of all batches
 * @measured:	grants that were unmapped in measured batches
 * @wrong:	words that were not what they had to be
 * @stale:	with --watch: words of a page that had been given back (these are wrong, too)
 * @looks:	with --watch: how often the other CPU looked at a page
 * @leaked:	pages that were unmapped and never released
 * @map_ns:	time of the maps of the measured batches
 * @unmap_ns:	time of each measured batch's unmap; room for all of them
 */
struct gchurn_result {
	unsigned int batches;
	uint64_t maps;
	uint64_t unmaps;
	uint64_t measured;
	uint64_t wrong;
	uint64_t stale;
	uint64_t looks;
	unsigned int leaked;
	uint64_t map_ns;
	uint64_t *unmap_ns;
};

int gchurn_run(const struct gnt_domain *d, const struct gchurn_options *o, struct gchurn_result *r);
int gchurn_watch(const struct gnt_domain *d, const struct gchurn_options *o,
		 struct gchurn_result *r);

#endif
