// SPDX-License-Identifier: GPL-2.0-only
/*
 * An array of unmap operations that goes well up to one of them, which lies on a bad page.
 *
 * Xen copies operation after operation in and its status out. At the bad one it gives up, but what
 * it has unmapped by then must be flushed and released as always, and nothing of the group may be
 * left open for the next one.
 */
#include "fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "../common/pattern.h"
#include "../common/tracing.h"
#include "../common/window.h"

#define OPS_PER_PAGE (GNT_PAGE / sizeof(gnttab_unmap_grant_ref_t))

_Static_assert(GFAULT_MAX_GROUP <= OPS_PER_PAGE, "either part of an array has to fit in a page");

struct fault {
	const struct gnt_domain *d;
	const struct gfault_options *o;
	struct gfault_result *r;
	struct gnt_window window;
	uint8_t *area; /* two pages; the second one is the bad one while it has to be */
	gnttab_unmap_grant_ref_t *undo;
	unsigned int *pages;
	uint64_t turn;
};

/* Maps a group and writes its pages through the grants. */
static int map(struct fault *f)
{
	uint64_t seed = f->o->seed;
	unsigned int n = f->o->group;
	int ret;

	gnt_batch_pages(seed, f->turn++, n, f->pages);
	for (unsigned int i = 0; i < n; i++)
		gnt_pattern_write(seed, f->pages[i], 2 * f->turn,
				  gnt_domain_page(f->d, f->pages[i]));
	ret = gnt_window_map(&f->window, f->d, f->pages, n, f->undo);
	if (ret)
		return ret;
	f->r->maps += n;
	for (unsigned int i = 0; i < n; i++) {
		uint8_t *at = f->window.at + (size_t)i * GNT_PAGE;

		f->r->wrong += gnt_pattern_check(seed, f->pages[i], 2 * f->turn, at);
		gnt_pattern_write(seed, f->pages[i], 2 * f->turn + 1, at);
		f->undo[i].status = GNTST_general_error;
	}
	return 0;
}

/* How many of the group's first grants are released; @ret_rest_mapped: all the others are not. */
static unsigned int released(const struct fault *f, bool *ret_rest_mapped)
{
	unsigned int n = f->o->group, first = 0;

	while (first < n && !gnt_domain_in_use(f->d, f->pages[first]))
		first++;
	*ret_rest_mapped = true;
	for (unsigned int i = first; i < n; i++)
		*ret_rest_mapped &= gnt_domain_in_use(f->d, f->pages[i]);
	return first;
}

/* The hypercall with the bad page. Takes over what Xen wrote to the operations. */
static long call_with_fault(struct fault *f)
{
	unsigned int at = f->o->fault_at, n = f->o->group;
	gnttab_unmap_grant_ref_t *ops =
		(gnttab_unmap_grant_ref_t *)(f->area + GNT_PAGE) - at; /* op @at begins the page */
	long ret;

	memcpy(ops, f->undo, n * sizeof(*ops));
	if (mprotect(f->area + GNT_PAGE, GNT_PAGE, f->o->on_write ? PROT_READ : PROT_NONE))
		return -errno;
	ret = gnt_op(&f->window, GNTTABOP_unmap_grant_ref, ops, n);
	if (mprotect(f->area + GNT_PAGE, GNT_PAGE, PROT_READ | PROT_WRITE))
		return -errno;
	memcpy(f->undo, ops, n * sizeof(*ops));
	return ret;
}

/* Unmaps the group's operations from @first on; false if any of them failed. */
static bool unmap_from(struct fault *f, unsigned int first)
{
	unsigned int n = f->o->group, bad = 0;
	long ret = 0;

	for (unsigned int i = first; i < n; i++)
		f->undo[i].status = GNTST_general_error;
	if (first < n)
		ret = gnt_op(&f->window, GNTTABOP_unmap_grant_ref, f->undo + first, n - first);
	for (unsigned int i = first; i < n; i++)
		bad += f->undo[i].status != GNTST_okay;
	f->r->unmaps += n - first - bad;
	if (ret || bad)
		fprintf(stderr, "grant-fault: the next group: Xen said %ld, %u of %u failed\n", ret,
			bad, n - first);
	return !ret && !bad;
}

static void check_owner(struct fault *f)
{
	for (unsigned int i = 0; i < f->o->group; i++)
		f->r->wrong += gnt_pattern_check(f->o->seed, f->pages[i], 2 * f->turn + 1,
						 gnt_domain_page(f->d, f->pages[i]));
}

static int one_round(struct fault *f)
{
	struct gfault_result *r = f->r;
	unsigned int at = f->o->fault_at;
	unsigned int expected = at + f->o->on_write;
	bool rest_mapped, statuses = true, next;
	unsigned int unmapped;
	long returned;
	int ret;

	ret = map(f);
	if (ret)
		return ret;
	returned = call_with_fault(f);
	unmapped = released(f, &rest_mapped);
	r->unmaps += unmapped;
	for (unsigned int i = 0; i < at; i++)
		statuses &= f->undo[i].status == GNTST_okay;

	/* The rest of the group, then a whole one. */
	next = unmap_from(f, unmapped);
	check_owner(f);
	ret = map(f);
	if (ret)
		return ret;
	next &= unmap_from(f, 0);
	check_owner(f);

	if (!r->bad) {
		r->returned = returned;
		r->unmapped = unmapped;
	}
	r->rounds++;
	r->next_group_ok &= next;
	if (returned != -EFAULT || unmapped != expected || !rest_mapped || !statuses || !next) {
		fprintf(stderr,
			"grant-fault: Xen said %ld and released %u of %u, the others %s, statuses "
			"%s\n",
			returned, unmapped, expected, rest_mapped ? "mapped" : "not all mapped",
			statuses ? "fine" : "wrong");
		r->bad++;
	}
	return 0;
}

/**
 * gfault_run - do all rounds
 * @d: a domain with three times as many pages as a group
 * @o: checked options
 * @r: filled as far as it goes
 *
 * Return: 0 or a negative errno, printed. What went otherwise than it should is in @r and does not
 * end the run.
 */
int gfault_run(const struct gnt_domain *d, const struct gfault_options *o, struct gfault_result *r)
{
	struct fault f = {.d = d, .o = o, .r = r};
	int ret = -ENOMEM;
	void *area;

	r->next_group_ok = true;
	f.undo = calloc(o->group, sizeof(*f.undo));
	f.pages = calloc(o->group, sizeof(*f.pages));
	area = mmap(NULL, 2 * GNT_PAGE, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (!f.undo || !f.pages || area == MAP_FAILED)
		goto out;
	f.area = area;
	/* A hypercall's copies fault for good where Linux would only bring a page in. */
	if (mlock(area, 2 * GNT_PAGE)) {
		ret = -errno;
		fprintf(stderr, "grant-fault: cannot lock memory: %m\n");
		goto out;
	}
	ret = gnt_window_open(&f.window, d, o->group);
	if (ret)
		goto out;
	r->maps += f.window.grants;
	r->unmaps += f.window.grants;
	ret = gnt_tracing(true);
	for (unsigned int i = 0; !ret && i < o->rounds; i++)
		ret = gnt_stopped() ? -EINTR : one_round(&f);
	gnt_window_close(&f.window);
out:
	if (area != MAP_FAILED)
		munmap(area, 2 * GNT_PAGE);
	free(f.pages);
	free(f.undo);
	return ret;
}
