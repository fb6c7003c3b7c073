/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GFAULT_OPTIONS_H
#define GFAULT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of what a command line may ask for. The array's second page bounds the group. */
#define GFAULT_MAX_GROUP 128u
#define GFAULT_MAX_ROUNDS 10000u

/**
 * struct gfault_options - what one run is asked to do
 * @group:	operations of the array, 1 to GFAULT_MAX_GROUP
 * @fault_at:	the operation that lies on the bad page, from 0, below @group
 * @rounds:	how often, 1 to GFAULT_MAX_ROUNDS
 * @seed:	what contents and orders are derived from
 * @on_write:	the bad page can be read, so that it is the operation's status that fails
 * @help:	only print the usage
 */
struct gfault_options {
	unsigned int group;
	unsigned int fault_at;
	unsigned int rounds;
	uint64_t seed;
	bool on_write;
	bool help;
};

extern const char gfault_usage[];

int gfault_options_parse(int argc, char **argv, const char *env_seed,
			 struct gfault_options *ret_options, char *err, size_t err_size);

#endif
