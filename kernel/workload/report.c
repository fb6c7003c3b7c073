// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one JSON object that a run prints. All of it is numbers and names of our own, nothing that
 * would need escaping.
 */
#include "report.h"

#include <inttypes.h>

static const char *bool_name(bool value)
{
	return value ? "true" : "false";
}

/**
 * churn_report - print the result of a run
 * @out: where to
 * @o: what was asked for
 * @r: what came of it, complete or not
 *
 * The seed is a string: it uses all 64 bits, and many readers of JSON have no unsigned ones.
 */
void churn_report(FILE *out, const struct churn_options *o, const struct churn_result *r)
{
	uint64_t total = 0;

	fprintf(out,
		"{\"workload\":\"kvm-churn\",\"mode\":\"%s\",\"chunk_mib\":%u,\"vcpus\":%u,"
		"\"mem_mib\":%u,\"period_us\":%u,\"work\":%u,\"seed\":\"%" PRIu64
		"\",\"writeback\":%s,"
		"\"fifo\":%s,\"verify\":%s,",
		churn_mode_name(o->mode), o->chunk_mib, o->vcpus, o->mem_mib, o->period_us, o->work,
		o->seed, bool_name(o->writeback), bool_name(o->fifo), bool_name(o->verify));
	fprintf(out,
		"\"rounds\":%u,\"late_rounds\":%u,\"late_max_ns\":%" PRIu64 ","
		"\"pages_touched\":%" PRIu64 ",\"chunk_start_mib\":%" PRIu64 ","
		"\"errors\":%" PRIu64 ",\"touch_ns\":%" PRIu64 ",\"elapsed_ns\":%" PRIu64 ",",
		r->rounds, r->late_rounds, r->late_max_ns, r->pages_touched,
		r->chunk_start / CHURN_MIB, r->errors, r->touch_ns, r->elapsed_ns);
	fputs("\"madvise_ns\":[", out);
	for (unsigned int i = 0; i < r->rounds; i++) {
		total += r->madvise_ns[i];
		fprintf(out, "%s%" PRIu64, i ? "," : "", r->madvise_ns[i]);
	}
	fprintf(out, "],\"madvise_total_ns\":%" PRIu64 "}\n", total);
}
