// SPDX-License-Identifier: GPL-2.0-only
/*
 * How long each vCPU of dom0 ran. The hypervisor counts that in nanoseconds, its own work for the
 * vCPU included; dom0's /proc/stat has ticks, and sees nothing of the hypervisor.
 */
#include "busy.h"

#include <errno.h>
#include <stdio.h>

#include <xenctrl.h>

#include "../common/tracing.h"
#include "transfer.h"

/* Fills counts[] for each vCPU of dom0. */
static int read_counts(uint64_t *counts, unsigned int *ret_vcpus)
{
	xc_interface *xc;
	xc_dominfo_t dom0;
	unsigned int vcpus;
	int ret = 0;

	xc = xc_interface_open(NULL, NULL, 0);
	if (!xc || xc_domain_getinfo(xc, 0, 1, &dom0) != 1 || dom0.domid) {
		ret = -EIO;
		goto out;
	}
	vcpus = dom0.max_vcpu_id + 1;
	if (vcpus > NET_MAX_VCPUS) {
		ret = -E2BIG;
		goto out;
	}
	for (unsigned int i = 0; !ret && i < vcpus; i++) {
		xc_vcpuinfo_t info;

		if (xc_vcpu_getinfo(xc, 0, i, &info))
			ret = -errno;
		else
			counts[i] = info.cpu_time;
	}
	if (!ret)
		*ret_vcpus = vcpus;
out:
	if (ret)
		fprintf(stderr, "net: cannot read the times of dom0's vCPUs: %m\n");
	if (xc)
		xc_interface_close(xc);
	return ret;
}

/**
 * net_busy_begin - begin to count
 * @r: gets its time and counts, to be used by net_busy_end()
 *
 * Return: 0 or a negative errno, printed.
 */
int net_busy_begin(struct net_result *r)
{
	int ret;

	ret = read_counts(r->busy_ns, &r->vcpus);
	if (!ret)
		r->window_ns = gnt_now_ns();
	return ret;
}

/**
 * net_busy_end - end it
 * @r: its counts become differences
 *
 * Return: 0 or a negative errno, printed.
 */
int net_busy_end(struct net_result *r)
{
	static uint64_t counts[NET_MAX_VCPUS];
	unsigned int vcpus;
	int ret;

	r->window_ns = gnt_now_ns() - r->window_ns;
	ret = read_counts(counts, &vcpus);
	if (!ret && vcpus != r->vcpus) {
		fprintf(stderr, "net: dom0 had %u vCPUs and now has %u\n", r->vcpus, vcpus);
		ret = -EIO;
	}
	for (unsigned int i = 0; !ret && i < vcpus; i++)
		r->busy_ns[i] = counts[i] - r->busy_ns[i];
	return ret;
}
