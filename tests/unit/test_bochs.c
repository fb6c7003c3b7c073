// SPDX-License-Identifier: GPL-2.0-only
/* What Bochs is told, and what is read out of what it says. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "bochs/ticks.h"
#include "machine/bochs_args.h"
#include "machine/machine.h"

static struct boot_request kernel_request(void)
{
	return (struct boot_request){.kernel = "/k", .image = "/i", .token = "t0ken"};
}

static const uint64_t sizes[BOCHS_FILES_MAX] = {512, 513, 1024};

/* The same attempt twice: unseen, and with its messages on the serial port. */
START_TEST(grub_kernel)
{
	static const struct {
		const char *cmdline;
		const char *end;
	} cases[] = {
		{NULL, ""},
		{"", ""},
		{"  ", ""},
		{"a=1 b=$x;y ", " 'a=1' 'b=$x;y'"},
	};
	static const char *const words[] = {"'nokaslr'", "'norandmaps'", "'random.trust_cpu=off'",
					    "'random.trust_bootloader=off'", "'tsc=reliable'"};
	static const char head[] = "set gfxpayload=text\n"
				   "linux '(hd0)2048+1' 'console=ttyS0,115200' 'panic=-1' ";
	static const char retry[] = "serial --unit=0 --speed=115200\nterminal_output serial\n";
	struct boot_request request = kernel_request();
	char *text, *tail, *second;
	size_t attempt;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		request.cmdline = cases[i].cmdline;
		ck_assert_int_eq(bochs_grub(&request, sizes, &text), 0);
		ck_assert(!strncmp(text, head, strlen(head)));
		for (size_t j = 0; j < ARRAY_SIZE(words); j++)
			ck_assert_ptr_nonnull(strstr(text, words[j]));
		tail = str_printf(" labd.channel=disk labd.token=t0ken%s\ninitrd '(hd0)2049+2'\n"
				  "boot\n%s",
				  cases[i].end, retry);
		second = strstr(text, tail);
		ck_assert_msg(second != NULL, "no %s in %s", tail, text);
		second += strlen(tail);
		attempt = second - text - strlen("set gfxpayload=text\n") - strlen(retry);
		ck_assert(!strncmp(second, strchr(text, '\n') + 1, attempt));
		ck_assert_str_eq(second + attempt, "halt\n");
		free(tail);
		free(text);
	}
}
END_TEST

START_TEST(grub_xen)
{
	struct boot_request request = kernel_request();
	char *text, *line;

	request.hypervisor = "/x";
	request.hypervisor_cmdline = "sched=null";
	request.cmdline = "b=2";
	ck_assert_int_eq(bochs_grub(&request, sizes, &text), 0);
	line = strstr(text, "multiboot2 '(hd0)2048+1' 'console=com1' 'com1=115200,8n1'");
	ck_assert_ptr_nonnull(line);
	ck_assert_ptr_nonnull(strstr(line, "'dom0-iommu=none' 'sched=null'\n"
					   "module2 '(hd0)2049+2' 'earlyprintk=xen' "));
	ck_assert_ptr_nonnull(
		strstr(line, "labd.token=t0ken 'b=2'\nmodule2 '(hd0)2051+2'\nboot\n"));
	ck_assert_ptr_null(strstr(text, "timer_slop"));
	ck_assert_ptr_null(strstr(text, "tsc=reliable"));
	free(text);
}
END_TEST

/* GRUB would change these on their way. */
START_TEST(grub_refuses)
{
	static const char *const bad[] = {"a='b'", "a=\"b c\"", "a\\b"};
	struct boot_request request = kernel_request();
	char *text;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		request.cmdline = bad[i];
		ck_assert_int_eq(bochs_grub(&request, sizes, &text), -EINVAL);
		request.cmdline = NULL;
		request.hypervisor = "/x";
		request.hypervisor_cmdline = bad[i];
		ck_assert_int_eq(bochs_grub(&request, sizes, &text), -EINVAL);
		request.hypervisor = NULL;
	}
}
END_TEST

START_TEST(config)
{
	static const struct {
		struct bochs_fds fds;
		const char *with[8];
		const char *without[3];
	} cases[] = {
		{{5, 6, 7, -1},
		 {"memory: guest=1024, host=1024\n", "path=/dev/fd/5\n",
		  "ata0-slave: type=disk, mode=flat, path=/dev/fd/6\n",
		  "com1: enabled=1, mode=file, dev=/dev/fd/7\n",
		  "clock: sync=none, time0=1700000000\n", "realtime=0\n"},
		 {"com2", "guest=1536"}},
		{{5, 6, 7, 8},
		 {"memory: guest=1536, host=1536\n", "com1: enabled=1, mode=file, dev=/dev/fd/8\n",
		  "com2: enabled=1, mode=file, dev=/dev/fd/7\n"},
		 {"guest=1024"}},
	};
	char *text;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		text = bochs_config(&cases[i].fds);
		ck_assert_ptr_nonnull(text);
		for (size_t j = 0; cases[i].with[j]; j++)
			ck_assert_msg(strstr(text, cases[i].with[j]) != NULL, "no %s in %s",
				      cases[i].with[j], text);
		for (size_t j = 0; cases[i].without[j]; j++)
			ck_assert_msg(!strstr(text, cases[i].without[j]), "%s in %s",
				      cases[i].without[j], text);
		free(text);
	}
}
END_TEST

