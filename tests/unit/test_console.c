// SPDX-License-Identifier: GPL-2.0-only
/* The console finds a kernel's last words however they are cut, and is harmed by nothing. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "machine/console.h"

static char path[] = "/tmp/labd-console-XXXXXX";
static struct console *console;
static const struct console_report *report;

static void setup(void)
{
	close(mkstemp(path));
	ck_assert_int_eq(console_open(path, mono_ns() - 61234000000, &console), 0);
	report = console_report(console);
}

static void teardown(void)
{
	console_free(console);
	unlink(path);
}

static void feed(const char *text)
{
	console_feed(console, CONSOLE_SERIAL, text, strlen(text));
}

static char *file_text(void)
{
	char *text;

	ck_assert_int_eq(read_file(path, 2 * CONSOLE_FILE_MAX, &text, NULL), 0);
	return text;
}

static const struct {
	const char *line;
	enum console_cause cause;
} lines[] = {
	{"[    1.0] Kernel panic - not syncing: VFS: Unable to mount root fs", CONSOLE_PANIC},
	{"[    1.0] BUG: unable to handle page fault for address: ffff", CONSOLE_OOPS},
	{"[    1.0] BUG: kernel NULL pointer dereference, address: 0", CONSOLE_OOPS},
	{"[    1.0] Oops: 0002 [#1] PREEMPT SMP NOPTI", CONSOLE_OOPS},
	{"[    1.0] Oops: general protection fault, maybe for address 0x1: 0000 [#1] PREEMPT SMP",
	 CONSOLE_OOPS},
	{"[    1.0] general protection fault, probably for non-canonical address 0x1: 0000 [#1]",
	 CONSOLE_OOPS},
	{"[    1.0] traps: kvm-churn[9] general protection fault ip:1 sp:2 error:0", CONSOLE_FINE},
	{"[    1.0] kernel BUG at arch/x86/kvm/mmu/tdp_mmu.c:100!", CONSOLE_OOPS},
	{"[    1.0] invalid opcode: 0000 [#1] PREEMPT SMP", CONSOLE_OOPS},
	{"[    1.0] INFO: task kvm-churn:99 blocked for more than 120 seconds.", CONSOLE_HANG},
	{"[    1.0] INFO: task kvm-churn:99 is fine", CONSOLE_FINE},
	{"[    1.0] watchdog: BUG: soft lockup - CPU#1 stuck for 26s! [kvm-churn:99]",
	 CONSOLE_HANG},
	{"[    1.0] rcu: INFO: rcu_preempt self-detected stall on CPU", CONSOLE_HANG},
	{"[    1.0] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:", CONSOLE_HANG},
	{"[    1.0] WARNING: CPU: 0 PID: 1 at kernel/panic.c:1 x+0x1/0x2", CONSOLE_FINE},
	{"a program says: Linux version 6.12", CONSOLE_FINE},
};

/* Cut at every place, and fed byte by byte. */
START_TEST(finds_causes)
{
	size_t length = strlen(lines[_i].line);

	for (size_t cut = 0; cut <= length; cut++) {
		teardown();
		setup();
		feed("[    0.000000] Linux version 6.12.0\r\n");
		console_feed(console, CONSOLE_SERIAL, lines[_i].line, cut);
		console_feed(console, CONSOLE_SERIAL, lines[_i].line + cut, length - cut);
		feed("\r\n");
		ck_assert_int_eq(report->cause, lines[_i].cause);
		if (lines[_i].cause)
			ck_assert_str_eq(report->line, lines[_i].line);
	}
	for (size_t i = 0; i < length; i++)
		console_feed(console, CONSOLE_SERIAL, lines[_i].line + i, 1);
	console_end(console);
	ck_assert_int_eq(report->cause, lines[_i].cause);
}
END_TEST

START_TEST(phrase_over_the_cut_of_a_long_line)
{
	char filler[1024];

	for (size_t n = 980; n < 1024; n++) {
		teardown();
		setup();
		memset(filler, 'x', n);
		console_feed(console, CONSOLE_SERIAL, filler, n);
		feed("Kernel panic - not syncing: now\n");
		ck_assert_int_eq(report->cause, CONSOLE_PANIC);
	}
}
END_TEST

START_TEST(second_banner_is_a_reboot)
{
	feed("\033[2JSeaBIOS\r\n[    0.000000] Linux version 6.12.0\r\n");
	ck_assert_int_eq(report->cause, CONSOLE_FINE);
	feed("[   12.000000] Linux version of something\r\n");
	ck_assert_int_eq(report->cause, CONSOLE_FINE);
	feed("[    0.000000] Linux version 6.12.0\r\n");
	ck_assert_int_eq(report->cause, CONSOLE_REBOOT);
}
END_TEST

