// SPDX-License-Identifier: GPL-2.0-only
/* Which orders of flushes, unmaps and releases are safe, and which are not. */
#include <check.h>
#include <stdlib.h>

#include "base/util.h"
#include "capture/flush_order.h"

#define DOM0 0
#define BOTH (ORDER_NEEDS_P2M | ORDER_NEEDS_IOTLB)
#define BIG 0x123456789abcdULL

#define P2M                                             \
	{                                               \
		.kind = ORDER_P2M_FLUSH, .target = DOM0 \
	}
#define IOTLB(from, n)                                                                    \
	{                                                                                 \
		.kind = ORDER_IOTLB_FLUSH, .target = DOM0, .first = (from), .count = (n), \
		.sent = true                                                              \
	}
#define NOT_SENT(from, n)                                                                \
	{                                                                                \
		.kind = ORDER_IOTLB_FLUSH, .target = DOM0, .first = (from), .count = (n) \
	}
#define FAILED(from, n)                                                                   \
	{                                                                                 \
		.kind = ORDER_IOTLB_FLUSH, .target = DOM0, .first = (from), .count = (n), \
		.sent = true, .status = -5                                                \
	}
#define OTHER_P2M                                    \
	{                                            \
		.kind = ORDER_P2M_FLUSH, .target = 7 \
	}
#define OTHER_IOTLB                                                  \
	{                                                            \
		.kind = ORDER_IOTLB_FLUSH, .target = 7, .sent = true \
	}
#define GFN(n)                                  \
	{                                       \
		.kind = ORDER_GFN, .first = (n) \
	}
#define GFN_FAILED(n)                                         \
	{                                                     \
		.kind = ORDER_GFN, .first = (n), .status = -1 \
	}
#define RELEASE(n)                                               \
	{                                                        \
		.kind = ORDER_RELEASE, .ops = (n), .needs = BOTH \
	}
#define RELEASE_NEEDS(n, what)                                     \
	{                                                          \
		.kind = ORDER_RELEASE, .ops = (n), .needs = (what) \
	}
#define BATCH                       \
	{                           \
		.kind = ORDER_BATCH \
	}
#define BATCH_LEAKED                                              \
	{                                                         \
		.kind = ORDER_BATCH, .status = ORDER_BATCH_LEAKED \
	}

