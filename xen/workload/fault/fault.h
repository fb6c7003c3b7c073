/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GFAULT_FAULT_H
#define GFAULT_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "../common/domain.h"
#include "options.h"

/**
 * struct gfault_result - what came of a run
 * @rounds:	rounds that were done
 * @returned:	what the hypercall with the bad page returned, in the last round or in the first
 *		one where it was not -EFAULT
 * @unmapped:	how many grants it had released by then, of the same round
 * @next_group_ok: the rest of every array could be unmapped afterwards, and a whole group after it
 * @bad:	rounds in which anything was not as it should be
 * @maps:	grants that were mapped
 * @unmaps:	grants that were unmapped
 * @wrong:	words that were not what they had to be
 * @leaked:	pages that were unmapped and never released
 */
struct gfault_result {
	unsigned int rounds;
	long returned;
	unsigned int unmapped;
	bool next_group_ok;
	unsigned int bad;
	uint64_t maps;
	uint64_t unmaps;
	uint64_t wrong;
	unsigned int leaked;
};

int gfault_run(const struct gnt_domain *d, const struct gfault_options *o, struct gfault_result *r);

#endif