START_TEST(oops_is_the_reason_of_a_panic)
{
	char *first, *last;

	for (int i = 0; i < 50; i++)
		feed("before\n");
	feed("the line before\nBUG: unable to handle page fault\nCall Trace:\n");
	feed("Kernel panic - not syncing: Fatal exception\n");
	for (int i = 0; i < 200; i++)
		feed("a line after it that fills the report until there is no room left for any more\n");
	console_end(console);
	ck_assert_int_eq(report->cause, CONSOLE_PANIC);
	ck_assert_str_eq(report->first, "BUG: unable to handle page fault");
	ck_assert_str_eq(report->line, "Kernel panic - not syncing: Fatal exception");
	first = strstr(report->lines, "the line before\nBUG: ");
	last = strstr(report->lines, "Call Trace:\nKernel panic");
	ck_assert(first && last && first < last);
	ck_assert_uint_lt(strlen(report->lines), sizeof(report->lines));
}
END_TEST

START_TEST(worse_than_a_hang_starts_anew)
{
	feed("INFO: task a:1 blocked for more than 120 seconds.\n");
	for (int i = 0; i < 100; i++)
		feed("noise\n");
	feed("kernel BUG at mm/x.c:1!\n");
	console_end(console);
	ck_assert_int_eq(report->cause, CONSOLE_OOPS);
	ck_assert_ptr_null(strstr(report->lines, "blocked"));
	ck_assert_ptr_nonnull(strstr(report->lines, "kernel BUG"));
}
END_TEST

START_TEST(lines_are_stamped_and_harmless)
{
	char *text;

	feed("hello\r\n\n\033[31mred\a\n\xff\x9b\n");
	console_feed(console, CONSOLE_SERIAL, "a\0b\n", 4);
	console_feed(console, CONSOLE_PROGRAM, "no\nmem", 6);
	console_feed(console, CONSOLE_SERIAL, "unfinished", 10);
	console_end(console);
	ck_assert_str_eq(report->program_line, "mem");
	text = file_text();
	/* The time goes on while the test runs. */
	for (char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (!*p)
			break;
		ck_assert(!strncmp(p, "[  61.", 6) && p[9] == ']');
		memcpy(p + 6, "234", 3);
	}
	ck_assert_str_eq(text, "[  61.234] hello\n[  61.234] \n[  61.234] \\x1b[31mred\\x07\n"
			       "[  61.234] \\xff\\x9b\n[  61.234] a\\x00b\n[  61.234] qemu: no\n"
			       "[  61.234] unfinished\n[  61.234] qemu: mem\n");
	free(text);
}
END_TEST

START_TEST(other_sources_are_no_kernel)
{
	console_feed(console, CONSOLE_PROGRAM, "Kernel panic - not syncing\n", 27);
	console_feed(console, CONSOLE_AGENT, "BUG: \n", 6);
	ck_assert_int_eq(report->cause, CONSOLE_FINE);
	ck_assert_uint_eq(report->bytes, 0);
}
END_TEST

START_TEST(flood_is_cut_but_searched)
{
	char flood[65536], *text;

	memset(flood, 'f', sizeof(flood));
	for (int i = 0; i < 200; i++)
		console_feed(console, CONSOLE_SERIAL, flood, sizeof(flood));
	feed("\nKernel panic - not syncing: after the flood\n");
	console_end(console);
	ck_assert_int_eq(report->cause, CONSOLE_PANIC);
	ck_assert_uint_gt(report->dropped, 4 << 20);
	text = file_text();
	ck_assert_uint_le(strlen(text), CONSOLE_FILE_MAX + 200);
	ck_assert_ptr_nonnull(strstr(text, "labd: the limit of 8 MiB was reached"));
	free(text);
}
END_TEST

START_TEST(last_lines_without_a_cause)
{
	char line[24];

	for (int i = 0; i < 100; i++) {
		snprintf(line, sizeof(line), "line %d\n", i);
		feed(line);
	}
	console_end(console);
	ck_assert_ptr_nonnull(strstr(report->lines, "line 98\nline 99\n"));
	ck_assert_ptr_null(strstr(report->lines, "line 50\n"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("console");
	TCase *tcase = tcase_create("console");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, finds_causes, 0, ARRAY_SIZE(lines));
	tcase_add_test(tcase, phrase_over_the_cut_of_a_long_line);
	tcase_add_test(tcase, second_banner_is_a_reboot);
	tcase_add_test(tcase, oops_is_the_reason_of_a_panic);
	tcase_add_test(tcase, worse_than_a_hang_starts_anew);
	tcase_add_test(tcase, lines_are_stamped_and_harmless);
	tcase_add_test(tcase, other_sources_are_no_kernel);
	tcase_add_test(tcase, flood_is_cut_but_searched);
	tcase_add_test(tcase, last_lines_without_a_cause);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
