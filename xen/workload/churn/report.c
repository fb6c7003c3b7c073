// SPDX-License-Identifier: GPL-2.0-only
/*
 * The one JSON object that grant-churn prints. All of it is numbers and names of our own, nothing
 * that would need escaping.
 */
#include "report.h"

#include <inttypes.h>

static const char *bool_name(bool value)
{
	return value ? "true" : "false";
}

/**
 * gchurn_report - print the result of a run
 * @out: where to
 * @o: what was asked for
 * @r: what came of it, complete or not
 * @domid: the domain that granted
 *
 * The seed is a string: it uses all 64 bits, and many readers of JSON have no unsigned ones.
 */
void gchurn_report(FILE *out, const struct gchurn_options *o, const struct gchurn_result *r,
		   uint32_t domid)
{
	uint64_t total = 0;

	fprintf(out,
		"{\"workload\":\"grant-churn\",\"batch\":%u,\"batches\":%u,\"warmup\":%u,"
		"\"seed\":\"%" PRIu64 "\",\"check\":%s,\"watch\":%s,\"domid\":%u,",
		o->batch, r->batches, o->warmup, o->seed, bool_name(o->check), bool_name(o->watch),
		domid);
	fprintf(out,
		"\"maps\":%" PRIu64 ",\"unmaps\":%" PRIu64 ",\"measured_unmaps\":%" PRIu64
		",\"wrong\":%" PRIu64 ",\"stale\":%" PRIu64 ",\"looks\":%" PRIu64
		",\"leaked\":%u,\"map_ns\":%" PRIu64 ",",
		r->maps, r->unmaps, r->measured, r->wrong, r->stale, r->looks, r->leaked,
		r->map_ns);
	fputs("\"unmap_ns\":[", out);
	for (unsigned int i = 0; i < r->batches; i++) {
		total += r->unmap_ns[i];
		fprintf(out, "%s%" PRIu64, i ? "," : "", r->unmap_ns[i]);
	}
	fprintf(out, "],\"unmap_total_ns\":%" PRIu64, total);
	if (r->measured)
		fprintf(out, ",\"unmap_ns_per_page\":%.1f", (double)total / (double)r->measured);
	fputs("}\n", out);
}
