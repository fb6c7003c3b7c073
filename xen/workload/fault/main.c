// SPDX-License-Identifier: GPL-2.0-only
/*
 * grant-fault: a grant unmap hypercall that breaks off in the middle of a group.
 *
 * Runs in dom0, as root. Prints one JSON object. Exit status: 0 everything was as it should be, 1
 * it was not, 4 this is not a dom0.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/tracing.h"
#include "fault.h"
#include "options.h"

enum {
	EXIT_FAILED = 1,
	EXIT_SKIPPED = 4,
};

static int run(const struct gfault_options *o, struct gfault_result *r)
{
	struct gnt_domain d = {};
	int ret, err;

	ret = gnt_tracing(false);
	if (!ret)
		ret = gnt_domain_create(&d, 3 * o->group);
	if (ret)
		return ret;
	ret = gfault_run(&d, o, r);
	r->leaked = gnt_domain_leaked(&d);
	err = gnt_domain_destroy(&d);
	return ret ? ret : err;
}

static void report(const struct gfault_options *o, const struct gfault_result *r)
{
	printf("{\"workload\":\"grant-fault\",\"group\":%u,\"ops_before_fault\":%u,\"on\":\"%s\","
	       "\"seed\":\"%" PRIu64 "\",\"rounds\":%u,\"returned\":%ld,\"unmapped\":%u,"
	       "\"next_group_ok\":%s,\"bad\":%u,\"maps\":%" PRIu64 ",\"unmaps\":%" PRIu64
	       ",\"wrong\":%" PRIu64 ",\"leaked\":%u}\n",
	       o->group, o->fault_at, o->on_write ? "write" : "read", o->seed, r->rounds,
	       r->returned, r->unmapped, r->next_group_ok ? "true" : "false", r->bad, r->maps,
	       r->unmaps, r->wrong, r->leaked);
}

int main(int argc, char **argv)
{
	struct gfault_result r = {};
	struct gfault_options o;
	char err[200];
	int ret;

	if (gfault_options_parse(argc, argv, getenv("LABD_SEED"), &o, err, sizeof(err))) {
		fprintf(stderr, "grant-fault: %s\n", err);
		return EXIT_FAILED;
	}
	if (o.help) {
		fputs(gfault_usage, stdout);
		return 0;
	}
	gnt_catch_signals();
	ret = run(&o, &r);
	if (ret == -ENODEV) {
		fprintf(stderr, "grant-fault: this is not a Xen dom0, skipped\n");
		return EXIT_SKIPPED;
	}
	if (ret == -EINTR)
		fprintf(stderr, "grant-fault: ended by a signal\n");
	if (r.leaked)
		fprintf(stderr, "grant-fault: %u pages were never released\n", r.leaked);
	report(&o, &r);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "grant-fault: cannot write the result: %m\n");
		ret = -EIO;
	}
	return ret || r.bad || r.wrong || r.leaked ? EXIT_FAILED : 0;
}
