/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHURN_ROUNDS_H
#define CHURN_ROUNDS_H

#include <stdint.h>

#include "options.h"
#include "schedule.h"
#include "vm.h"

/**
 * struct churn_result - what a run gave
 * @madvise_ns:	duration of each round's invalidation, room for all rounds, owned
 * @rounds:	rounds done
 * @late_rounds: rounds that began more than a tenth of a period after their time
 * @late_max_ns: the most that one began after its time
 * @pages_touched: writes of one word in one page, by the vCPUs and to fill memory
 * @chunk_start: offset of the first round's chunk in bytes
 * @errors:	wrong words found by --verify, plus one if the run could not go on
 * @touch_ns:	how long the first touch of all memory took
 * @elapsed_ns:	from the start of the first touch to the end of the last round
 */
struct churn_result {
	uint64_t *madvise_ns;
	unsigned int rounds;
	unsigned int late_rounds;
	uint64_t late_max_ns;
	uint64_t pages_touched;
	uint64_t chunk_start;
	uint64_t errors;
	uint64_t touch_ns;
	uint64_t elapsed_ns;
};

uint64_t churn_now_ns(void);
void churn_wait_until(uint64_t deadline_ns, uint64_t period_ns, struct churn_result *result);
int churn_invalidate(struct vm *vm, uint64_t offset, uint64_t size, uint64_t *ret_ns);

int churn_measure(struct vm *vm, const struct churn_options *o, const struct churn_schedule *s,
		  struct churn_result *result);

/* verify.c */
int churn_verify(struct vm *vm, const struct churn_options *o, const struct churn_schedule *s,
		 struct churn_result *result);

#endif
