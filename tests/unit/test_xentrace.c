// SPDX-License-Identifier: GPL-2.0-only
/* From a hypervisor's stream to tables on dom0's clock, and what its checks say. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "capture/xen_clock.h"
#include "capture/xen_records.h"
#include "capture/xentrace_read.h"
#include "plan/run_check.h"
#include "store/db.h"
#include "store/events_priv.h"
#include "tests/unit/pages.h"
#include "tests/unit/xenstream.h"

#define P2M_FLUSH 0x10f020
#define IOTLB_FLUSH 0x10f021
#define UNMAP_BATCH 0x10f022
#define UNMAP_GFN 0x10f023
#define RELEASE 0x10f024
#define GRANT_UNMAP 0x10f002
#define WRAP 0x1f002
#define LOST 0x1f001

#define BOTH 3

static char dir[64], capture[96], linux_capture[96], database[96];
static struct xen_stream stream;

static void setup(void)
{
	strcpy(dir, "/tmp/labd-xentrace.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(capture, sizeof(capture), "%s/a.xentrace", dir);
	snprintf(linux_capture, sizeof(linux_capture), "%s/a.dat", dir);
	snprintf(database, sizeof(database), "%s/events.db", dir);
	memset(&stream, 0, sizeof(stream));
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

/* All records of the stream as text: "cpu:id/words@tsc". */
static int walk(const void *data, size_t size, char *ret_text, size_t room, char error[256])
{
	struct xentrace_file *file;
	struct xentrace_record r;
	struct xentrace_walk w;
	size_t len = 0;
	int ret;

	*ret_text = *error = '\0';
	ret = xentrace_parse(data, size, &file, error, 256);
	if (ret)
		return ret;
	xentrace_start(&w, file, error, 256);
	while ((ret = xentrace_next(&w, &r)) > 0)
		if (len < room)
			len += snprintf(ret_text + len, room - len, "%u:%x/%u@%llu ", r.cpu, r.id,
					r.n, (unsigned long long)r.tsc);
	xentrace_close(file);
	return ret;
}

START_TEST(windows_and_records)
{
	char text[512], error[256];

	stream_cpu(&stream, 1);
	stream_record(&stream, GRANT_UNMAP, 5000000000, 1, 7);
	stream_record(&stream, WRAP, 0, 2, 0, 0);
	stream_record(&stream, 0x2f001, 0, 7, 1, 2, 3, 4, 5, 6, 7);
	stream_cpu(&stream, 0);
	stream_cpu(&stream, 511);
	stream_record(&stream, LOST, 9, 4, 3, 0, 8, 0);
	ck_assert_int_eq(walk(stream.words, 4 * stream.n, text, sizeof(text), error), 0);
	ck_assert_str_eq(text, "1:10f002/1@5000000000 1:2f001/7@0 511:1f001/4@9 ");
	ck_assert_int_eq(walk(NULL, 0, text, sizeof(text), error), 0);
	ck_assert_str_eq(text, "");
}
END_TEST

static const struct {
	size_t at;
	uint32_t word;
	const char *says;
} damages[] = {
	{0, 0x2001f002, "no xentrace stream"},
	{1, 512, "CPU 512"},
	{2, 18, "18 bytes"},
	{2, 200, "cut off within the window at byte 0"},
	{2, 0, "at byte 12 a CPU change should be"},
	{3, 0xf010f002, "at byte 12 is longer than its window"},
	{3, 0x2001f003, "a CPU change at byte 12 lies within a window"},
	{3, 0x9001f001, "has 1 words"},
};

START_TEST(damage_is_a_sentence)
{
	char text[512], error[256];

	stream_cpu(&stream, 1);
	stream_record(&stream, GRANT_UNMAP, 5, 1, 7);
	stream.words[damages[_i].at] = damages[_i].word;
	ck_assert_int_eq(walk(stream.words, 4 * stream.n, text, sizeof(text), error), -EBADMSG);
	ck_assert_msg(strstr(error, damages[_i].says) != NULL, "%s", error);
}
END_TEST

