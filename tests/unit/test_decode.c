// SPDX-License-Identifier: GPL-2.0-only
/* Pages and formats: what the kernel writes is read as libtraceevent reads it, what it never writes
 * is refused. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <traceevent/kbuffer.h>

#include "capture/decode.h"
#include "capture/layout.h"
#include "tests/unit/pages.h"

#define TIME_EXTEND 30
#define TIME_STAMP 31
#define PADDING 29

/* Reads the page with libtraceevent's walker too and compares every record. */
static size_t walk_both(struct test_page *page, uint64_t *ret_ts, size_t room)
{
	struct kbuffer *kbuf = kbuffer_alloc(KBUFFER_LSIZE_8, KBUFFER_ENDIAN_LITTLE);
	struct page_record record;
	unsigned long long ts;
	struct page_walk walk;
	size_t n = 0;
	void *data;

	ck_assert_int_eq(page_open(&walk, page->bytes, PAGE_SIZE), 0);
	ck_assert_int_eq(kbuffer_load_subbuffer(kbuf, page->bytes), 0);
	for (data = kbuffer_read_event(kbuf, &ts); data; data = kbuffer_next_event(kbuf, &ts)) {
		ck_assert_int_eq(page_next(&walk, &record), 1);
		ck_assert_ptr_eq(record.data, data);
		ck_assert_uint_eq(record.ts, ts);
		ck_assert_int_eq(record.size, kbuffer_event_size(kbuf));
		ck_assert_uint_lt(n, room);
		ret_ts[n++] = ts;
	}
	ck_assert_int_eq(page_next(&walk, &record), 0);
	kbuffer_free(kbuf);
	return n;
}

START_TEST(times_add_up)
{
	uint32_t data[40] = {7};
	struct test_page page;
	uint64_t ts[8];

	page_start(&page, 1000000);
	page_record(&page, 0, data, 8);
	page_record(&page, 5, data, 112);
	page_head(&page, TIME_EXTEND, 3);
	page_word(&page, 2);		  /* 2 << 27 | 3 ns */
	page_record(&page, 0, data, 116); /* too long for the length in its first word */
	page_head(&page, PADDING, 1);	  /* discarded */
	page_word(&page, 12);
	page_data(&page, data, 8);
	page_record(&page, 1, data, 8);
	page_head(&page, TIME_STAMP, 9);
	page_word(&page, 100);
	page_record(&page, 2, data, 8);
	ck_assert_uint_eq(walk_both(&page, ts, 8), 5);
	ck_assert_uint_eq(ts[0], 1000000);
	ck_assert_uint_eq(ts[1], 1000005);
	ck_assert_uint_eq(ts[2], 1000005 + (2ull << 27) + 3);
	ck_assert_uint_eq(ts[3], ts[2] + 2);
	ck_assert_uint_eq(ts[4], (100ull << 27) + 9 + 2);
}
END_TEST

/* A padding record without a time: nothing was written behind it. */
START_TEST(unused_rest_of_a_page)
{
	uint32_t data[3] = {7};
	struct page_record record;
	struct test_page page;
	struct page_walk walk;

	page_start(&page, 1);
	page_record(&page, 0, data, 8);
	page_head(&page, PADDING, 0);
	page_data(&page, data, 12);
	ck_assert_int_eq(page_open(&walk, page.bytes, PAGE_SIZE), 0);
	ck_assert_int_eq(page_next(&walk, &record), 1);
	ck_assert_int_eq(page_next(&walk, &record), 0);
	ck_assert_int_eq(page_next(&walk, &record), 0);
}
END_TEST

START_TEST(absolute_time_keeps_its_top_bits)
{
	uint32_t data[2] = {7};
	struct page_record record;
	struct test_page page;
	struct page_walk walk;

	page_start(&page, 3ull << 59 | 5);
	page_head(&page, TIME_STAMP, 9);
	page_word(&page, 1);
	page_record(&page, 0, data, 8);
	ck_assert_int_eq(page_open(&walk, page.bytes, PAGE_SIZE), 0);
	ck_assert_int_eq(page_next(&walk, &record), 1);
	ck_assert_uint_eq(record.ts, 3ull << 59 | ((1ull << 27) + 9));

	/* The low bits wrapped between the page's start and the stamp. */
	page.words[0] = (3ull << 59) - 1;
	ck_assert_int_eq(page_open(&walk, page.bytes, PAGE_SIZE), 0);
	ck_assert_int_eq(page_next(&walk, &record), 1);
	ck_assert_uint_eq(record.ts, 3ull << 59 | ((1ull << 27) + 9));
}
END_TEST

