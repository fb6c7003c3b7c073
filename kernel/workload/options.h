/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHURN_OPTIONS_H
#define CHURN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of what a command line may ask for. */
#define CHURN_MAX_VCPUS 16u
#define CHURN_MAX_MEM_MIB 65536u
#define CHURN_MAX_CHUNK_MIB 1024u
#define CHURN_MAX_ROUNDS 100000u
#define CHURN_MIN_PERIOD_US 100u
#define CHURN_MAX_PERIOD_US 1000000u
#define CHURN_MAX_WORK 1000000u

enum churn_mode {
	CHURN_SAME,  /* the same chunk in each round */
	CHURN_SWEEP, /* the next chunk in each round, around all guest memory */
};

/**
 * struct churn_options - what one run is asked to do
 * @mode:	which chunk each round invalidates
 * @chunk_mib:	size of one invalidation in MiB, 1 to CHURN_MAX_CHUNK_MIB
 * @vcpus:	number of vCPUs that write, 1 to CHURN_MAX_VCPUS
 * @mem_mib:	size of guest memory in MiB, even, 2 to CHURN_MAX_MEM_MIB
 * @rounds:	number of invalidations, 1 to CHURN_MAX_ROUNDS
 * @period_us:	time from one invalidation to the next in microseconds
 * @work:	turns of an empty loop of a vCPU behind each write. A guest does more than write a
 *		word in each page: without any, the vCPUs rush through memory that is mapped and
 *		spend their time where faults hold them up, in the chunk that is being invalidated
 * @seed:	what every draw of the run is derived from
 * @writeback:	fill the invalidated chunk again before the next round
 * @fifo:	invalidate with real-time priority: where the invalidator has no CPU of its own, a
 *		zap's duration is then the zap's and not also that of whoever took the CPU from it
 * @verify:	check every mapping instead of measuring
 * @help:	only print the usage
 */
struct churn_options {
	enum churn_mode mode;
	unsigned int chunk_mib;
	unsigned int vcpus;
	unsigned int mem_mib;
	unsigned int rounds;
	unsigned int period_us;
	unsigned int work;
	uint64_t seed;
	bool writeback;
	bool fifo;
	bool verify;
	bool help;
};

extern const char churn_usage[];

int churn_options_parse(int argc, char **argv, const char *env_seed,
			struct churn_options *ret_options, char *err, size_t err_size);
const char *churn_mode_name(enum churn_mode mode);

#endif