/* What is stored of a machine must not name what differs between its boots. */
START_TEST(machine_lines)
{
	json_t *lines, *line;
	char *text;
	size_t i;

	for (int hypervisor = 0; hypervisor < 2; hypervisor++) {
		lines = json_array();
		ck_assert_int_eq(bochs_machine_lines(lines, hypervisor), 0);
		ck_assert_uint_gt(json_array_size(lines), 10);
		json_array_foreach (lines, i, line) {
			ck_assert(json_is_string(line));
			ck_assert_ptr_null(strstr(json_string_value(line), "/dev/fd"));
		}
		text = json_dumps(lines, JSON_COMPACT);
		ck_assert_int_eq(strstr(text, "dom0_max_vcpus=1") != NULL, hypervisor);
		free(text);
		json_decref(lines);
	}
}
END_TEST

/* A step is 0.1 s; the last may go beyond the limit. */
START_TEST(script)
{
	static const struct {
		uint64_t limit_ms;
		size_t steps;
	} cases[] = {{0, 0}, {1, 1}, {100, 1}, {101, 2}, {1000, 10}, {600000, 6000}};
	const size_t step = strlen("sb 10000000\nc\n");
	char *text;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		text = bochs_script(cases[i].limit_ms);
		ck_assert_uint_eq(strlen(text), cases[i].steps * step + 2);
		ck_assert_str_eq(text + cases[i].steps * step, "q\n");
		ck_assert(!cases[i].steps || !strncmp(text, "sb 10000000\nc\n", step));
		free(text);
	}
}
END_TEST

static const char terminal[] =
	"00000000000i[      ] BXSHARE not set.\r\n"
	"Next at t=0\r\n(0) [0x0000fffffff0] f000:fff0 (unk. ctxt): jmpf 0xf000:e05b\r\n"
	"Time breakpoint inserted. Delta = 10000000\r\n(0) Caught time breakpoint\r\n"
	"\033[1;1H\033[24mPlex86/Bochs\033[0mNext at t=10000000\r\n"
	"(0) Caught time breakpoint\r\nNext at t=20990210\r\n"
	"Next at t=1x\r\nNext at t=\r\nNext at t=99999999999999999999\r\n";

START_TEST(time_in_any_cut)
{
	size_t length = strlen(terminal);
	struct ticks ticks;

	for (size_t first = 0; first <= length; first++) {
		for (size_t second = first; second <= length; second++) {
			memset(&ticks, 0, sizeof(ticks));
			ticks_feed(&ticks, terminal, first);
			ticks_feed(&ticks, terminal + first, second - first);
			ticks_feed(&ticks, terminal + second, length - second);
			ck_assert_int_eq(ticks.ticks, 20990210);
			ck_assert_str_eq(ticks.reason, "");
		}
	}
}
END_TEST

START_TEST(time_only_grows)
{
	static const char text[] = "Next at t=30\nNext at t=20\nNext at t=-40\n";
	struct ticks ticks = {};

	ticks_feed(&ticks, text, strlen(text));
	ck_assert_int_eq(ticks.ticks, 30);
	/* Not yet a line. */
	ticks_feed(&ticks, "Next at t=4000", 14);
	ck_assert_int_eq(ticks.ticks, 30);
	ticks_feed(&ticks, "0\n", 2);
	ck_assert_int_eq(ticks.ticks, 40000);
}
END_TEST

START_TEST(a_line_without_end)
{
	static const char screen[100000];
	struct ticks ticks = {};

	for (int i = 0; i < 3; i++) {
		ticks_feed(&ticks, screen, sizeof(screen));
		for (int j = 0; j < 10000; j++)
			ticks_feed(&ticks, "\033[1m", 4);
	}
	ticks_feed(&ticks, "\nNext at t=7\n", 13);
	ck_assert_int_eq(ticks.ticks, 7);
}
END_TEST

#define EXITING "=====\r\nBochs is exiting with the following message:\r\n"

START_TEST(reasons)
{
	static const struct {
		const char *text;
		const char *reason;
		bool powered_off;
	} cases[] = {
		{"Next at t=1\r\nBochs connected to screen\r\n", "", false},
		{EXITING "[ACPI  ] ACPI control: soft power off\r\n=====\r\n",
		 "[ACPI  ] ACPI control: soft power off", true},
		{EXITING "[HD    ] ata0-1: could not open \033 '/x'\r\n=====\r\n",
		 "[HD    ] ata0-1: could not open ? '/x'", false},
		{"000p[      ] >>PANIC<< /dev/fd/14:4: memory directive malformed.\r\n" EXITING
		 "[      ] ACPI control: soft power off\r\n",
		 "/dev/fd/14:4: memory directive malformed.", false},
		/* What a guest writes on the screen is no reason. */
		{"ACPI control: soft power off\r\n", "", false},
	};
	struct ticks ticks;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		memset(&ticks, 0, sizeof(ticks));
		ticks_feed(&ticks, cases[i].text, strlen(cases[i].text));
		ck_assert_str_eq(ticks.reason, cases[i].reason);
		ck_assert_int_eq(ticks.powered_off, cases[i].powered_off);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bochs");
	TCase *tcase = tcase_create("texts");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_test(tcase, grub_kernel);
	tcase_add_test(tcase, grub_xen);
	tcase_add_test(tcase, grub_refuses);
	tcase_add_test(tcase, config);
	tcase_add_test(tcase, machine_lines);
	tcase_add_test(tcase, script);
	tcase_add_test(tcase, time_in_any_cut);
	tcase_add_test(tcase, time_only_grows);
	tcase_add_test(tcase, a_line_without_end);
	tcase_add_test(tcase, reasons);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