START_TEST(cut_anywhere_it_is_refused)
{
	char text[512], error[256];

	stream_cpu(&stream, 1);
	stream_record(&stream, GRANT_UNMAP, 5, 1, 7);
	for (size_t size = 4 * stream.n - 1; size; size--)
		ck_assert_int_eq(walk(stream.words, size, text, sizeof(text), error), -EBADMSG);
}
END_TEST

START_TEST(two_bunches_make_a_clock)
{
	/* 2 ticks a ns from 1000 s on; the brackets of 100 ns are the tight ones. */
	struct xen_anchor anchors[] = {
		{5, 2000000, 5000002000, 1002500000000, 1002400000100},
		{0, 2000000, 2000000000, 999999999000, 0},
		{1, 2000000, 2000000100, 1000000000000, 1000000001000},
		{2, 2000000, 2000400000, 1000000200000, 1000000000100},
		{3, 2000000, 2000800000, 1000000400000, 1000000900000},
		{4, 2000000, 4999800100, 1002400000000, 1000000500000},
	};
	char error[256] = "";
	struct xen_clock c;

	/* The middles: 1000000000050 at 2000000100, 1002400000050 at 4999800100. */
	ck_assert_msg(!xen_clock_fit(anchors, 6, 0, &c, error, 256), "%s", error);
	ck_assert(c.anchored);
	ck_assert_int_eq(c.first_ns, 1000000000050);
	ck_assert_int_eq(c.last_ns, 1002400000050);
	ck_assert_int_eq(c.bracket_ns, 100);
	ck_assert_double_eq_tol(c.measured_khz, 1249916.67, 0.01);
	ck_assert_int_eq(xen_clock_ns(&c, 2000000100), 1000000000050);
	ck_assert_int_eq(xen_clock_ns(&c, 4999800100), 1002400000050);
	ck_assert_int_lt(xen_clock_ns(&c, 0), 1000000000050);
	ck_assert_int_eq(xen_clock_ns(&c, UINT64_MAX), INT64_MAX);
	/* The bunch at the end alone: the frequency is the hypervisor's word. */
	ck_assert_msg(!xen_clock_fit(anchors + 4, 2, 0, &c, error, 256), "%s", error);
	ck_assert_double_eq(c.measured_khz, 0);
	ck_assert_int_eq(xen_clock_ns(&c, 4999800100 + 2000), 1002400000050 + 1000);
	/* No clock: no anchors and no frequency; no two in a row; a TSC that runs back. */
	ck_assert_int_eq(xen_clock_fit(NULL, 0, 0, &c, error, 256), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(error, "tsc_khz"));
	ck_assert_int_eq(xen_clock_fit(anchors, 1, 0, &c, error, 256), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(error, "follow on each other"));
	anchors[4].tsc = 5;
	ck_assert_int_eq(xen_clock_fit(anchors, 6, 0, &c, error, 256), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(error, "order"));
	/* A frequency alone counts from 0. */
	ck_assert_int_eq(xen_clock_fit(NULL, 0, 2500000, &c, error, 256), 0);
	ck_assert(!c.anchored);
	ck_assert_int_eq(xen_clock_ns(&c, 5000000), 2000000);
}
END_TEST

/* On one CPU dom0's clock stands still, as it does behind another CPU's: tight brackets, and wrong.
 */
