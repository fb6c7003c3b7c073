/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NET_TRANSFER_H
#define NET_TRANSFER_H

#include <jansson.h>

#include "options.h"

#define NET_MAX_VCPUS 512u

/**
 * struct net_result - what came of a run
 * @iperf3:	"end" of what iperf3 printed
 * @bytes:	that arrived
 * @gbit:	Gbit/s that arrived
 * @retransmits: segments that TCP sent again
 * @vcpus:	dom0's
 * @busy_ns:	how long each of these ran between the transfer's start and its end
 * @window_ns:	how long that was
 * @checked:	bytes of the checked transfer
 * @wrong:	wrong ones among them
 * @domu_boots: how often the domUs were booted until they answered
 * @domu_ms:	until the domUs answered
 * @elapsed_ms:	all of the run but for its clean-up
 */
struct net_result {
	json_t *iperf3;
	uint64_t bytes;
	double gbit;
	int64_t retransmits;
	unsigned int vcpus;
	uint64_t busy_ns[NET_MAX_VCPUS];
	uint64_t window_ns;
	uint64_t checked;
	uint64_t wrong;
	unsigned int domu_boots;
	uint64_t domu_ms;
	uint64_t elapsed_ms;
};

int net_measure(const struct net_options *o, struct net_result *r);
int net_check(const struct net_options *o, struct net_result *r);
int net_report(const struct net_options *o, struct net_result *r);

#endif
