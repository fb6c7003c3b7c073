// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one JSON object that a run prints.
 */
#include <errno.h>
#include <stdio.h>

#include "transfer.h"

/* One row per stream: more than anybody wants of each run. */
static void trim(json_t *end)
{
	json_object_del(end, "streams");
}

static json_t *busy_list(const struct net_result *r, double *ret_sum_ns)
{
	json_t *list = json_array();

	*ret_sum_ns = 0;
	for (unsigned int i = 0; i < r->vcpus; i++) {
		json_array_append_new(list, json_integer(r->busy_ns[i]));
		*ret_sum_ns += r->busy_ns[i];
	}
	return list;
}

/**
 * net_report - print the result to stdout
 * @o: what was asked for
 * @r: what came of it; its iperf3 is trimmed
 *
 * Return: 0 or a negative errno, printed.
 */
int net_report(const struct net_options *o, struct net_result *r)
{
	double busy_ns, gbit_per_busy;
	json_t *object, *list;
	char seed[24];
	int ret = 0;

	list = busy_list(r, &busy_ns);
	/* Bits for each busy nanosecond: the start and end of the window, when nothing is sent, do
	 * not thin it out as they would a quotient of two rates.
	 */
	gbit_per_busy = busy_ns > 0 ? r->bytes * 8 / busy_ns : 0;
	trim(r->iperf3);
	/* As a string: it has 64 bits, which many readers of JSON do not. */
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)o->seed);
	object = json_pack(
		"{s:s, s:s, s:i, s:i, s:i, s:i, s:i, s:s, s:f, s:I, s:I, s:I, s:I, s:o, s:f, s:f,"
		" s:I, s:i, s:I, s:I, s:O}",
		"workload", "net", "direction", net_direction_name(o->direction), "streams",
		(int)o->streams, "seconds", (int)o->seconds, "mib", (int)o->mib, "domu_vcpus",
		(int)o->vcpus, "domu_mib", (int)o->memory, "seed", seed, "gbit_per_s", r->gbit,
		"bytes", (json_int_t)r->bytes, "retransmits", (json_int_t)r->retransmits,
		"checked_bytes", (json_int_t)r->checked, "wrong", (json_int_t)r->wrong, "busy_ns",
		list, "busy_vcpus", r->window_ns ? busy_ns / r->window_ns : 0.0,
		"gbit_per_busy_vcpu", gbit_per_busy, "window_ns", (json_int_t)r->window_ns,
		"domu_boots", (int)r->domu_boots, "domu_ms", (json_int_t)r->domu_ms, "elapsed_ms",
		(json_int_t)r->elapsed_ms, "iperf3", r->iperf3);
	if (!object || json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(9)) ||
	    putchar('\n') == EOF || fflush(stdout)) {
		fprintf(stderr, "net: cannot write the result\n");
		ret = -EIO;
	}
	json_decref(object);
	return ret;
}