START_TEST(a_clock_that_stands_still)
{
	struct xen_anchor anchors[40];
	char error[256] = "";
	struct xen_clock c;

	for (uint32_t i = 0; i < ARRAY_SIZE(anchors); i++) {
		uint64_t tsc = (i < 20 ? 0 : 10000000000ULL) + 200000 * (i % 20);
		int64_t ns = tsc / 2;

		if (i % 20 >= 10) /* 9 * 100 us is what the first CPU read last */
			ns = (i < 20 ? 0 : 5000000000) + 900300 + 2 * (i % 10);
		anchors[i] = (struct xen_anchor){
			i, 2000000, tsc, ns - (i % 20 < 10 ? 200 : 0),
			i ? anchors[i - 1].before_ns + ((i - 1) % 20 < 10 ? 400 : 1) : 0};
		if (anchors[i].before_ns < 0)
			anchors[i].before_ns = 0;
	}
	ck_assert_msg(!xen_clock_fit(anchors, ARRAY_SIZE(anchors), 0, &c, error, 256), "%s", error);
	ck_assert_int_ge(c.bracket_ns, 400);
	ck_assert_double_eq_tol(c.measured_khz, 2000000, 1);
	ck_assert_int_le(llabs(xen_clock_ns(&c, 5000000000) - 2500000000), 500);
}
END_TEST

/* A TSC of 2 GHz that was 0 when dom0's clock was 1 s. */
static int64_t ns_of(uint64_t tsc)
{
	return 1000000000 + (int64_t)(tsc / 2);
}

/* Three anchors on each of two CPUs; the last of each is that CPU's last record. */
static void anchors_at(uint64_t tsc, uint32_t seq)
{
	for (int i = 0; i < 6; i++) {
		if (i % 3 == 0)
			stream_cpu(&stream, i / 3);
		stream_anchor(&stream, seq + i, tsc + 1000 * i, ns_of(tsc + 1000 * i) - 50,
			      seq + i ? ns_of(tsc + 1000 * (i - 1)) + 50 : 0);
	}
}

#define RUN_TSC 1000000ULL
#define END_TSC 2000000000ULL

static void gfn(unsigned int cpu, uint64_t tsc, unsigned int vcpu, uint64_t frame)
{
	stream_cpu(&stream, cpu);
	stream_record(&stream, GRANT_UNMAP, tsc, 1, 1);
	stream_record(&stream, UNMAP_GFN, tsc + 1, 4, vcpu << 16, (uint32_t)frame,
		      (uint32_t)(frame >> 32), 0);
}

/* A group of 2 pages of vCPU 1 that begins on CPU 0 and ends on CPU 1, flushed or not. */
static void a_group(uint64_t tsc, bool flush)
{
	uint64_t frame = 0x1234500010;

	gfn(0, tsc, 1, frame);
	gfn(1, tsc + 100, 1, frame + 1);
	if (flush) {
		stream_record(&stream, P2M_FLUSH, tsc + 200, 4, 1u << 16, 0, 1, 1);
		stream_record(&stream, IOTLB_FLUSH, tsc + 201, 7, 1u << 16, 2u << 16, 0x34500010,
			      0x12, 2, 1, 0);
	}
	stream_record(&stream, RELEASE, tsc + 300, 3, 1u << 16, 2, BOTH);
	stream_record(&stream, UNMAP_BATCH, tsc + 400, 7, 1u << 16, 2, 1, 1, 0, 5000, 0);
}

static int try_ingest(struct events_db *db, bool with_linux, uint32_t tsc_khz,
		      struct ingest_result *ret_result, char error[256])
{
	struct ingest_run info = {.run = 1,
				  .round = 2,
				  .arm = "base",
				  .scenario = "grant32",
				  .capture = "captures/1.dat",
				  .sha256 = "abc",
				  .xen_path = capture,
				  .xen_capture = "captures/1.xentrace",
				  .xen_sha256 = "def",
				  .tsc_khz = tsc_khz};

	stream_write(&stream, capture);
	return events_ingest(db, with_linux ? linux_capture : NULL, &info, ret_result, error, 256);
}

static struct events_db *open_db(void)
{
	struct events_db *db;

	ck_assert_int_eq(events_open(database, &db), 0);
	return db;
}

static struct ingest_result ingest(struct events_db *db)
{
	struct ingest_result result;
	char error[256];

	ck_assert_msg(!try_ingest(db, false, 0, &result, error), "%s", error);
	return result;
}