START_TEST(missed_events)
{
	uint32_t data[2] = {7};
	struct test_page page;
	struct page_walk walk;

	page_start(&page, 1);
	page_record(&page, 0, data, 8);
	ck_assert_int_eq(page_open(&walk, page.bytes, PAGE_SIZE), 0);
	ck_assert_int_eq(walk.missed, PAGE_MISSED_NONE);
	page_missed(&page, -1);
	ck_assert_int_eq(page_open(&walk, page.bytes, PAGE_SIZE), 0);
	ck_assert_int_eq(walk.missed, PAGE_MISSED_UNKNOWN);
	page_missed(&page, 12345);
	ck_assert_int_eq(page_open(&walk, page.bytes, PAGE_SIZE), 0);
	ck_assert_int_eq(walk.missed, 12345);
	/* No room behind the records for the count that it promises. */
	ck_assert_int_eq(page_open(&walk, page.bytes, 16 + page.used), 0);
	ck_assert_int_eq(walk.missed, PAGE_MISSED_UNKNOWN);
}
END_TEST

START_TEST(hostile_pages_are_refused)
{
	static const uint32_t bad[][2] = {
		{2, 1}, /* 8 bytes where 4 are */
		{0, 3}, /* a length that does not count itself in */
		{0, 4}, /* no data */
		{0, 5000}, {0, 0xfffffffd}, {PADDING | 1 << 5, 3}, {PADDING | 1 << 5, 100},
	};
	struct page_record record;
	struct test_page page;
	struct page_walk walk;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		page_start(&page, 1);
		page_data(&page, bad[i], 8);
		ck_assert_int_eq(page_open(&walk, page.bytes, PAGE_SIZE), 0);
		ck_assert_int_eq(page_next(&walk, &record), -EBADMSG);
	}
	page_start(&page, 1);
	page_head(&page, TIME_EXTEND, 1);
	ck_assert_int_eq(page_open(&walk, page.bytes, PAGE_SIZE), 0);
	ck_assert_int_eq(page_next(&walk, &record), -EBADMSG);
	page.words[1] = PAGE_SIZE - 15;
	ck_assert_int_eq(page_open(&walk, page.bytes, PAGE_SIZE), -EBADMSG);
	ck_assert_int_eq(page_open(&walk, page.bytes, 15), -EBADMSG);
}
END_TEST

#define FIELD(type, offset, size, sign) \
	"\tfield:" type ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"

static struct event_layout *layout_of(const char *text)
{
	struct tracedat_format format = {
		.system = "lab", .name = "x", .text = text, .size = strlen(text)};
	struct event_layout *layout;

	ck_assert_int_eq(event_layout_parse(&format, &layout), 0);
	return layout;
}

START_TEST(fields_become_columns)
{
	static const struct {
		const char *name;
		enum value_kind kind;
		uint32_t offset;
	} want[] = {
		{"state", VALUE_U8, 8},	      {"prio", VALUE_S16, 10},
		{"gfn", VALUE_64, 16},	      {"args_0", VALUE_U32, 24},
		{"args_1", VALUE_U32, 28},    {"comm", VALUE_TEXT, 32},
		{"mac", VALUE_BYTES, 48},     {"big", VALUE_BYTES, 56},
		{"msg", VALUE_TEXT_LOC, 200}, {"cdb", VALUE_BYTES_LOC, 204},
		{"rel", VALUE_TEXT_REL, 208},
	};
	struct event_layout *layout = layout_of(FORMAT(
		"x", 1,
		FIELD("u8 state", 8, 1, 0) FIELD("short prio", 10, 2, 1) FIELD("u64 gfn", 16, 8, 0)
			FIELD("u32 args[2]", 24, 8, 0) FIELD("char comm[16]", 32, 16, 0)
				FIELD("unsigned char mac[6]", 48, 6,
				      0) FIELD("unsigned long big[17]", 56, 136, 0)
					FIELD("__data_loc char[] msg", 200, 4, 0)
						FIELD("__data_loc u8[] cdb", 204, 4, 0)
							FIELD("__rel_loc char[] rel", 208, 4, 0)));

	ck_assert_str_eq(layout->event, "lab:x");
	ck_assert_uint_eq(layout->pid.offset, 4);
	ck_assert_uint_eq(layout->n_columns, ARRAY_SIZE(want));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		ck_assert_str_eq(layout->columns[i].name, want[i].name);
		ck_assert_int_eq(layout->columns[i].kind, want[i].kind);
		ck_assert_uint_eq(layout->columns[i].offset, want[i].offset);
	}
	event_layout_free(layout);
}
END_TEST

