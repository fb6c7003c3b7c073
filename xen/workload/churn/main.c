// SPDX-License-Identifier: GPL-2.0-only
/*
 * grant-churn: another domain's pages that come and go.
 *
 * Runs in dom0, as root. Makes a domain that never runs, maps and unmaps the pages it grants in
 * batches, and checks what is in them. Prints one JSON object. Exit status: 0 the run is valid, 1
 * it failed or contents were wrong, 4 this is not a dom0.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/tracing.h"
#include "churn.h"
#include "options.h"
#include "report.h"

enum {
	EXIT_FAILED = 1,
	EXIT_SKIPPED = 4,
};

static int run(const struct gchurn_options *o, struct gchurn_result *r, uint32_t *ret_domid)
{
	struct gnt_domain d = {};
	int ret, err;

	ret = gnt_tracing(false);
	if (!ret)
		ret = gnt_domain_create(&d, 3 * o->batch);
	if (ret)
		return ret;
	*ret_domid = d.domid;
	ret = o->watch ? gchurn_watch(&d, o, r) : gchurn_run(&d, o, r);
	r->leaked = gnt_domain_leaked(&d);
	err = gnt_domain_destroy(&d);
	return ret ? ret : err;
}

int main(int argc, char **argv)
{
	struct gchurn_result r = {};
	struct gchurn_options o;
	uint32_t domid = 0;
	char err[200];
	int ret;

	if (gchurn_options_parse(argc, argv, getenv("LABD_SEED"), &o, err, sizeof(err))) {
		fprintf(stderr, "grant-churn: %s\n", err);
		return EXIT_FAILED;
	}
	if (o.help) {
		fputs(gchurn_usage, stdout);
		return 0;
	}
	r.unmap_ns = calloc(o.batches, sizeof(*r.unmap_ns));
	if (!r.unmap_ns) {
		fprintf(stderr, "grant-churn: no memory for %u batches\n", o.batches);
		return EXIT_FAILED;
	}
	gnt_catch_signals();
	ret = run(&o, &r, &domid);
	if (ret == -ENODEV) {
		fprintf(stderr, "grant-churn: this is not a Xen dom0, skipped\n");
		ret = EXIT_SKIPPED;
		goto out;
	}
	if (ret == -EINTR)
		fprintf(stderr, "grant-churn: ended by a signal\n");
	if (r.wrong)
		fprintf(stderr, "grant-churn: %llu words were wrong\n",
			(unsigned long long)r.wrong);
	if (r.leaked)
		fprintf(stderr, "grant-churn: %u pages were never released\n", r.leaked);
	gchurn_report(stdout, &o, &r, domid);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "grant-churn: cannot write the result: %m\n");
		ret = -EIO;
	}
	ret = ret || r.wrong || (r.leaked && !o.leaks_ok) ? EXIT_FAILED : 0;
out:
	free(r.unmap_ns);
	return ret;
}