static void expect(const char *sql, const char *want)
{
	char *answer = NULL;
	sqlite3 *db;

	ck_assert_int_eq(sqlite3_open_v2(database, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	ck_assert_msg(!db_get_text(db, &answer, sql, ""), "%s", sql);
	sqlite3_close(db);
	ck_assert_str_eq(answer, want);
	free(answer);
}

START_TEST(a_stream_becomes_tables)
{
	struct events_db *db = open_db();
	struct ingest_result result;
	int64_t *values;
	size_t n;

	stream_cpu(&stream, 1);
	stream_record(&stream, 0x10f004, 0, 6, 0x11, 0, 0x22, 1, 3, 9u << 16 | 7); /* no TSC yet */
	anchors_at(1000, 0);
	a_group(RUN_TSC, true);
	stream_cpu(&stream, 0);
	stream_record(&stream, IOTLB_FLUSH, RUN_TSC + 700, 7, 5u << 16 | 3, 4, 1, 2, 3, 0,
		      (uint32_t)-110);
	stream_record(&stream, 0x2f00a, 0, 2, 77, 88);		 /* unknown, no TSC */
	stream_record(&stream, RELEASE, RUN_TSC + 900, 2, 0, 1); /* not of its size */
	anchors_at(END_TSC, 6);
	result = ingest(db);
	ck_assert_uint_eq(result.n_cpus, 2);
	ck_assert_str_eq(result.cpus[1].source, "xen");
	ck_assert(result.cpus[0].closed && result.cpus[1].closed);
	ck_assert_uint_eq(result.records, 12 + 4 + 2 + 2 + 1 + 1 + 1 + 1);
	ck_assert_uint_eq(result.records, result.cpus[0].records + result.cpus[1].records);
	ingest_result_free(&result);
	expect("SELECT run || ',' || cpu || ',' || (pid IS NULL) || ',' || tsc || ',' || domid || ',' || vcpu || ','"
	       " || printf('%x', gfn) || ',' || status FROM ev_xen_grant_unmap_gfn WHERE cpu = 1",
	       "1,1,1,1000101,0,1,1234500011,0");
	expect("SELECT abs(ts_ns - 1000500050) <= 1 FROM ev_xen_grant_unmap_gfn WHERE cpu = 1",
	       "1");
	expect("SELECT domid || ',' || vcpu || ',' || target || ',' || flush_flags || ',' || dfn || ',' || page_count"
	       " || ',' || sent || ',' || rc FROM ev_xen_iotlb_flush WHERE cpu = 0",
	       "3,5,4,0,8589934593,3,0,-110");
	expect("SELECT ops || ',' || p2m_flushes || ',' || iotlb_flushes || ',' || iotlb_early || ',' || duration_ns"
	       " || ',' || status FROM ev_xen_grant_unmap_batch",
	       "2,1,1,0,5000,0");
	/* Without a TSC: the time of the record ahead, or of the first that has one. */
	expect("SELECT (tsc IS NULL) || ',' || gfn || ',' || mfn || ',' || p2mt || ',' || domid || ',' || page_order"
	       " FROM ev_xen_set_p2m_entry",
	       "1,17,4294967330,3,7,9");
	expect("SELECT (SELECT ts_ns FROM ev_xen_set_p2m_entry) = (SELECT min(ts_ns) FROM ev_xen_anchor WHERE cpu = 1)",
	       "1");
	expect("SELECT (SELECT ts_ns FROM ev_xen_record WHERE id = 0x2f00a) ="
	       " (SELECT ts_ns FROM ev_xen_iotlb_flush WHERE cpu = 0)",
	       "1");
	expect("SELECT group_concat(printf('%x', id) || ' ' || n || ' ' || d1 || ' ' || d2 || ' ' || (d3 IS NULL), ', ')"
	       " FROM ev_xen_record",
	       "2f00a 2 77 88 1, 10f024 2 0 1 1");
	expect("SELECT records || ' ' || odd || ' ' || capture || ' ' || sha256 FROM run_xen",
	       "24 1 captures/1.xentrace def");
	expect("SELECT tsc_khz || ' ' || bracket_ns || ' ' || round(measured_khz) FROM xen_clock",
	       "2000000 100 2000000.0");
	/* Recorded, and none came. */
	expect("SELECT count(*) FROM ev_xen_pod_populate", "0");
	expect("SELECT count FROM run_span WHERE event = 'xen:page_grant_map'", "0");
	expect("SELECT instr(format, 'u64 gfn') > 0 FROM event_format WHERE event = 'xen:grant_unmap_gfn'",
	       "1");
	ck_assert_int_eq(events_values(db, 1, "xen:grant_unmap_batch", "ops", &values, &n), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(values[0], 2);
	free(values);
	expect("PRAGMA user_version", "2");
	expect("PRAGMA integrity_check", "ok");
	events_close(db);
}
END_TEST

START_TEST(losses_and_open_ends)
{
	struct events_db *db = open_db();
	struct ingest_result result;

	anchors_at(1000, 0);
	a_group(RUN_TSC, true);
	stream_record(&stream, LOST, RUN_TSC + 9000, 4, 42, 0, (uint32_t)RUN_TSC + 5000, 0);
	stream_record(&stream, GRANT_UNMAP, RUN_TSC + 9001, 1, 1);
	anchors_at(END_TSC, 6);
	stream.n -= 3 + 3 * 9; /* without CPU 1's: it may have lost more */
	stream_cpu(&stream, 0);
	stream_record(&stream, GRANT_UNMAP, END_TSC + 90000, 1, 1); /* after the run */
	for (int again = 0; again < 2; again++) {
		result = ingest(db);
		ck_assert_uint_eq(result.n_losses, 1);
		ck_assert_str_eq(result.losses[0].source, "xen");
		ck_assert_int_eq(result.losses[0].count, 42);
		ck_assert_int_le(llabs(result.losses[0].from_ts - ns_of(RUN_TSC + 5000)), 1);
		ck_assert_int_le(llabs(result.losses[0].to_ts - ns_of(RUN_TSC + 9000)), 1);
		ck_assert_uint_eq(result.cpus[1].lost, 42);
		ck_assert(result.cpus[0].closed);
		ck_assert(!result.cpus[1].closed);
		ingest_result_free(&result);
	}
	events_close(db);
}
END_TEST

START_TEST(both_captures_or_none)
{
	static const char format[] =
		FORMAT("zap", 11, "\tfield:u32 v;\toffset:8;\tsize:4;\tsigned:0;\n");
	struct {
		uint16_t type, flags;
		int32_t pid;
		uint32_t v;
	} record = {11, 0, 1, 5};
	const char *formats = format;
	struct events_db *db = open_db();
	struct ingest_result result;
	struct test_page page;
	size_t whole;
	char error[256];

	page_start(&page, ns_of(RUN_TSC));
	page_record(&page, 10, &record, sizeof(record));
	write_capture(linux_capture, &formats, 1, &page, 1, NULL, 0);
	anchors_at(1000, 0);
	a_group(RUN_TSC, true);
	anchors_at(END_TSC, 6);
	whole = stream.n--;
	ck_assert_int_eq(try_ingest(db, true, 0, &result, error), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(error, "cut off"));
	expect("SELECT (SELECT count(*) FROM run) || (SELECT count(*) FROM run_loss) ||"
	       " (SELECT count(*) FROM event_format)",
	       "000");
	stream.n = whole;
	ck_assert_int_eq(try_ingest(db, true, 0, &result, error), 0);
	ck_assert_uint_eq(result.records, 1 + 12 + 8);
	ck_assert_uint_eq(result.n_cpus, 4);
	ck_assert_str_eq(result.cpus[0].source, "linux");
	ingest_result_free(&result);
	expect("SELECT count(*) FROM ev_lab_zap z JOIN ev_xen_grant_unmap_gfn g USING (run)"
	       " WHERE g.ts_ns BETWEEN z.ts_ns - 100 AND z.ts_ns + 1000",
	       "2");
	/* The same run of another Xen capture is a mistake. */
	ck_assert_int_eq(events_ingest(db, linux_capture,
				       &(struct ingest_run){.run = 1, .sha256 = "abc"}, &result,
				       error, 256),
			 -EEXIST);
	events_close(db);
}
END_TEST

START_TEST(a_foreign_stream_needs_a_frequency)
{
	struct events_db *db = open_db();
	struct ingest_result result;
	char error[256];

	a_group(RUN_TSC, true);
	ck_assert_int_eq(try_ingest(db, false, 0, &result, error), -EBADMSG);
	ck_assert_ptr_nonnull(strstr(error, "tsc_khz"));
	ck_assert_int_eq(try_ingest(db, false, 2000000, &result, error), 0);
	ck_assert_int_eq(result.first_ts, RUN_TSC / 2);
	ck_assert(result.cpus[0].closed); /* nobody can know */
	ingest_result_free(&result);
	expect("SELECT (bracket_ns IS NULL) || (measured_khz IS NULL) FROM xen_clock", "11");
	events_close(db);
}
END_TEST

static const char spec_text[] =
	"{\"name\":\"t\",\"machine\":\"qemu\",\"subject\":\"xen\",\"rounds\":1,"
	"\"arms\":[{\"name\":\"base\",\"build\":\"b\"},{\"name\":\"hint\",\"build\":\"h\"}],"
	"\"scenarios\":[{\"name\":\"same\",\"workload\":\"w\"}],"
	"\"trace\":{\"events\":[\"xen:grant_release\"]},"
	"\"metrics\":[{\"name\":\"m\",\"event\":\"xen:grant_release\",\"agg\":\"count\",\"unit\":\"1\"}]}";

static struct run_checks check(struct events_db *db, const char *workload)
{
	struct ingest_result result = ingest(db);
	json_t *said = json_loads(workload, 0, NULL);
	struct problem problem = {0};
	struct run_checks checks;
	struct spec *spec;

	ck_assert_msg(!spec_parse(spec_text, strlen(spec_text), &spec, &problem), "%s",
		      problem.detail);
	ck_assert_int_eq(run_checks_do(db, 1, spec, said, &result, &checks), 0);
	spec_free(spec);
	json_decref(said);
	ingest_result_free(&result);
	return checks;
}

static const struct {
	bool flushed, groups, lost;
	const char *workload;
	size_t n;
	int64_t pages, early, unmaps_failed;
	const char *detail;
	const char *reason;
} runs[] = {
	{true, true, false, "{\"unmaps\": 6}", 2, 6, 0, 0, "3 groups released", ""},
	{true, true, false, "{}", 1, 6, 0, 0, "3 groups released", ""},
	{true, true, false, "{\"unmaps\": 7}", 2, 6, 0, 1, "3 groups",
	 "unmaps: the workload made 7 unmaps, Xen saw 6"},
	{false, true, false, "{\"unmaps\": 6}", 2, 6, 6, 0, "6 pages without a p2m flush",
	 "order: 6 of 6 unmapped pages were released before a flush"},
	{false, true, true, "{\"unmaps\": 7}", 2, 6, 0, 0, "lost: not judged", ""},
	{true, false, false, "{\"unmaps\": 0}", 2, 0, 0, 0, "nothing to check", ""},
};

START_TEST(a_run_is_checked)
{
	struct events_db *db = open_db();
	struct run_checks checks;

	anchors_at(1000, 0);
	for (int i = 0; i < 3 && runs[_i].groups; i++)
		a_group(RUN_TSC + 1000 * i, runs[_i].flushed);
	if (runs[_i].lost)
		stream_record(&stream, LOST, RUN_TSC + 9000, 4, 42, 0, (uint32_t)RUN_TSC + 5000, 0);
	anchors_at(END_TSC, 6);
	checks = check(db, runs[_i].workload);
	ck_assert_uint_eq(checks.n, runs[_i].n);
	ck_assert_str_eq(checks.checks[0].name, "order");
	ck_assert_int_eq(checks.checks[0].checked, runs[_i].pages);
	ck_assert_int_eq(checks.checks[0].failed, runs[_i].early);
	ck_assert_msg(strstr(checks.checks[0].detail, runs[_i].detail) != NULL, "%s",
		      checks.checks[0].detail);
	if (checks.n > 1)
		ck_assert_int_eq(checks.checks[1].failed, runs[_i].unmaps_failed);
	ck_assert_str_eq(run_checks_reason(&checks), runs[_i].reason);
	events_close(db);
}
END_TEST

START_TEST(many_records)
{
	struct events_db *db = open_db();
	struct ingest_result result;
	size_t n = 0;

	anchors_at(1000, 0);
	stream_cpu(&stream, 0);
	for (; stream.n + 200 < STREAM_WORDS / 2; n++)
		stream_record(&stream, n % 3 ? GRANT_UNMAP : 0x2f001 + n % 2,
			      n % 7 ? RUN_TSC + n : 0, n % 3 ? 1 : 0, 1);
	stream_cpu(&stream, 1);
	for (; stream.n + 200 < STREAM_WORDS; n++)
		stream_record(&stream, 0x2f005, 0, 0);
	anchors_at(END_TSC, 6);
	ck_assert_uint_gt(n, 2 * BATCH_RECORDS);
	result = ingest(db);
	ck_assert_uint_eq(result.records, n + 12);
	ingest_result_free(&result);
	expect("SELECT sum(d1 IS NULL AND d7 IS NULL) = count(*) FROM ev_xen_record", "1");
	expect("SELECT count(DISTINCT domid) || max(domid) FROM ev_xen_page_grant_unmap", "11");
	expect("SELECT (SELECT count(*) FROM ev_xen_record) + (SELECT count(*) FROM ev_xen_page_grant_unmap) = "
	       "(SELECT records - 12 FROM run_xen)",
	       "1");
	events_close(db);
}
END_TEST

/* A labd of before Xen made this one. */
START_TEST(an_old_file_is_updated)
{
	struct events_db *db;
	sqlite3 *old;
	char *sql;

	ck_assert_int_eq(read_file("schema/events.sql", 1 << 20, &sql, NULL), 0);
	ck_assert_int_eq(sqlite3_open(database, &old), SQLITE_OK);
	ck_assert_int_eq(sqlite3_exec(old, sql, NULL, NULL, NULL), SQLITE_OK);
	ck_assert_int_eq(
		sqlite3_exec(old,
			     "PRAGMA user_version = 1; INSERT INTO run_cpu VALUES (1, 3, 10, 2, 0);"
			     "INSERT INTO run_loss VALUES (1, 3, 5, 6, 2)",
			     NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(old);
	free(sql);
	db = open_db();
	expect("SELECT source || cpu || records || (closed IS NULL) FROM run_cpu", "linux3101");
	expect("SELECT source || cpu || count FROM run_loss", "linux32");
	events_close(db);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("xentrace");
	TCase *tcase = tcase_create("xentrace");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, windows_and_records);
	tcase_add_loop_test(tcase, damage_is_a_sentence, 0, ARRAY_SIZE(damages));
	tcase_add_test(tcase, cut_anywhere_it_is_refused);
	tcase_add_test(tcase, two_bunches_make_a_clock);
	tcase_add_test(tcase, a_clock_that_stands_still);
	tcase_add_test(tcase, a_stream_becomes_tables);
	tcase_add_test(tcase, losses_and_open_ends);
	tcase_add_test(tcase, both_captures_or_none);
	tcase_add_test(tcase, a_foreign_stream_needs_a_frequency);
	tcase_add_loop_test(tcase, a_run_is_checked, 0, ARRAY_SIZE(runs));
	tcase_add_test(tcase, many_records);
	tcase_add_test(tcase, an_old_file_is_updated);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
