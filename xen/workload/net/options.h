/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NET_OPTIONS_H
#define NET_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum net_direction {
	NET_DU_D0,
	NET_D0_DU,
	NET_DU_DU,
	NET_DIRECTIONS,
};

/**
 * struct net_options - what is asked for
 * @direction:	who sends to whom
 * @streams:	TCP connections at a time
 * @seconds:	how long iperf3 sends; 0: until @mib are sent
 * @mib:	how much iperf3 sends, over all streams
 * @check_mib:	size of the checked transfer behind it
 * @vcpus:	of each domU
 * @memory:	of each domU, in MiB
 * @limit:	seconds that the measured transfer may take
 * @seed:	origin of the checked transfer's contents
 * @help:	only print the usage
 */
struct net_options {
	enum net_direction direction;
	unsigned int streams;
	unsigned int seconds;
	unsigned int mib;
	unsigned int check_mib;
	unsigned int vcpus;
	unsigned int memory;
	unsigned int limit;
	uint64_t seed;
	bool help;
};

extern const char net_usage[];

const char *net_direction_name(enum net_direction direction);
int net_options_parse(int argc, char **argv, const char *env_seed, struct net_options *ret_options,
		      char *err, size_t err_size);

#endif
