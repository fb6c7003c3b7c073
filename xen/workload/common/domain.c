// SPDX-License-Identifier: GPL-2.0-only
/*
 * The other side of the grants: a domain with some pages and a grant table that names them, and
 * nothing else. Nobody in it could ever run: a vCPU's state is never set, and it stays paused. Its
 * grant table is filled from outside, through a mapping of the table's frames.
 */
#include "domain.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pattern.h"
#include "tracing.h"

#define SPARE_PAGES 64u	       /* beyond the granted ones, for what Xen charges to the domain */
#define SHADOW_MIB 4u	       /* for the domain's p2m tables */
#define ENTRIES_PER_FRAME 512u /* of version 1 */
#define TABLE_FRAMES 32u

/* A domain's handle says that it is ours, in its last four bytes whose. */
static const uint8_t our_handle[12] = "labd-grants";

static int failed(const char *what)
{
	int ret = errno ? -errno : -EIO;

	fprintf(stderr, "domain: %s: %s\n", what, strerror(-ret));
	return ret;
}

/*
 * A run that was killed outright leaves its domain behind, and each holds memory. One whose maker
 * still runs is another run's and stays.
 */
static void sweep(xc_interface *xc)
{
	xc_dominfo_t info;
	uint32_t next = 1;

	while (xc_domain_getinfo(xc, next, 1, &info) == 1) {
		int32_t pid;

		next = info.domid + 1;
		memcpy(&pid, info.handle + sizeof(our_handle), sizeof(pid));
		if (info.dying || memcmp(info.handle, our_handle, sizeof(our_handle)))
			continue;
		if (pid > 0 && pid != getpid() && !kill(pid, 0))
			continue;
		fprintf(stderr, "domain: destroying domain %u, left over by a run that is gone\n",
			info.domid);
		xc_domain_destroy(xc, info.domid);
	}
}

static int create(struct gnt_domain *d)
{
	struct xen_domctl_createdomain config = {
		.flags = XEN_DOMCTL_CDF_hvm | XEN_DOMCTL_CDF_hap,
		.max_vcpus = 1,
		.max_evtchn_port = 1023,
		.max_grant_frames = TABLE_FRAMES,
		.max_maptrack_frames = 0,
		.grant_opts = XEN_DOMCTL_GRANT_version(1),
		.arch = {.emulation_flags = XEN_X86_EMU_LAPIC},
	};
	unsigned int mib = SHADOW_MIB;
	int32_t pid = getpid();

	memcpy(config.handle, our_handle, sizeof(our_handle));
	memcpy(config.handle + sizeof(our_handle), &pid, sizeof(pid));

	if (xc_domain_create(d->xc, &d->domid, &config))
		return failed("cannot create a domain");
	d->exists = true;
	if (xc_domain_max_vcpus(d->xc, d->domid, 1))
		return failed("cannot give the domain a vCPU");
	if (xc_shadow_control(d->xc, d->domid, XEN_DOMCTL_SHADOW_OP_SET_ALLOCATION, &mib, 0) < 0)
		return failed("cannot give the domain memory for its page tables");
	if (xc_domain_setmaxmem(d->xc, d->domid, (d->pages + SPARE_PAGES) * (GNT_PAGE / 1024)))
		return failed("cannot set the domain's memory");
	return 0;
}

/* Allocates the pages and maps them as the owner's view. */
static int populate(struct gnt_domain *d)
{
	xen_pfn_t *gfns = calloc(d->pages, sizeof(*gfns));
	int *errs = calloc(d->pages, sizeof(*errs));
	int ret = 0;

	if (!gfns || !errs) {
		ret = -ENOMEM;
		goto out;
	}
	for (unsigned int i = 0; i < d->pages; i++)
		gfns[i] = GNT_FIRST_GFN + i;
	if (xc_domain_populate_physmap_exact(d->xc, d->domid, d->pages, 0, 0, gfns)) {
		ret = failed("cannot allocate the domain's pages");
		goto out;
	}

	/* The call above may have put frame numbers in the array. */
	for (unsigned int i = 0; i < d->pages; i++)
		gfns[i] = GNT_FIRST_GFN + i;
	d->memory = xenforeignmemory_map(d->fmem, d->domid, PROT_READ | PROT_WRITE, d->pages, gfns,
					 errs);
	if (!d->memory) {
		ret = failed("cannot map the domain's pages");
		goto out;
	}
	for (unsigned int i = 0; i < d->pages; i++) {
		if (errs[i]) {
			errno = -errs[i];
			ret = failed("cannot map one of the domain's pages");
			goto out;
		}
	}
out:
	free(errs);
	free(gfns);
	return ret;
}

