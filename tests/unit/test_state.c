// SPDX-License-Identifier: GPL-2.0-only
/* Which observation outranks which when a boot's end is named. */
#include <check.h>
#include <signal.h>
#include <string.h>

#include "base/util.h"
#include "machine/state.h"

static const struct {
	struct boot_facts facts;
	enum console_cause cause;
	const char *line;
	const char *first;
	enum boot_state state;
	const char *says;
} ends[] = {
	{{STOP_NONE}, CONSOLE_FINE, "", "", BOOT_OK, ""},
	/* A starved machine that did all of its work is fine; its oops never is. */
	{{STOP_NONE}, CONSOLE_HANG, "rcu stall", "", BOOT_OK, ""},
	{{STOP_NONE}, CONSOLE_OOPS, "BUG: x", "BUG: x", BOOT_OOPS, "BUG: x"},
	{{STOP_CONSOLE},
	 CONSOLE_PANIC,
	 "panic: y",
	 "BUG: x",
	 BOOT_PANIC,
	 "panic: y (it began with: BUG: x)"},
	{{STOP_CONSOLE}, CONSOLE_PANIC, "panic: y", "panic: y", BOOT_PANIC, "panic: y"},
	{{STOP_CONSOLE}, CONSOLE_REBOOT, "Linux version", "", BOOT_LOST_CONNECTION, "second time"},
	{{STOP_CONSOLE},
	 CONSOLE_PANIC,
	 "(XEN) Panic on CPU 0: Xen BUG at a.c:1",
	 "(XEN) Xen BUG at a.c:1",
	 BOOT_PANIC,
	 "began with: (XEN) Xen BUG"},
	{{STOP_CONSOLE}, CONSOLE_CRASH, "(XEN) Dom0 crashed", "", BOOT_PANIC, "Dom0 crashed"},
	{{STOP_CONSOLE},
	 CONSOLE_CRASH,
	 "(XEN) Dom0 crashed",
	 "BUG: x",
	 BOOT_PANIC,
	 "(XEN) Dom0 crashed (it began with: BUG: x)"},
	{{STOP_CONSOLE},
	 CONSOLE_OOPS,
	 "(XEN) AMD-Vi: IO_PAGE_FAULT: x",
	 "(XEN) AMD-Vi: IO_PAGE_FAULT: x",
	 BOOT_OOPS,
	 "IO_PAGE_FAULT"},
	{{STOP_CONSOLE},
	 CONSOLE_REBOOT,
	 "(XEN) Hardware Dom0 shutdown: rebooting machine",
	 "",
	 BOOT_LOST_CONNECTION,
	 "unasked: (XEN) Hardware Dom0 shutdown"},
	/* A wrong kernel's words count for no arm. */
	{{STOP_WRONG_KERNEL, "is another"},
	 CONSOLE_OOPS,
	 "BUG: x",
	 "BUG: x",
	 BOOT_WRONG_KERNEL,
	 "is another"},
	{{STOP_CANCELLED, "cancelled"}, CONSOLE_FINE, "", "", BOOT_CANCELLED, "cancelled"},
	{{STOP_CANCELLED, "cancelled"}, CONSOLE_PANIC, "panic", "panic", BOOT_PANIC, "panic"},
	{{STOP_INFRA, "no file"}, CONSOLE_FINE, "", "", BOOT_INFRA_FAILED, "no file"},
	{{STOP_REFUSED, "too much"}, CONSOLE_FINE, "", "", BOOT_WORKLOAD_FAILED, "too much"},
	{{STOP_BOOT_TIMEOUT, "no hello"}, CONSOLE_FINE, "", "", BOOT_TIMEOUT, "no hello"},
	{{STOP_BOOT_TIMEOUT, "no hello"},
	 CONSOLE_HANG,
	 "soft lockup",
	 "",
	 BOOT_HUNG,
	 "no hello soft lockup"},
	{{STOP_SILENT, "silent"}, CONSOLE_FINE, "", "", BOOT_HUNG, "silent"},
	{{STOP_RUN_TIMEOUT, "no end"}, CONSOLE_OOPS, "BUG: x", "BUG: x", BOOT_OOPS, "BUG: x"},
	{{STOP_OFF_TIMEOUT, "still on"}, CONSOLE_FINE, "", "", BOOT_HUNG, "still on"},
	{{STOP_STALLED, "stood still"}, CONSOLE_FINE, "", "", BOOT_HUNG, "stood still"},
	{{STOP_STALLED, "stood still"}, CONSOLE_HANG, "lockup", "", BOOT_HUNG, "still lockup"},
	{{STOP_STALLED, "stood still"}, CONSOLE_PANIC, "panic", "panic", BOOT_PANIC, "panic"},
	{{STOP_CHANNEL, "closed"}, CONSOLE_FINE, "", "", BOOT_LOST_CONNECTION, "closed"},
	{{STOP_CHANNEL, "closed", true, SIGKILL},
	 CONSOLE_FINE,
	 "",
	 "",
	 BOOT_LOST_CONNECTION,
	 "signal 9"},
	{{STOP_CHANNEL, "closed", true, SIGKILL},
	 CONSOLE_HANG,
	 "rcu stall",
	 "",
	 BOOT_LOST_CONNECTION,
	 "signal 9"},
	{{STOP_EXITED, "", true, 0, 0},
	 CONSOLE_FINE,
	 "",
	 "",
	 BOOT_LOST_CONNECTION,
	 "shows no reason"},
	{{STOP_EXITED, "", true, 0, 0}, CONSOLE_PANIC, "panic", "panic", BOOT_PANIC, "panic"},
	{{STOP_PROTOCOL, "garbage"}, CONSOLE_FINE, "", "", BOOT_LOST_CONNECTION, "garbage"},
	{{STOP_INFRA, "f\xfc\n"}, CONSOLE_FINE, "", "", BOOT_INFRA_FAILED, "f??"},
};

