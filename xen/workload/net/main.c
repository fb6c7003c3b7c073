// SPDX-License-Identifier: GPL-2.0-only
/*
 * net: a domU's network traffic through netback.
 *
 * Runs in a PVH dom0, as root. Starts Xen's daemons if they do not run yet, makes a bridge and one
 * or two domUs, lets iperf3 transfer, checks the contents of a transfer of its own, and takes the
 * domUs and the bridge down again. Prints one JSON object. Exit status: 0 the run is valid, 1 it
 * failed or contents were wrong, 4 this is not a dom0. It is libxl's vif script as well.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/tracing.h"
#include "domu.h"
#include "host.h"
#include "hotplug.h"
#include "options.h"
#include "transfer.h"

enum {
	EXIT_FAILED = 1,
	EXIT_SKIPPED = 4,
	MAX_BOOTS = 3,
};

/*
 * A domU that hangs while it boots is replaced: emulated machines do that to it when their host is
 * busy, and nothing is measured yet.
 */
static int start_domus(const struct net_options *o, unsigned int domus, struct net_result *r)
{
	int ret;

	for (;;) {
		ret = 0;
		for (unsigned int i = 0; !ret && i < domus; i++)
			ret = net_domu_create(i, o);
		if (ret)
			return ret;
		r->domu_boots++;
		for (unsigned int i = 0; !ret && i < domus; i++)
			ret = net_domu_wait(i);
		if (!ret || ret == -EINTR || r->domu_boots == MAX_BOOTS)
			return ret;
		fprintf(stderr, "net: booting the domUs once more\n");
		ret = net_domu_clean();
		if (ret)
			return ret;
	}
}

static int with_domus(const struct net_options *o, struct net_result *r, uint64_t start)
{
	unsigned int domus = o->direction == NET_DU_DU ? 2 : 1;
	int ret;

	ret = start_domus(o, domus, r);
	r->domu_ms = (gnt_now_ns() - start) / 1000000;
	if (!ret)
		ret = net_measure(o, r);
	if (!ret)
		ret = net_check(o, r);
	r->elapsed_ms = (gnt_now_ns() - start) / 1000000;
	return ret;
}

static int run(const struct net_options *o, struct net_result *r)
{
	uint64_t start = gnt_now_ns();
	int ret, err;

	ret = gnt_tracing(false);
	if (!ret)
		ret = net_host_prepare();
	if (!ret)
		ret = net_domu_clean();
	if (!ret)
		ret = net_host_bridge();
	if (ret)
		return ret;
	ret = with_domus(o, r, start);
	err = net_domu_clean();
	net_host_bridge_gone();
	return ret ? ret : err;
}

int main(int argc, char **argv)
{
	static struct net_result r;
	struct net_options o;
	char err[200];
	int ret;

	if (net_hotplug_wanted(argc, argv))
		return net_hotplug(argv);
	if (net_options_parse(argc, argv, getenv("LABD_SEED"), &o, err, sizeof(err))) {
		fprintf(stderr, "net: %s\n", err);
		return EXIT_FAILED;
	}
	if (o.help) {
		fputs(net_usage, stdout);
		return 0;
	}
	gnt_catch_signals();
	ret = run(&o, &r);
	if (ret == -ENODEV) {
		fprintf(stderr, "net: this is not a Xen dom0, skipped\n");
		return EXIT_SKIPPED;
	}
	if (ret == -EINTR)
		fprintf(stderr, "net: ended by a signal\n");
	if (r.wrong)
		fprintf(stderr, "net: %llu bytes of %llu were wrong\n", (unsigned long long)r.wrong,
			(unsigned long long)r.checked);
	if (r.iperf3 && net_report(&o, &r))
		ret = -EIO;
	json_decref(r.iperf3);
	return ret || r.wrong ? EXIT_FAILED : 0;
}
