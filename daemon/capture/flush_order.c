// SPDX-License-Identifier: GPL-2.0-only
/* See flush_order.h. */
#include <errno.h>
#include <stdlib.h>

#include "capture/flush_order.h"

/* Xen's groups have at most 32 pages. */
#define MAX_PAGES 4096

/*
 * A page's own flushes come right ahead of its record. A vCPU that maps for a while may have any
 * number of others before them: the oldest are forgotten.
 */
#define MAX_FLUSHES 64

struct page {
	uint64_t gfn;
	bool p2m;
	bool iotlb;
};

/**
 * struct order_check - where the pass is
 * @pages: unmapped and not released yet
 * @flushes: since the last page, release or batch, the latest of them: they are also the next
 * page's
 * @p2m_flushed: the same for the p2m
 * @whole: a group of this vCPU has ended in the trace, so that the next one is whole
 */
struct order_check {
	bool begun;
	int64_t domid;
	int64_t vcpu;
	struct page pages[MAX_PAGES];
	size_t n_pages;
	struct order_record flushes[MAX_FLUSHES];
	size_t n_flushes;
	bool p2m_flushed;
	bool whole;
	struct order_result result;
};

/**
 * order_check_new() - begin a pass
 * @ret_check: the caller's, with order_check_free()
 *
 * Return: 0 or -ENOMEM.
 */
int order_check_new(struct order_check **ret_check)
{
	struct order_check *check = calloc(1, sizeof(*check));

	if (!check)
		return -ENOMEM;
	*ret_check = check;
	return 0;
}

/** order_check_free() - NULL is allowed */
void order_check_free(struct order_check *check)
{
	free(check);
}

static bool covers(const struct order_record *flush, uint64_t gfn)
{
	return !flush->count || (gfn >= flush->first && gfn - flush->first < flush->count);
}

static void forget_flushes(struct order_check *check)
{
	check->n_flushes = 0;
	check->p2m_flushed = false;
}

static void end_group(struct order_check *check)
{
	check->n_pages = 0;
	check->whole = true;
	forget_flushes(check);
}

static void add_flush(struct order_check *check, const struct order_record *r)
{
	if (r->target != r->domid)
		return;
	if (r->kind == ORDER_P2M_FLUSH) {
		check->p2m_flushed = true;
		for (size_t i = 0; i < check->n_pages; i++)
			check->pages[i].p2m = true;
		return;
	}
	if (!r->sent || r->status)
		return;
	for (size_t i = 0; i < check->n_pages; i++)
		if (covers(r, check->pages[i].gfn))
			check->pages[i].iotlb = true;
	check->flushes[check->n_flushes++ % MAX_FLUSHES] = *r;
}

static int add_page(struct order_check *check, const struct order_record *r)
{
	struct page page = {.gfn = r->first, .p2m = check->p2m_flushed};

	for (size_t i = 0; i < check->n_flushes && i < MAX_FLUSHES && !page.iotlb; i++)
		page.iotlb = covers(&check->flushes[i], page.gfn);
	forget_flushes(check);
	if (r->status) {
		check->result.failed_unmaps++;
		return 0;
	}
	if (check->n_pages == MAX_PAGES)
		return -E2BIG;
	check->pages[check->n_pages++] = page;
	return 0;
}

static void release(struct order_check *check, const struct order_record *r)
{
	uint64_t early = 0, p2m = 0, iotlb = 0;

	for (size_t i = 0; i < check->n_pages; i++) {
		bool no_p2m = (r->needs & ORDER_NEEDS_P2M) && !check->pages[i].p2m;
		bool no_iotlb = (r->needs & ORDER_NEEDS_IOTLB) && !check->pages[i].iotlb;

		p2m += no_p2m;
		iotlb += no_iotlb;
		early += no_p2m || no_iotlb;
	}
	if (early && !check->whole && (uint64_t)r->ops > check->n_pages) {
		check->result.cut_groups++;
	} else {
		check->result.groups++;
		check->result.pages += check->n_pages;
		check->result.early += early;
		check->result.early_p2m += p2m;
		check->result.early_iotlb += iotlb;
	}
	end_group(check);
}

static void end_batch(struct order_check *check, const struct order_record *r)
{
	if (check->n_pages || (r->status & ORDER_BATCH_LEAKED)) {
		check->result.leaked_groups++;
		check->result.leaked_pages += check->n_pages;
	}
	end_group(check);
}

/**
 * order_check_add() - the next record
 * @record: in the order of vCPUs, and within one in that of its TSC
 *
 * Return: 0, -E2BIG when a group has more pages than Xen's have.
 */
int order_check_add(struct order_check *check, const struct order_record *record)
{
	if (!check->begun || check->domid != record->domid || check->vcpu != record->vcpu) {
		check->begun = true;
		check->domid = record->domid;
		check->vcpu = record->vcpu;
		end_group(check);
		check->whole = false;
	}
	switch (record->kind) {
	case ORDER_P2M_FLUSH:
	case ORDER_IOTLB_FLUSH:
		add_flush(check, record);
		break;
	case ORDER_GFN:
		return add_page(check, record);
	case ORDER_RELEASE:
		release(check, record);
		break;
	case ORDER_BATCH:
		end_batch(check, record);
		break;
	}
	return 0;
}

/** order_check_result() - what the records so far show */
struct order_result order_check_result(const struct order_check *check)
{
	return check->result;
}
