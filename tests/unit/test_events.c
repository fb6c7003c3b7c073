// SPDX-License-Identifier: GPL-2.0-only
/* From captures made by hand to tables, and from tables to the numbers of a run. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "store/db.h"
#include "store/events_priv.h"
#include "plan/sample.h"
#include "tests/unit/pages.h"

#define FIELD(type, offset, size, sign) \
	"\tfield:" type ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"

#define ZAP_FIELDS \
	FIELD("u64 duration_ns", 8, 8, 0) FIELD("int pid", 16, 4, 1) FIELD("s32 order", 20, 4, 1)

static const char zap[] = FORMAT("zap", 11, ZAP_FIELDS);
static const char zap_other_id[] = FORMAT("zap", 77, ZAP_FIELDS);
static const char zap_patched[] = FORMAT("zap", 11, ZAP_FIELDS FIELD("u32 skipped", 24, 4, 0));
static const char text[] =
	FORMAT("text", 12, FIELD("char comm[8]", 8, 8, 0) FIELD("__data_loc char[] msg", 16, 4, 0));
static const char begin[] = FORMAT("begin", 13, FIELD("u64 key", 8, 8, 0));
static const char end[] = FORMAT("end", 14, FIELD("u64 key", 8, 8, 0));

struct zap_record {
	uint16_t type;
	uint16_t flags;
	int32_t common_pid;
	uint64_t duration_ns;
	int32_t pid;
	int32_t order;
	uint32_t skipped;
};

static char dir[64], capture[96], database[96];

static void setup(void)
{
	strcpy(dir, "/tmp/labd-events.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(capture, sizeof(capture), "%s/capture.dat", dir);
	snprintf(database, sizeof(database), "%s/events.db", dir);
}

static void teardown(void)
{
	static const char *const names[] = {"capture.dat", "events.db", "events.db-wal",
					    "events.db-shm", "events.db-journal"};
	char path[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

static struct events_db *open_db(void)
{
	struct events_db *db;

	ck_assert_int_eq(events_open(database, &db), 0);
	return db;
}

static int try_ingest(struct events_db *db, int64_t run, const char *sha256,
		      struct ingest_result *ret_result, char error[256])
{
	struct ingest_run info = {.run = run,
				  .round = 2,
				  .arm = "hint",
				  .scenario = "same16",
				  .capture = "captures/1.dat",
				  .sha256 = sha256};

	return events_ingest(db, capture, &info, ret_result, error, 256);
}

static struct ingest_result ingest(struct events_db *db, int64_t run)
{
	struct ingest_result result;
	char error[256];

	ck_assert_msg(!try_ingest(db, run, "abc", &result, error), "%s", error);
	return result;
}

/* What a sqlite3 shell would see, through a connection of its own. */
static char *ask(const char *sql)
{
	char *answer = NULL;
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open_v2(database, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_msg(!db_get_text(db, &answer, sql, ""), "%s", sql);
	sqlite3_close(db);
	return answer;
}

static void expect(const char *sql, const char *want)
{
	char *answer = ask(sql);

	ck_assert_str_eq(answer, want);
	free(answer);
}

static void zap_capture(const char *format, uint16_t id, size_t size)
{
	struct test_page pages[2];

	page_start(&pages[0], 1000);
	page_start(&pages[1], 2000);
	for (int i = 0; i < 10; i++) {
		struct zap_record record = {id, 0,	100 + i, i ? (uint64_t)i : UINT64_MAX,
					    -i, 1 << i, 7};

		page_record(&pages[i % 2], 10, &record, size);
	}
	write_capture(capture, &format, 1, &pages[0], 1, &pages[1], 1);
}

START_TEST(a_capture_becomes_a_table)
{
	struct events_db *db = open_db();
	struct ingest_result result;

	zap_capture(zap, 11, 24);
	result = ingest(db, 5);
	ck_assert_uint_eq(result.records, 10);
	ck_assert_int_eq(result.first_ts, 1010);
	ck_assert_int_eq(result.last_ts, 2050);
	ck_assert_uint_eq(result.n_events, 1);
	ck_assert_str_eq(result.events[0].event, "lab:zap");
	ck_assert_uint_eq(result.events[0].count, 10);
	ck_assert_uint_eq(result.n_cpus, 2);
	ck_assert_uint_eq(result.cpus[1].records, 5);
	ck_assert_uint_eq(result.n_losses, 0);
	ck_assert_str_eq(result.cpustat, "CPU: 0\nentries: 0\nCPU: 1\nentries: 0\n");
	ingest_result_free(&result);
	/* u64 above INT64_MAX is two's complement; the event's own pid is not the task's. */
	expect("SELECT group_concat(run || ',' || cpu || ',' || ts_ns || ',' || pid || ',' || duration_ns || ',' || f_pid"
	       " || ',' || \"order\", ' ') FROM ev_lab_zap WHERE pid < 103",
	       "5,0,1010,100,-1,0,1 5,0,1020,102,2,-2,4 5,1,2010,101,1,-1,2");
	expect("SELECT r.arm || r.scenario || r.round || count(*) FROM ev_lab_zap JOIN run r USING (run)",
	       "hintsame16210");
	expect("SELECT arm || event || events || name FROM v_run_event", "hintlab:zap10ev_lab_zap");
	expect("SELECT clock || uname FROM run", "monoLinux lab 6.12");
	expect("PRAGMA integrity_check", "ok");
	events_close(db);
}
END_TEST

START_TEST(a_run_is_stored_once)
{
	struct events_db *db = open_db();
	struct ingest_result first, again;
	char error[256];

	zap_capture(zap, 11, 24);
	first = ingest(db, 1);
	events_close(db);
	unlink(capture); /* not even needed any more */
	db = open_db();
	again = ingest(db, 1);
	ck_assert_uint_eq(again.records, first.records);
	ck_assert_int_eq(again.last_ts, first.last_ts);
	ck_assert_uint_eq(again.n_cpus, first.n_cpus);
	ck_assert_str_eq(again.cpustat, first.cpustat);
	expect("SELECT count(*) FROM ev_lab_zap", "10");
	ingest_result_free(&again);
	ck_assert_int_eq(try_ingest(db, 1, "another", &again, error), -EEXIST);
	ck_assert_ptr_nonnull(strstr(error, "another capture"));
	ingest_result_free(&first);
	events_close(db);
}
END_TEST

START_TEST(a_changed_format_is_a_new_version)
{
	struct events_db *db = open_db();
	struct ingest_result result;
	int64_t *values;
	size_t n;

	zap_capture(zap, 11, 24);
	result = ingest(db, 1);
	ingest_result_free(&result);
	zap_capture(zap_other_id, 77, 24);
	result = ingest(db, 2);
	ingest_result_free(&result);
	expect("SELECT count(*) FROM event_format", "1"); /* another kernel's id changes nothing */
	zap_capture(zap_patched, 11, 28);
	result = ingest(db, 3);
	ingest_result_free(&result);
	expect("SELECT group_concat(tbl) FROM event_format", "ev_lab_zap__v1,ev_lab_zap__v2");
	expect("SELECT count(*) || ',' || count(skipped) || ',' || sum(skipped) FROM ev_lab_zap",
	       "30,10,70");
	expect("SELECT group_concat(version || '-' || first_rowid || '-' || last_rowid) FROM run_span ",
	       "1-1-10,1-11-20,2-1-10");
	ck_assert_int_eq(events_values(db, 2, "lab:zap", "duration_ns", &values, &n), 0);
	ck_assert_uint_eq(n, 10);
	ck_assert_int_eq(values[0], -1);
	free(values);
	ck_assert_int_eq(events_values(db, 2, "lab:zap", "skipped", &values, &n), -ENOENT);
	ck_assert_int_eq(events_values(db, 3, "lab:zap", "skipped", &values, &n), 0);
	free(values);
	ck_assert_int_eq(events_values(db, 3, "lab:other", "skipped", &values, &n), 0);
	ck_assert_uint_eq(n, 0);
	free(values);
	events_close(db);
}
END_TEST

START_TEST(names_do_not_collide)
{
	static const char *const formats[] = {
		FORMAT("b_c", 11,
		       FIELD("u32 CPU", 8, 4, 0) FIELD("u32 rowid", 12, 4, 0)
			       FIELD("u32 x_0", 16, 4, 0) FIELD("u32 x[2]", 20, 8, 0)
				       FIELD("u32 X_1", 28, 4, 0)),
		FORMAT("B_c", 12, FIELD("u32 v", 8, 4, 0)),
	};
	struct events_db *db = open_db();
	struct ingest_result result;
	struct test_page page;

	page_start(&page, 1);
	write_capture(capture, formats, 2, &page, 1, NULL, 0);
	result = ingest(db, 1);
	/* Recorded, and none came: empty tables, and a count of 0. */
	ck_assert_uint_eq(result.n_events, 2);
	ck_assert_uint_eq(result.events[0].count + result.events[1].count, 0);
	ingest_result_free(&result);
	expect("SELECT group_concat(name) FROM pragma_table_info('ev_lab_b_c')",
	       "run,cpu,ts_ns,pid,f_CPU,f_rowid,x_0,f_x_0,x_1,f_X_1");
	expect("SELECT group_concat(name) FROM event_format", "ev_lab_b_c,ev_lab_B_c_2");
	events_close(db);
}
END_TEST

START_TEST(strings_are_made_safe)
{
	static const struct {
		uint16_t type, flags;
		int32_t pid;
		char comm[8];
		uint16_t offset, length;
		char msg[12];
	} records[] = {
		{12, 0, 1, "good", 20, 6, "caf\xc3\xa9"},
		{12, 0, 1,
		 "b\xff"
		 "d",
		 20, 4, "\xed\xa0\x80z"},		/* no UTF-8, a surrogate */
		{12, 0, 1, "12345678", 20, 200, "out"}, /* no NUL; beyond the record */
	};
	struct events_db *db = open_db();
	struct ingest_result result;
	const char *format = text;
	struct test_page page;

	page_start(&page, 1);
	for (size_t i = 0; i < ARRAY_SIZE(records); i++)
		page_record(&page, 1, &records[i], sizeof(records[i]));
	write_capture(capture, &format, 1, &page, 1, NULL, 0);
	result = ingest(db, 1);
	ingest_result_free(&result);
	expect("SELECT group_concat(comm || '|' || coalesce(msg, 'NULL'), ' ') FROM ev_lab_text",
	       "good|caf\xc3\xa9 b\xef\xbf\xbd"
	       "d|\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz 12345678|NULL");
	events_close(db);
}
END_TEST

START_TEST(losses_are_kept)
{
	struct zap_record record = {11, 0, 1, 5, 0, 0, 0};
	struct events_db *db = open_db();
	struct ingest_result result;
	struct test_page pages[3];
	const char *format = zap;

	for (int i = 0; i < 3; i++) {
		page_start(&pages[i], 1000 * i);
		page_record(&pages[i], 7, &record, 24);
	}
	page_missed(&pages[1], 42);
	page_missed(&pages[2], -1);
	write_capture(capture, &format, 1, pages, 3, NULL, 0);
	for (int again = 0; again < 2; again++) {
		result = ingest(db, 1);
		ck_assert_uint_eq(result.n_losses, 2);
		ck_assert_int_eq(result.losses[0].from_ts, 7);
		ck_assert_int_eq(result.losses[0].to_ts, 1007);
		ck_assert_int_eq(result.losses[0].count, 42);
		ck_assert_int_eq(result.losses[1].count, -1);
		ck_assert_uint_eq(result.cpus[0].lost, 42);
		ck_assert_uint_eq(result.cpus[0].lost_unknown, 1);
		ingest_result_free(&result);
	}
	expect("SELECT count(*) || ',' || count(count) FROM run_loss", "2,1");
	events_close(db);
}
END_TEST

START_TEST(a_bad_capture_leaves_nothing)
{
	struct events_db *db = open_db();
	struct ingest_result result;
	char error[256];
	struct stat st;

	zap_capture(zap, 11, 24);
	ck_assert_int_eq(stat(capture, &st), 0);
	/* Cut anywhere it is refused, or it is one whose last page is short. */
	for (off_t size = st.st_size - 1; size > 0; size -= 97) {
		ck_assert_int_eq(truncate(capture, size), 0);
		ck_assert_int_eq(try_ingest(db, 1, "abc", &result, error), -EBADMSG);
		ck_assert_str_ne(error, "");
	}
	zap_capture(zap, 11, 24);
	{
		int fd = open(capture, O_WRONLY | O_CLOEXEC);
		uint32_t bad =
			0x1f << 5 | 28; /* a record of 112 bytes at the end of the last page's */

		ck_assert_int_eq(pwrite(fd, &bad, 4, st.st_size - PAGE_SIZE + 16 + 4 * 28), 4);
		close(fd);
	}
	ck_assert_int_eq(try_ingest(db, 1, "abc", &result, error), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(error, "page 0 of CPU 1"));
	expect("SELECT (SELECT count(*) FROM run) || (SELECT count(*) FROM event_format)"
	       " || (SELECT count(*) FROM sqlite_schema WHERE name LIKE 'ev_lab%')",
	       "000");
	ck_assert_int_eq(try_ingest(db, 1, "abc", &result, error), -EBADMSG);
	events_close(db);
}
END_TEST

START_TEST(a_reader_does_not_disturb)
{
	struct events_db *db = open_db();
	struct ingest_result result;
	sqlite3_stmt *stmt;
	sqlite3 *shell;

	zap_capture(zap, 11, 24);
	result = ingest(db, 1);
	ingest_result_free(&result);
	ck_assert_int_eq(sqlite3_open_v2(database, &shell, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(shell, "BEGIN", NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(shell, "SELECT * FROM ev_lab_zap", -1, &stmt, NULL),
			 SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	result = ingest(db, 2);
	ck_assert_uint_eq(result.records, 10);
	ingest_result_free(&result);
	sqlite3_finalize(stmt);
	sqlite3_close(shell);
	expect("SELECT count(*) FROM ev_lab_zap", "20");
	events_close(db);
}
END_TEST

static void limit_pages(struct events_db *db, const char *pragma)
{
	ck_assert_int_eq(sqlite3_exec(db->db, pragma, NULL, NULL, NULL), SQLITE_OK);
}

/* No room for the file to grow, as on a full disk. */
START_TEST(a_full_disk_leaves_nothing)
{
	struct events_db *db = open_db();
	struct ingest_result result;
	char error[256];

	zap_capture(zap, 11, 24);
	limit_pages(db, "CREATE TABLE takes_the_free_page (x)");
	limit_pages(db, "PRAGMA max_page_count = 1");
	ck_assert_int_eq(try_ingest(db, 1, "abc", &result, error), -ENOSPC);
	ck_assert_str_eq(error, "the disk is full");
	limit_pages(db, "PRAGMA max_page_count = 1000000");
	expect("SELECT count(*) FROM run", "0");
	result = ingest(db, 1);
	ck_assert_uint_eq(result.records, 10);
	ingest_result_free(&result);
	events_close(db);
}
END_TEST

/* CPU 0 has keys 1 and 2, a gap from 500 to 1000, and key 3 behind it. */
static void pair_capture(void)
{
	static const struct {
		int page;
		uint32_t delta;
		uint16_t type;
		uint64_t key;
	} list[] = {
		{0, 10, 14, 1},	 /* an end without a begin */
		{0, 10, 13, 1},	 /* replaced: its end was not seen */
		{0, 10, 13, 1},	 /* 30 */
		{0, 10, 13, 2},	 /* 40 */
		{0, 60, 14, 1},	 /* 100: 70 ns */
		{0, 100, 14, 2}, /* 200: 160 ns */
		{0, 0, 13, 2},	 /* at the end's own time */
		{0, 0, 14, 2},	 /* 0 ns */
		{0, 300, 13, 2}, /* 500, before the gap */
		{1, 0, 14, 2},	 /* 1000, behind it: cut out */
		{1, 0, 13, 3},	 /* 1000 */
		{1, 25, 14, 3},	 /* 25 ns */
		{1, 1, 13, 9},	 /* never ends */
	};
	static const char *const formats[] = {begin, end};
	struct test_page pages[2];

	page_start(&pages[0], 0);
	page_start(&pages[1], 1000);
	for (size_t i = 0; i < ARRAY_SIZE(list); i++) {
		struct {
			uint16_t type, flags;
			int32_t pid;
			uint64_t key;
		} record = {list[i].type, 0, 1, list[i].key};

		page_record(&pages[list[i].page], list[i].delta, &record, sizeof(record));
	}
	page_missed(&pages[1], -1);
	write_capture(capture, formats, 2, pages, 2, NULL, 0);
}

START_TEST(pairs_are_matched_by_key)
{
	char *keys[] = {"key", "cpu"}, *wrong[] = {"no_such"};
	struct events_db *db = open_db();
	struct ingest_result result;
	struct event_pairs pairs;

	pair_capture();
	result = ingest(db, 1);
	ingest_result_free(&result);
	for (size_t n_keys = 1; n_keys <= 2; n_keys++) {
		int64_t sum = 0;

		ck_assert_int_eq(events_pairs(db, 1, "lab:begin", "lab:end", keys, n_keys, &pairs),
				 0);
		ck_assert_uint_eq(pairs.n, 4);
		for (size_t i = 0; i < pairs.n; i++)
			sum += pairs.durations[i];
		ck_assert_int_eq(sum, 70 + 160 + 0 + 25);
		ck_assert_uint_eq(pairs.unmatched, 3);
		ck_assert_uint_eq(pairs.excluded, 1);
		free(pairs.durations);
	}
	ck_assert_int_eq(events_pairs(db, 1, "lab:begin", "lab:end", wrong, 1, &pairs), -ENOENT);
	ck_assert_int_eq(events_pairs(db, 1, "lab:begin", "lab:none", keys, 1, &pairs), 0);
	ck_assert_uint_eq(pairs.n, 0);
	ck_assert_uint_eq(pairs.unmatched, 7);
	free(pairs.durations);
	events_close(db);
}
END_TEST

static struct sample_value sample(struct events_db *db, struct spec_metric metric,
				  const char *workload, bool lossy)
{
	json_t *json = workload ? json_loads(workload, 0, NULL) : NULL;
	struct sample_value value;

	ck_assert_int_eq(sample_compute(db, 1, &metric, json, 2000000000, lossy, &value), 0);
	json_decref(json);
	return value;
}

#define EVENT_METRIC(a, f) \
	((struct spec_metric){.source = METRIC_EVENT, .agg = (a), .event = "lab:zap", .field = (f)})
#define WORKLOAD_METRIC(a, k) \
	((struct spec_metric){.source = METRIC_WORKLOAD, .agg = (a), .workload_key = (k)})

static void check_sample(struct sample_value value, bool valid, double number, uint64_t n,
			 const char *note)
{
	ck_assert_msg(value.valid == valid, "%s", value.note);
	if (valid)
		ck_assert_double_eq(value.value, number);
	ck_assert_uint_eq(value.n_events, n);
	ck_assert_msg(note ? strstr(value.note, note) != NULL : !*value.note, "%s", value.note);
}

START_TEST(samples)
{
	struct spec_metric ratio = {.source = METRIC_RATIO,
				    .agg = AGG_RATIO,
				    .num = {"lab:zap", "order"},
				    .den = {"lab:zap", NULL}};
	struct spec_metric absent = EVENT_METRIC(AGG_SUM, "x");
	struct events_db *db = open_db();
	struct ingest_result result;

	zap_capture(zap, 11, 24);
	result = ingest(db, 1);
	ingest_result_free(&result);
	check_sample(sample(db, EVENT_METRIC(AGG_COUNT, NULL), NULL, false), true, 10, 10, NULL);
	check_sample(sample(db, EVENT_METRIC(AGG_RATE, NULL), NULL, false), true, 5, 10, NULL);
	check_sample(sample(db, EVENT_METRIC(AGG_SUM, "order"), NULL, false), true, 1023, 10, NULL);
	check_sample(sample(db, EVENT_METRIC(AGG_MEDIAN, "order"), NULL, false), true, 24, 10,
		     NULL);
	check_sample(sample(db, EVENT_METRIC(AGG_MAX, "order"), NULL, false), true, 512, 10, NULL);
	check_sample(sample(db, EVENT_METRIC(AGG_P999, "order"), NULL, false), false, 0, 10,
		     "fewer than 1000 events: a p99.9 would be");
	check_sample(sample(db, EVENT_METRIC(AGG_P999, "order"), NULL, true), false, 0, 10,
		     "lost events");
	check_sample(sample(db, EVENT_METRIC(AGG_SUM, "none"), NULL, false), false, 0, 0,
		     "no field none");
	absent.event = "lab:absent";
	check_sample(sample(db, absent, NULL, false), true, 0, 0, NULL);
	absent.agg = AGG_COUNT;
	check_sample(sample(db, absent, NULL, false), true, 0, 0, NULL);
	absent.agg = AGG_MEDIAN;
	check_sample(sample(db, absent, NULL, false), false, 0, 0, "no events");
	check_sample(sample(db, ratio, NULL, false), true, 102.3, 20, NULL);
	ratio.den.event = "lab:absent";
	check_sample(sample(db, ratio, NULL, false), false, 0, 10, "denominator");
	check_sample(sample(db, WORKLOAD_METRIC(AGG_VALUE, "v"), "{\"v\": 1.5}", false), true, 1.5,
		     1, NULL);
	check_sample(sample(db, WORKLOAD_METRIC(AGG_MEDIAN, "a"), "{\"a\": [3, 1, 2]}", true), true,
		     2, 3, NULL);
	check_sample(sample(db, WORKLOAD_METRIC(AGG_SUM, "a"), "{\"a\": [3, \"x\"]}", false), false,
		     0, 0, "no integer");
	check_sample(sample(db, WORKLOAD_METRIC(AGG_SUM, "v"), "{\"v\": 1}", false), false, 0, 0,
		     "no array");
	check_sample(sample(db, WORKLOAD_METRIC(AGG_VALUE, "v"), NULL, false), false, 0, 0,
		     "did not say v");
	events_close(db);
}
END_TEST

/* Enough events for several batches and for a p99.9. */
START_TEST(many_events)
{
	size_t n_pages = 500, each = 140, n = n_pages * each;
	struct test_page *pages = calloc(n_pages, sizeof(*pages));
	struct events_db *db = open_db();
	struct ingest_result result;
	const char *format = zap;
	struct sample_value value;

	for (size_t p = 0; p < n_pages; p++) {
		page_start(&pages[p], p * 100000);
		for (size_t i = 0; i < each; i++) {
			struct zap_record record = {11, 0, 1, (p * each + i) * 7919 % n + 1,
						    0,	0, 0};

			page_record(&pages[p], 100, &record, 24);
		}
	}
	write_capture(capture, &format, 1, pages, n_pages / 2, pages + n_pages / 2, n_pages / 2);
	result = ingest(db, 1);
	ck_assert_uint_eq(result.records, n);
	ingest_result_free(&result);
	value = sample(db, EVENT_METRIC(AGG_P999, "duration_ns"), NULL, false);
	check_sample(value, true, n * 999 / 1000, n, NULL);
	ck_assert_double_eq(value.low, (double)(n + 1 - 88));
	ck_assert_double_eq(value.high, (double)(n + 1 - 54));
	value = sample(db, EVENT_METRIC(AGG_P999, "duration_ns"), NULL, true);
	check_sample(value, false, 0, n, "lost events");
	ck_assert_double_nan(value.low);
	ck_assert_double_nan(value.high);
	value = sample(db, EVENT_METRIC(AGG_P99, "duration_ns"), NULL, false);
	ck_assert_double_nan(value.low);
	expect("SELECT count(*) || ',' || sum(duration_ns) || ',' || max(rowid) FROM ev_lab_zap__v1",
	       "70000,2450035000,70000");
	free(pages);
	events_close(db);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("events");
	TCase *tcase = tcase_create("events");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, a_capture_becomes_a_table);
	tcase_add_test(tcase, a_run_is_stored_once);
	tcase_add_test(tcase, a_changed_format_is_a_new_version);
	tcase_add_test(tcase, names_do_not_collide);
	tcase_add_test(tcase, strings_are_made_safe);
	tcase_add_test(tcase, losses_are_kept);
	tcase_add_test(tcase, a_bad_capture_leaves_nothing);
	tcase_add_test(tcase, a_reader_does_not_disturb);
	tcase_add_test(tcase, a_full_disk_leaves_nothing);
	tcase_add_test(tcase, pairs_are_matched_by_key);
	tcase_add_test(tcase, samples);
	tcase_add_test(tcase, many_events);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