static const struct {
	const char *name;
	struct order_record records[16];
	size_t n;
	uint64_t pages, early, p2m, iotlb, leaked_groups, leaked_pages, cut;
} orders[] = {
	{"base: each page has flushes of its own",
	 {P2M, IOTLB(5, 1), GFN(5), P2M, IOTLB(9, 1), GFN(9), RELEASE(2), BATCH},
	 8,
	 2},
	{"batch: one flush for all", {GFN(5), GFN(9), P2M, IOTLB(0, 16), RELEASE(2), BATCH}, 6, 2},
	{"the whole domain is flushed",
	 {GFN(5), GFN(BIG), P2M, IOTLB(0, 0), RELEASE(2), BATCH},
	 6,
	 2},
	{"a 64-bit frame", {GFN(BIG), P2M, IOTLB(BIG & ~1ULL, 2), RELEASE(1), BATCH}, 5, 1},
	{"the lower half of a 64-bit frame only",
	 {GFN(BIG), P2M, IOTLB((uint32_t)BIG, 1), RELEASE(1), BATCH},
	 5,
	 1,
	 1,
	 0,
	 1},
	{"no flush at all", {GFN(5), GFN(9), RELEASE(2), BATCH}, 4, 2, 2, 2, 2},
	{"no p2m flush", {GFN(5), GFN(9), IOTLB(0, 16), RELEASE(2), BATCH}, 5, 2, 2, 2},
	{"no IOTLB flush", {GFN(5), GFN(9), P2M, RELEASE(2), BATCH}, 5, 2, 2, 0, 2},
	{"an IOTLB flush that nobody sent",
	 {GFN(5), P2M, NOT_SENT(0, 16), RELEASE(1), BATCH},
	 5,
	 1,
	 1,
	 0,
	 1},
	{"an IOTLB flush that failed",
	 {GFN(5), P2M, FAILED(0, 16), RELEASE(1), BATCH},
	 5,
	 1,
	 1,
	 0,
	 1},
	{"of another domain", {GFN(5), OTHER_P2M, OTHER_IOTLB, RELEASE(1), BATCH}, 5, 1, 1, 1, 1},
	{"of a range that ends too early",
	 {GFN(15), GFN(16), P2M, IOTLB(0, 16), RELEASE(2), BATCH},
	 6,
	 2,
	 1,
	 0,
	 1},
	{"of a range that begins too late",
	 {GFN(15), GFN(16), P2M, IOTLB(16, 16), RELEASE(2), BATCH},
	 6,
	 2,
	 1,
	 0,
	 1},
	{"after the release", {GFN(5), RELEASE(1), P2M, IOTLB(0, 0), BATCH}, 5, 1, 1, 1, 1},
	{"flushes of the group before do not count",
	 {P2M, IOTLB(0, 0), GFN(5), RELEASE(1), BATCH, GFN(5), RELEASE(1), BATCH},
	 8,
	 2,
	 1,
	 1,
	 1},
	{"nor those ahead of an earlier page",
	 {P2M, IOTLB(0, 0), GFN(5), GFN(9), RELEASE(2), BATCH},
	 6,
	 2,
	 1,
	 1,
	 1},
	{"flushed early, for an emptied table",
	 {GFN(5), IOTLB(0, 0), GFN(9), P2M, IOTLB(8, 2), RELEASE(2), BATCH},
	 7,
	 2},
	{"an early flush does not reach what comes after the next page",
	 {IOTLB(0, 0), GFN(5), GFN(9), P2M, RELEASE(2), BATCH},
	 6,
	 2,
	 1,
	 0,
	 1},
	{"a failed flush, and the pages leak",
	 {GFN(5), GFN(9), P2M, FAILED(0, 16), BATCH_LEAKED, GFN(5), P2M, IOTLB(5, 1), RELEASE(1),
	  BATCH},
	 10,
	 1,
	 0,
	 0,
	 0,
	 1,
	 2},
	{"a batch without a release leaks", {GFN(5), BATCH}, 2, 0, 0, 0, 0, 1, 1},
	{"only the IOTLB is needed", {GFN(5), IOTLB(5, 1), RELEASE_NEEDS(1, 2), BATCH}, 4, 1},
	{"only the p2m is needed", {GFN(5), P2M, RELEASE_NEEDS(1, 1), BATCH}, 4, 1},
	{"nothing is needed", {GFN(5), RELEASE_NEEDS(1, 0), BATCH}, 3, 1},
	{"an unmap that failed needs none", {GFN_FAILED(5), RELEASE(1), BATCH}, 3},
	{"a page that came before the trace",
	 {GFN(5), RELEASE(2), BATCH, GFN(5), RELEASE(1), BATCH},
	 6,
	 1,
	 1,
	 1,
	 1,
	 0,
	 0,
	 1},
	{"another vCPU's flushes",
	 {GFN(5),
	  RELEASE(1),
	  {.kind = ORDER_P2M_FLUSH, .vcpu = 1},
	  {.kind = ORDER_IOTLB_FLUSH, .vcpu = 1, .sent = true},
	  {.kind = ORDER_GFN, .vcpu = 1, .first = 5},
	  {.kind = ORDER_RELEASE, .vcpu = 1, .ops = 1, .needs = BOTH}},
	 6,
	 2,
	 1,
	 1,
	 1},
};

START_TEST(an_order)
{
	struct order_check *check;
	struct order_result r;

	ck_assert_int_eq(order_check_new(&check), 0);
	for (size_t i = 0; i < orders[_i].n; i++)
		ck_assert_int_eq(order_check_add(check, &orders[_i].records[i]), 0);
	r = order_check_result(check);
	ck_assert_msg(
		r.pages == orders[_i].pages && r.early == orders[_i].early &&
			r.early_p2m == orders[_i].p2m && r.early_iotlb == orders[_i].iotlb &&
			r.leaked_groups == orders[_i].leaked_groups &&
			r.leaked_pages == orders[_i].leaked_pages && r.cut_groups == orders[_i].cut,
		"%s: %d pages, %d early, %d p2m, %d iotlb, %d groups leaked, %d pages, %d cut",
		orders[_i].name, (int)r.pages, (int)r.early, (int)r.early_p2m, (int)r.early_iotlb,
		(int)r.leaked_groups, (int)r.leaked_pages, (int)r.cut_groups);
	order_check_free(check);
}
END_TEST

/* More flushes than are remembered, and more pages than a group can have. */
START_TEST(limits)
{
	static const struct order_record all = IOTLB(0, 0), other = IOTLB(100, 1), page = GFN(5),
					 end = RELEASE_NEEDS(1, ORDER_NEEDS_IOTLB);
	struct order_check *check;
	int n = 0;

	ck_assert_int_eq(order_check_new(&check), 0);
	for (int late = 0; late < 2; late++) {
		for (int i = 0; i < 1000; i++)
			order_check_add(check, late == (i == 0) ? &other : &all);
		order_check_add(check, &page);
		order_check_add(check, &end);
	}
	ck_assert_uint_eq(order_check_result(check).pages, 2);
	ck_assert_uint_eq(order_check_result(check).early, 1);
	while (!order_check_add(check, &page) && n < 100000)
		n++;
	ck_assert_int_lt(n, 100000);
	order_check_free(check);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("flush order");
	TCase *tcase = tcase_create("flush order");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, an_order, 0, ARRAY_SIZE(orders));
	tcase_add_test(tcase, limits);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
