// SPDX-License-Identifier: GPL-2.0-only
/* Two runs' events: what counts as a difference, what does not, and where the first one is. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/events.h"
#include "tests/unit/pages.h"

#define FIELD(type, offset, size, sign) \
	"\tfield:" type ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"
#define ZAP_FIELDS FIELD("u64 duration_ns", 8, 8, 0)

static const char zap[] = FORMAT("zap", 11, ZAP_FIELDS);
static const char zap_other_id[] = FORMAT("zap", 77, ZAP_FIELDS);
static const char zap_signed[] = FORMAT("zap", 11, FIELD("s64 duration_ns", 8, 8, 1));
static const char text[] = FORMAT("text", 12, FIELD("char comm[8]", 8, 8, 0));

struct record {
	uint16_t type;
	uint16_t flags;
	int32_t pid;
	union {
		uint64_t duration_ns;
		char comm[8];
	};
};

#define N 6 /* zaps on CPU 0; on CPU 1 are as many texts */

/**
 * struct variant - how a second run differs from the first
 * @zap_format: of another kernel, or NULL
 * @zap_id: the same's
 * @longer: this zap takes 1 ns more, from 1; 0 for none
 * @later: this text comes 1 ns later
 * @word: of this text is another
 * @zaps: so many more or less
 * @lost: so many before the second page of CPU 1
 */
struct variant {
	const char *name;
	const char *zap_format;
	uint16_t zap_id;
	int longer;
	int later;
	int word;
	int zaps;
	int lost;
	/* What is expected. */
	bool equal;
	const char *event;
	int64_t ts;
	int64_t cpu;
};

static char dir[64], capture[96], database[2][96];

static void setup(void)
{
	strcpy(dir, "/tmp/labd-compare.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(capture, sizeof(capture), "%s/capture.dat", dir);
	for (int i = 0; i < 2; i++)
		snprintf(database[i], sizeof(database[i]), "%s/events-%d.db", dir, i);
}

static void teardown(void)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};
	char path[128];

	for (size_t i = 0; i < 2 * ARRAY_SIZE(suffixes); i++) {
		snprintf(path, sizeof(path), "%s%s", database[i % 2], suffixes[i / 2]);
		unlink(path);
	}
	unlink(capture);
	rmdir(dir);
}

static void make_capture(const struct variant *v)
{
	const char *formats[] = {v->zap_format ?: zap, text};
	struct test_page cpu0, cpu1[2];

	page_start(&cpu0, 1000);
	for (int i = 1; i <= N + v->zaps; i++) {
		struct record record = {.type = v->zap_id ?: 11, .pid = 7};

		record.duration_ns = 100 + i + (i == v->longer);
		page_record(&cpu0, 10, &record, sizeof(record));
	}
	page_start(&cpu1[0], 1005);
	page_start(&cpu1[1], 3000);
	for (int i = 1; i <= N; i++) {
		struct record record = {.type = 12, .pid = 8};

		strcpy(record.comm, i == v->word ? "vm" : "qemu");
		page_record(&cpu1[i > N / 2],
			    10 + (i == v->later) - (v->later && i == v->later + 1), &record,
			    sizeof(record));
	}
	if (v->lost)
		page_missed(&cpu1[1], v->lost);
	write_capture(capture, formats, ARRAY_SIZE(formats), &cpu0, 1, cpu1, 2);
}

static void store(struct events_db *db, int64_t run, const struct variant *v)
{
	struct ingest_run info = {.run = run,
				  .round = 1,
				  .arm = "base",
				  .scenario = "same4",
				  .capture = "captures/1.dat",
				  .sha256 = v->name};
	struct ingest_result result;
	char error[256];

	make_capture(v);
	ck_assert_msg(!events_ingest(db, capture, &info, &result, error, sizeof(error)), "%s: %s",
		      v->name, error);
	ingest_result_free(&result);
}

static const struct variant variants[] = {
	{"same", .equal = true},
	{"another id of the format", .zap_format = zap_other_id, .zap_id = 77, .equal = true},
	{"another format", .zap_format = zap_signed, .event = "lab:zap", .ts = 1010},
	{"a field", .longer = 4, .event = "lab:zap", .ts = 1040},
	{"the last field", .longer = N, .event = "lab:zap", .ts = 1060},
	{"a time", .later = 2, .event = "lab:text", .ts = 1025, .cpu = 1},
	{"a text", .word = 5, .event = "lab:text", .ts = 3020, .cpu = 1},
	{"the earlier of two", .longer = 3, .word = 2, .event = "lab:text", .ts = 1025, .cpu = 1},
	{"one more", .zaps = 1, .event = "lab:zap", .ts = 1070},
	{"one less", .zaps = -1, .event = "lab:zap", .ts = 1060},
	{"none at all", .zaps = -N, .event = "lab:zap", .ts = 1010},
	{"only a loss", .lost = 3, .event = ""},
};

/* Each of them against the plain run, in one file and in two, from both sides. */
START_TEST(differences)
{
	const struct variant *v = &variants[_i];
	struct events_db *db[2];
	struct events_diff diff;

	for (int i = 0; i < 2; i++)
		ck_assert_int_eq(events_open(database[i], &db[i]), 0);
	store(db[0], 1, &variants[0]);
	store(db[0], 2, v);
	store(db[1], 2, v);
	for (int i = 0; i < 4; i++) {
		struct events_run plain = {db[0], 1}, other = {db[i % 2], 2};
		bool swap = i >= 2;

		ck_assert_int_eq(
			events_compare(swap ? &other : &plain, swap ? &plain : &other, &diff), 0);
		ck_assert_msg(diff.equal == v->equal, "%s", v->name);
		ck_assert_str_eq(diff.event, v->event ?: "");
		ck_assert_uint_eq(diff.n[swap], 2 * N);
		ck_assert_uint_eq(diff.n[!swap], 2 * N + v->zaps);
		if (!*diff.event)
			continue;
		/* The row's own time, where that is what differs. */
		ck_assert_int_eq(diff.ts_ns, v->ts + (swap && v->later ? 1 : 0));
		ck_assert_int_eq(diff.cpu, v->cpu);
	}
	events_close(db[0]);
	events_close(db[1]);
}
END_TEST

START_TEST(a_run_that_is_not_there)
{
	struct events_run plain, other;
	struct events_diff diff;
	struct events_db *db;

	ck_assert_int_eq(events_open(database[0], &db), 0);
	store(db, 1, &variants[0]);
	plain = (struct events_run){db, 1};
	other = (struct events_run){db, 2};
	ck_assert_int_eq(events_compare(&plain, &other, &diff), -ENOENT);
	ck_assert_int_eq(events_compare(&other, &plain, &diff), -ENOENT);
	events_close(db);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("events_compare");
	TCase *tcase = tcase_create("events_compare");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, differences, 0, ARRAY_SIZE(variants));
	tcase_add_test(tcase, a_run_that_is_not_there);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