static int grant(struct gnt_domain *d)
{
	unsigned int frames =
		(GNT_FIRST_REF + d->pages + ENTRIES_PER_FRAME - 1) / ENTRIES_PER_FRAME;
	void *table = NULL;

	if (frames > TABLE_FRAMES)
		return -E2BIG;
	d->table_map = xenforeignmemory_map_resource(d->fmem, d->domid, XENMEM_resource_grant_table,
						     XENMEM_resource_grant_table_id_shared, 0,
						     frames, &table, PROT_READ | PROT_WRITE, 0);
	if (!d->table_map)
		return failed("cannot map the domain's grant table");
	d->table = table;
	for (unsigned int i = 0; i < d->pages; i++) {
		grant_entry_v1_t *entry = &d->table[GNT_FIRST_REF + i];

		entry->domid = 0;
		entry->frame = GNT_FIRST_GFN + i;
		__atomic_store_n(&entry->flags, GTF_permit_access, __ATOMIC_RELEASE);
	}
	return 0;
}

/**
 * gnt_domain_create - make a domain that grants its pages to dom0
 * @d:		filled; has to be zero before
 * @pages:	how many pages it grants
 *
 * Domains that earlier runs left behind are destroyed first.
 *
 * Return: 0, or a negative errno, printed; nothing is left over then. -ENODEV: this is not a dom0.
 */
int gnt_domain_create(struct gnt_domain *d, unsigned int pages)
{
	int ret;

	if (access("/dev/xen/privcmd", R_OK | W_OK)) {
		fprintf(stderr, "domain: /dev/xen/privcmd: %m\n");
		return -ENODEV;
	}
	d->pages = pages;
	d->xc = xc_interface_open(NULL, NULL, 0);
	if (!d->xc)
		return failed("cannot open Xen's control interface");
	d->fmem = xenforeignmemory_open(NULL, 0);
	if (!d->fmem) {
		ret = failed("cannot open Xen's memory interface");
		goto out;
	}
	sweep(d->xc);
	ret = create(d);
	if (!ret)
		ret = populate(d);
	if (!ret)
		ret = grant(d);
out:
	if (ret)
		gnt_domain_destroy(d);
	return ret;
}

/**
 * gnt_domain_destroy - undo gnt_domain_create()
 * @d: created, partly created or already destroyed
 *
 * A page that leaked keeps a dead domain's shell alive until the next boot.
 *
 * Return: 0, or a negative errno, printed.
 */
int gnt_domain_destroy(struct gnt_domain *d)
{
	int ret = 0;

	if (d->table_map)
		xenforeignmemory_unmap_resource(d->fmem, d->table_map);
	if (d->memory)
		xenforeignmemory_unmap(d->fmem, d->memory, d->pages);
	if (d->exists && xc_domain_destroy(d->xc, d->domid))
		ret = failed("cannot destroy the domain");
	if (d->fmem)
		xenforeignmemory_close(d->fmem);
	if (d->xc)
		xc_interface_close(d->xc);
	*d = (struct gnt_domain){};
	return ret;
}

/**
 * gnt_domain_page - where the owner sees a page
 * @d: the domain
 * @page: number of the page, from 0
 *
 * Return: the page's address, valid until the domain is destroyed.
 */
void *gnt_domain_page(const struct gnt_domain *d, unsigned int page)
{
	return d->memory + (size_t)page * GNT_PAGE;
}

/**
 * gnt_domain_in_use - whether Xen says that a page's grant is mapped
 * @d: the domain
 * @page: number of the page, from 0
 *
 * Return: true until the last mapping was not just removed but released.
 */
bool gnt_domain_in_use(const struct gnt_domain *d, unsigned int page)
{
	uint16_t flags = __atomic_load_n(&d->table[GNT_FIRST_REF + page].flags, __ATOMIC_ACQUIRE);

	return flags & (GTF_reading | GTF_writing);
}

/**
 * gnt_domain_leaked - count the pages that were unmapped and never released
 * @d: the domain, all of its grants unmapped
 *
 * Linux may put an unmap off while somebody else holds the page, so these get a second to go.
 *
 * Return: how many grants are still in use.
 */
unsigned int gnt_domain_leaked(const struct gnt_domain *d)
{
	unsigned int leaked = 0;

	for (int tries = 0; tries < 10; tries++) {
		leaked = 0;
		for (unsigned int i = 0; i < d->pages; i++)
			leaked += gnt_domain_in_use(d, i);
		if (!leaked)
			break;
		usleep(100000);
	}
	return leaked;
}
