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

static void feed_xen(const char *text)
{
	console_feed(console, CONSOLE_XEN, text, strlen(text));
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

static const struct {
	const char *line;
	enum console_cause cause;
} xen_lines[] = {
	{"(XEN) Panic on CPU 1:", CONSOLE_PANIC},
	{"(XEN) *** DOUBLE FAULT ***", CONSOLE_PANIC},
	{"(XEN) Early fatal page fault at e008:ffff82d0 (cr2=0, ec=0000)", CONSOLE_PANIC},
	{"(XEN) FATAL TRAP: vec 13, #GP[0000]", CONSOLE_PANIC},
	{"(XEN) FATAL PAGE FAULT", CONSOLE_PANIC},
	{"(XEN) Hardware Dom0 crashed: rebooting machine in 5 seconds.", CONSOLE_CRASH},
	{"(XEN) Hardware Dom0 shutdown: rebooting machine", CONSOLE_REBOOT},
	{"(XEN) Hardware Dom0 shutdown: watchdog rebooting machine", CONSOLE_REBOOT},
	{"(XEN) Hardware domain 0 did unsupported soft reset, rebooting.", CONSOLE_REBOOT},
	{"(XEN) Hardware Dom0 halted: halting machine", CONSOLE_FINE},
	{"(XEN) Assertion '!p2m->defer_flush' failed at arch/x86/mm/p2m.c:12", CONSOLE_OOPS},
	{"(XEN) Assertion checks are compiled in", CONSOLE_FINE},
	{"(XEN) Xen BUG at common/sched/core.c:3033", CONSOLE_OOPS},
	{"(XEN) Xen WARN at common/grant_table.c:1", CONSOLE_FINE},
	{"(XEN) Watchdog timer detects that CPU1 is stuck!", CONSOLE_OOPS},
	{"(XEN) Watchdog timer fired for domain 3", CONSOLE_FINE},
	{"(XEN) domain_crash called from p2m.c:1", CONSOLE_OOPS},
	{"(XEN) d0v1 Triple fault - invoking HVM shutdown action 1", CONSOLE_OOPS},
	{"(XEN) AMD-Vi: IO_PAGE_FAULT: 0000:00:02.0 d0 addr 00000000fffff000 flags 0 I",
	 CONSOLE_OOPS},
	{"(XEN) AMD-Vi: IOMMU Extended Features:", CONSOLE_FINE},
	{"(XEN) ILLEGAL_COMMAND_ERROR 00000000 50000000 00000000 00000000", CONSOLE_OOPS},
	{"(XEN) [VT-D]DMAR:[DMA Write] Request device [0000:00:02.0] fault addr 1000",
	 CONSOLE_OOPS},
	{"(XEN) [VT-D]INTR-REMAP: Request device [0000:00:02.0] fault index 3", CONSOLE_OOPS},
	{"(XEN) [VT-D]d0:PCIe: map 0000:00:02.0", CONSOLE_FINE},
	/* Words of the kernel's that Xen may use for something else, and the other way about. */
	{"(XEN) a guest says BUG: nothing of ours", CONSOLE_FINE},
	{"[    1.0] Kernel panic - not syncing: before there is a console", CONSOLE_PANIC},
};

START_TEST(finds_xens_causes)
{
	const char *line = xen_lines[_i].line;
	size_t length = strlen(line);

	for (size_t cut = 0; cut <= length; cut++) {
		teardown();
		setup();
		feed_xen("(XEN) Xen version 4.17.5 (...)\r\n");
		console_feed(console, CONSOLE_XEN, line, cut);
		console_feed(console, CONSOLE_XEN, line + cut, length - cut);
		feed_xen("\r\n");
		ck_assert_int_eq(report->cause, xen_lines[_i].cause);
	}
	/* The kernel's own console is not searched for Xen's words. */
	teardown();
	setup();
	feed(line);
	feed("\n");
	ck_assert(*line == '[' || report->cause == CONSOLE_FINE || strstr(line, "BUG: "));
}
END_TEST

START_TEST(xen_says_why_it_panics)
{
	feed_xen("(XEN) ****************************************\n(XEN) Panic on CPU 0:\n");
	ck_assert_int_eq(report->cause, CONSOLE_PANIC);
	ck_assert_str_eq(report->line, "(XEN) Panic on CPU 0:");
	feed_xen("(XEN) FATAL PAGE FAULT\n(XEN) [error_code=0000]\n");
	ck_assert_str_eq(report->line, "(XEN) Panic on CPU 0: FATAL PAGE FAULT");
	ck_assert_str_eq(report->first, report->line);
	teardown();
	setup();
	feed_xen("(XEN) Xen BUG at a.c:1\n(XEN) Panic on CPU 0:\n(XEN) Xen BUG at a.c:1\n");
	ck_assert_str_eq(report->first, "(XEN) Xen BUG at a.c:1");
	ck_assert_str_eq(report->line, "(XEN) Panic on CPU 0: Xen BUG at a.c:1");
}
END_TEST

/* What dom0 says comes by Xen's console, too: whole while it has no other, else not again. */
START_TEST(echo_of_the_kernel)
{
	char *text;

	feed_xen(" Xen 4.17.5\n(XEN) Xen version 4.17.5\n[    0.000000] Linux version 6.12\n");
	feed("[    0.000000] Linux version 6.12\n[    0.100000] console [ttyS1] enabled\n");
	feed_xen("[    0.000000] Linux version 6.12\n[    0.100000] console [ttyS1] enabled\n");
	feed_xen("(XEN) d0 is fine\n[    0.200000] BUG: only here\n");
	console_end(console);
	ck_assert_int_eq(report->cause, CONSOLE_OOPS);
	ck_assert_str_eq(report->line, "[    0.200000] BUG: only here");
	ck_assert_uint_eq(report->echoed, 3);
	text = file_text();
	for (char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (*p)
			memcpy(p + 6, "234", 3);
	}
	ck_assert_str_eq(
		text,
		"[  61.234] (xen)  Xen 4.17.5\n[  61.234] (XEN) Xen version 4.17.5\n"
		"[  61.234] (xen) [    0.000000] Linux version 6.12\n"
		"[  61.234] [    0.000000] Linux version 6.12\n"
		"[  61.234] [    0.100000] console [ttyS1] enabled\n"
		"[  61.234] (XEN) d0 is fine\n"
		"[  61.234] labd: 3 lines of the kernel came by the hypervisor's console, too\n");
	free(text);
}
END_TEST

START_TEST(second_xen_is_a_reboot)
{
	feed_xen("(XEN) Xen version 4.17.5\n");
	feed_xen("a guest says (XEN) Xen version 4.17.5\n");
	ck_assert_int_eq(report->cause, CONSOLE_FINE);
	feed_xen("(XEN) Xen version 4.17.5\n");
	ck_assert_int_eq(report->cause, CONSOLE_REBOOT);
}
END_TEST

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

/* Xen tells of a crash on a console of its own, which may be read before the panic's. */
START_TEST(panic_outranks_the_crash_that_follows)
{
	static const char panic[] = "Kernel panic - not syncing: Fatal exception\n";
	static const char crash[] = "(XEN) Hardware Dom0 crashed: rebooting machine.\n";

	if (_i)
		feed_xen(crash);
	feed(panic);
	if (!_i)
		feed_xen(crash);
	console_end(console);
	ck_assert_int_eq(report->cause, CONSOLE_PANIC);
	ck_assert_int_eq(strncmp(report->line, panic, strlen(panic) - 1), 0);
	ck_assert_str_eq(report->first, report->line);
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
			       "[  61.234] \\xff\\x9b\n[  61.234] a\\x00b\n[  61.234] machine: no\n"
			       "[  61.234] unfinished\n[  61.234] machine: mem\n");
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
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, finds_causes, 0, ARRAY_SIZE(lines));
	tcase_add_loop_test(tcase, finds_xens_causes, 0, ARRAY_SIZE(xen_lines));
	tcase_add_test(tcase, xen_says_why_it_panics);
	tcase_add_test(tcase, echo_of_the_kernel);
	tcase_add_test(tcase, second_xen_is_a_reboot);
	tcase_add_test(tcase, phrase_over_the_cut_of_a_long_line);
	tcase_add_test(tcase, second_banner_is_a_reboot);
	tcase_add_test(tcase, oops_is_the_reason_of_a_panic);
	tcase_add_loop_test(tcase, panic_outranks_the_crash_that_follows, 0, 2);
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