START_TEST(classify)
{
	struct console_report report = {
		.cause = ends[_i].cause, .bytes = 1, .lines = "the lines\n"};
	struct boot_end end;

	strcpy(report.line, ends[_i].line);
	strcpy(report.first, ends[_i].first);
	boot_classify(&ends[_i].facts, &report, &end);
	ck_assert_str_eq(boot_state_name(end.state), boot_state_name(ends[_i].state));
	ck_assert_msg(strstr(end.detail, ends[_i].says) != NULL, "%s", end.detail);
	ck_assert_str_eq(end.console_lines, "the lines\n");
}
END_TEST

START_TEST(program_that_never_ran)
{
	struct boot_facts facts = {.stop = STOP_EXITED, .exited = true, .exit_status = 1};
	struct console_report report = {.program_line = "could not load kernel"};
	struct boot_end end;

	boot_classify(&facts, &report, &end);
	ck_assert_int_eq(end.state, BOOT_INFRA_FAILED);
	ck_assert_ptr_nonnull(strstr(end.detail, "could not load kernel"));
	report.bytes = 100;
	boot_classify(&facts, &report, &end);
	ck_assert_int_eq(end.state, BOOT_LOST_CONNECTION);
}
END_TEST

START_TEST(long_lines_fit)
{
	struct boot_facts facts = {.stop = STOP_CONSOLE};
	struct console_report report = {.cause = CONSOLE_PANIC};
	struct boot_end end;

	memset(report.line, 'l', sizeof(report.line) - 1);
	memset(report.first, 'f', sizeof(report.first) - 1);
	boot_classify(&facts, &report, &end);
	ck_assert_uint_lt(strlen(end.detail), sizeof(end.detail));
	ck_assert_ptr_nonnull(strstr(end.detail, "began with: fff"));
}
END_TEST

START_TEST(names)
{
	for (enum boot_state a = BOOT_RUNNING; a <= BOOT_CANCELLED; a++)
		for (enum boot_state b = BOOT_RUNNING; b < a; b++)
			ck_assert_str_ne(boot_state_name(a), boot_state_name(b));
	ck_assert_str_eq(boot_state_name(BOOT_TIMEOUT), "boot-timeout");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("state");
	TCase *tcase = tcase_create("state");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, classify, 0, ARRAY_SIZE(ends));
	tcase_add_test(tcase, program_that_never_ran);
	tcase_add_test(tcase, long_lines_fit);
	tcase_add_test(tcase, names);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
