// SPDX-License-Identifier: GPL-2.0-only
/* A real kernel's capture, field by field: what the tables hold is what trace-cmd prints. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "store/db.h"
#include "store/events.h"

#define CAPTURE "tests/fuzz/seeds/fuzz_tracedat/sched.dat"

/* One line per event: CPU, time in ns, the rest as trace-cmd report prints it. */
static const char in_plain[] =
	"SELECT printf('%03d %d sys_enter: NR %d (%x, %x, %x, %x, %x, %x)', cpu, ts_ns, id, args_0, args_1, args_2,"
	" args_3, args_4, args_5) FROM ev_raw_syscalls_sys_enter ORDER BY ts_ns";
static const char in_raw[] =
	"SELECT printf('%03d %d sched_switch: prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%d next_comm=%s"
	" next_pid=%d next_prio=%d', cpu, ts_ns, prev_comm, prev_pid, prev_prio, prev_state, next_comm, next_pid,"
	" next_prio) FROM ev_sched_sched_switch ORDER BY ts_ns";
/* pid of the event and of the task share a name in the format, but not in the table. */
static const char exec_plain[] =
	"SELECT printf('%03d %d sched_process_exec: filename=%s pid=%d old_pid=%d', cpu, ts_ns, filename, f_pid,"
	" old_pid) FROM ev_sched_sched_process_exec ORDER BY ts_ns";

static const struct {
	const char *options, *event, *sql;
	int count;
} cases[] = {
	{"", "sys_enter", in_plain, 35},
	{"-R", "sched_switch", in_raw, 24},
	{"", "sched_process_exec", exec_plain, 1},
};

/* "  <...>-3636  [000]  2825.327340466: sys_enter:   NR 3 (…)" to "000 2825327340466 sys_enter: NR
 * 3 (…)" */
static bool normal_form(const char *line, const char *event, char *ret_line, size_t size)
{
	unsigned long long seconds, ns;
	char name[64];
	int cpu, at = 0;

	line = strchr(line, '[');
	if (!line || sscanf(line, "[%d] %llu.%llu: %63s %n", &cpu, &seconds, &ns, name, &at) != 4 ||
	    !at)
		return false;
	name[strcspn(name, ":")] = '\0';
	snprintf(ret_line, size, "%03d %llu %s: %s", cpu, seconds * 1000000000 + ns, name,
		 line + at);
	ret_line[strcspn(ret_line, "\n")] = '\0';
	return !strcmp(name, event);
}

static void compare(sqlite3 *db, const char *options, const char *event, const char *sql, int count)
{
	char line[4096], want[4096], command[256];
	sqlite3_stmt *stmt;
	FILE *report;
	int n = 0;

	snprintf(command, sizeof(command), "trace-cmd report -t %s " CAPTURE " 2>/dev/null",
		 options);
	report = popen(command, "r");
	ck_assert_ptr_nonnull(report);
	ck_assert_int_eq(db_prepare(db, &stmt, sql, ""), 0);
	while (fgets(line, sizeof(line), report)) {
		if (!normal_form(line, event, want, sizeof(want)))
			continue;
		ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
		ck_assert_str_eq((const char *)sqlite3_column_text(stmt, 0), want);
		n++;
	}
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_DONE);
	ck_assert_int_eq(n, count);
	sqlite3_finalize(stmt);
	pclose(report);
}

START_TEST(tables_hold_what_trace_cmd_prints)
{
	struct ingest_run run = {
		.run = 1, .arm = "a", .scenario = "s", .capture = CAPTURE, .sha256 = "x"};
	char dir[] = "/tmp/labd-trace-cmd.XXXXXX", error[256] = "";
	struct ingest_result result;
	struct events_db *events;
	sqlite3 *db;
	char *path;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	path = str_printf("%s/events.db", dir);
	ck_assert_int_eq(events_open(path, &events), 0);
	ck_assert_msg(!events_ingest(events, CAPTURE, &run, &result, error, sizeof(error)), "%s",
		      error);
	ck_assert_uint_eq(result.n_events, ARRAY_SIZE(cases));
	ingest_result_free(&result);
	events_close(events);
	ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		compare(db, cases[i].options, cases[i].event, cases[i].sql, cases[i].count);
	sqlite3_close(db);
	unlink(path);
	rmdir(dir);
	free(path);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("trace_cmd");
	TCase *tcase = tcase_create("trace_cmd");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, tables_hold_what_trace_cmd_prints);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
