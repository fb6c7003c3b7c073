/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_CAPTURE_FLUSH_ORDER_H
#define LABD_CAPTURE_FLUSH_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Was every unmapped page out of reach before it was released? A pass over what one vCPU did, in
 * its own order. A page's flushes lie between the record ahead of its own (of another page, or of
 * the end of a group) and the release of its group: the unmap of a page may flush by itself, and
 * its record comes after that.
 */

/* What a release needs, as grant_release says it. */
#define ORDER_NEEDS_P2M 1
#define ORDER_NEEDS_IOTLB 2

/* grant_unmap_batch.status: the flush failed, and the group's pages leak. */
#define ORDER_BATCH_LEAKED 2

enum order_kind {
	ORDER_P2M_FLUSH,
	ORDER_IOTLB_FLUSH,
	ORDER_GFN,
	ORDER_RELEASE,
	ORDER_BATCH,
};

/**
 * struct order_record - one record of Xen's, whose vCPU is @domid's
 * @target: the domain whose translations a flush drops
 * @first: first frame of an IOTLB flush, or the frame that was unmapped
 * @count: frames of an IOTLB flush, 0 for all
 * @sent: the flush reached the IOMMU
 * @status: an IOTLB flush's result, a page's, or a batch's flags
 * @ops: pages that the group of a release has
 * @needs: of a release
 */
struct order_record {
	enum order_kind kind;
	int64_t domid;
	int64_t vcpu;
	int64_t target;
	uint64_t first;
	uint64_t count;
	bool sent;
	int64_t status;
	int64_t ops;
	int64_t needs;
};

/**
 * struct order_result - what a run's records show
 * @pages: released after an unmap
 * @early: of these, released without the flushes that they need
 * @early_p2m: of these, without a flush of their domain's p2m, @early_iotlb the same
 * @groups: released
 * @leaked_groups: ended without a release, on purpose after a failed flush; @leaked_pages theirs
 * @failed_unmaps: pages whose unmap failed; they are not in a group
 * @cut_groups: begun before the trace, so that nobody can judge them
 */
struct order_result {
	uint64_t pages;
	uint64_t early;
	uint64_t early_p2m;
	uint64_t early_iotlb;
	uint64_t groups;
	uint64_t leaked_groups;
	uint64_t leaked_pages;
	uint64_t failed_unmaps;
	uint64_t cut_groups;
};

struct order_check;

int order_check_new(struct order_check **ret_check);
void order_check_free(struct order_check *check);
int order_check_add(struct order_check *check, const struct order_record *record);
struct order_result order_check_result(const struct order_check *check);

#endif