START_TEST(values_stay_inside_the_record)
{
	uint8_t record[24] = {[8] = 0xff, [12] = 20, [14] = 4, [20] = 'a', 'b', 0, 'x'};
	struct layout_column u8 = {.kind = VALUE_U8, .offset = 8},
			     s8 = {.kind = VALUE_S8, .offset = 8};
	struct layout_column last = {.kind = VALUE_S32, .offset = 20},
			     beyond = {.kind = VALUE_S32, .offset = 21};
	struct layout_column loc = {.kind = VALUE_TEXT_LOC, .offset = 12},
			     bytes = {.kind = VALUE_BYTES_LOC, .offset = 12};
	struct layout_column fixed = {.kind = VALUE_BYTES, .offset = 20, .size = 100};
	const uint8_t *data = NULL;
	int64_t value = 5;
	size_t size;

	ck_assert_int_eq(layout_number(&u8, record, sizeof(record), &value), 0);
	ck_assert_int_eq(value, 255);
	ck_assert_int_eq(layout_number(&s8, record, sizeof(record), &value), 0);
	ck_assert_int_eq(value, -1);
	ck_assert_int_eq(layout_number(&last, record, sizeof(record), &value), 0);
	value = 5;
	ck_assert_int_eq(layout_number(&beyond, record, sizeof(record), &value), -ENODATA);
	ck_assert_int_eq(value, 5);
	ck_assert_int_eq(layout_bytes(&loc, record, sizeof(record), &data, &size), 0);
	ck_assert_uint_eq(size, 2);
	ck_assert_ptr_eq(data, record + 20);
	ck_assert_int_eq(layout_bytes(&bytes, record, sizeof(record), &data, &size), 0);
	ck_assert_uint_eq(size, 4);
	ck_assert_int_eq(layout_bytes(&fixed, record, sizeof(record), &data, &size), 0);
	ck_assert_uint_eq(size, 4); /* cut at the record's end */
	record[14] = 5;
	ck_assert_int_eq(layout_bytes(&bytes, record, sizeof(record), &data, &size), -ENODATA);
	record[15] = 0xff;
	ck_assert_int_eq(layout_bytes(&loc, record, sizeof(record), &data, &size), -ENODATA);
	loc.kind = VALUE_TEXT_REL;
	ck_assert_int_eq(layout_bytes(&loc, record, sizeof(record), &data, &size), -ENODATA);
}
END_TEST

START_TEST(formats_that_are_none)
{
	static const char *const bad[] = {"", "print fmt:", "name: x\n\nprint fmt:",
					  "name: x\nID: 1\nformat:\n" COMMON_FIELDS,
					  FORMAT("x", 1, FIELD("u64 a", 65535, 8, 0))};
	struct event_layout *layout = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct tracedat_format format = {
			.system = "lab", .name = "x", .text = bad[i], .size = strlen(bad[i])};

		ck_assert_int_eq(event_layout_parse(&format, &layout), -EBADMSG);
		ck_assert_ptr_null(layout);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("decode");
	TCase *tcase = tcase_create("decode");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, times_add_up);
	tcase_add_test(tcase, unused_rest_of_a_page);
	tcase_add_test(tcase, absolute_time_keeps_its_top_bits);
	tcase_add_test(tcase, missed_events);
	tcase_add_test(tcase, hostile_pages_are_refused);
	tcase_add_test(tcase, fields_become_columns);
	tcase_add_test(tcase, values_stay_inside_the_record);
	tcase_add_test(tcase, formats_that_are_none);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
