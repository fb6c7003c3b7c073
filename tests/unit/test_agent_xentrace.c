// SPDX-License-Identifier: GPL-2.0-only
/* xentrace as a process: scripts play it, and each way in which it can end is told. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/xentrace.h"
#include "base/util.h"

#define LIMIT 4096
#define LONG_MS 20000

static char dir[] = "/tmp/labd-xentrace-XXXXXX";
static struct agent_xentrace xentrace;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
}

static void teardown(void)
{
	char command[128];

	agent_xentrace_free(&xentrace);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void start(const char *text)
{
	char path[128], script[1024];

	snprintf(path, sizeof(path), "%s/xentrace", dir);
	snprintf(script, sizeof(script), "#!/bin/sh\n%s\n", text);
	ck_assert_int_eq(write_file_atomic(path, script, strlen(script), 0755), 0);
	ck_assert_int_eq(agent_xentrace_start(&xentrace, dir, "/dev/shm", 0x0810f000, LIMIT), 0);
	ck_assert_str_eq(xentrace.path, path);
}

static void wait_for(uint64_t size)
{
	for (int i = 0; i < 1000 && agent_xentrace_wait(&xentrace, 20) && xentrace.size < size; i++)
		;
	ck_assert(!xentrace.ended);
	ck_assert_uint_ge(xentrace.size, size);
}

/* The name that it is given is the file that is read afterwards. */
START_TEST(records_until_told)
{
	char text[200] = "", words[64];

	start("trap 'echo last >>$file; echo bye >&2; exit 0' TERM; for file; do :; done\n"
	      "echo \"$@\" >$file; while :; do sleep 0.05; done");
	wait_for(10);
	agent_xentrace_stop(&xentrace, LONG_MS);
	ck_assert(xentrace.ended && !xentrace.exit && !xentrace.signal && !xentrace.full);
	ck_assert_uint_eq(xentrace.size, pread(xentrace.fd, text, sizeof(text) - 1, 0));
	ck_assert_ptr_nonnull(strstr(text, "-e 0x810f000 "));
	ck_assert_ptr_nonnull(strstr(text, "\nlast\n"));
	ck_assert_str_eq(agent_xentrace_last_words(&xentrace, words, sizeof(words)), "bye");
	ck_assert(!agent_xentrace_wait(&xentrace, 0));
}
END_TEST

START_TEST(dies)
{
	char words[8];

	start("printf 'one\\ntwo\\001wordsmore\\n\\n' >&2; exit 3");
	ck_assert(!agent_xentrace_wait(&xentrace, LONG_MS));
	ck_assert_int_eq(xentrace.exit, 3);
	ck_assert(!xentrace.full);
	ck_assert_str_eq(agent_xentrace_last_words(&xentrace, words, sizeof(words)), "two?wor");
	agent_xentrace_stop(&xentrace, LONG_MS); /* harmless by now */
	ck_assert_int_eq(xentrace.exit, 3);
}
END_TEST

START_TEST(is_killed)
{
	start("kill -SEGV $$");
	ck_assert(!agent_xentrace_wait(&xentrace, LONG_MS));
	ck_assert_int_eq(xentrace.signal, SIGSEGV);
}
END_TEST

/* Both ends of a full file: the write that is cut short, and the one that is not survived. */
START_TEST(fills_its_file)
{
	start(_i ? "exec cat /dev/zero" : "dd if=/dev/zero bs=5000 count=1; exit 1");
	ck_assert(!agent_xentrace_wait(&xentrace, LONG_MS));
	ck_assert(xentrace.full);
	ck_assert_uint_eq(xentrace.size, LIMIT);
}
END_TEST

START_TEST(does_not_stop)
{
	start("trap '' TERM; echo x; while :; do sleep 0.05; done");
	wait_for(2);
	agent_xentrace_stop(&xentrace, 100);
	ck_assert_int_eq(xentrace.signal, SIGKILL);
	ck_assert(!xentrace.full);
}
END_TEST

/* Much on stderr: its end is kept. */
START_TEST(keeps_the_tail)
{
	char words[32];

	start("for i in $(seq 300); do echo line $i >&2; done; exit 1");
	ck_assert(!agent_xentrace_wait(&xentrace, LONG_MS));
	ck_assert_uint_eq(xentrace.tail_len, AGENT_XENTRACE_TAIL);
	ck_assert_str_eq(agent_xentrace_last_words(&xentrace, words, sizeof(words)), "line 300");
}
END_TEST

START_TEST(cannot_be_executed)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/xentrace", dir);
	ck_assert_int_eq(write_file_atomic(path, "\1\2\3", 3, 0755), 0);
	ck_assert_int_eq(agent_xentrace_start(&xentrace, dir, "/dev/shm", 1, LIMIT), 0);
	ck_assert(!agent_xentrace_wait(&xentrace, LONG_MS));
	ck_assert_int_eq(xentrace.exit, 127);
}
END_TEST

START_TEST(no_room_for_a_file)
{
	start("exit 0");
	agent_xentrace_free(&xentrace);
	ck_assert_int_lt(agent_xentrace_start(&xentrace, dir, "/proc", 1, LIMIT), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_xentrace");
	TCase *tests = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, records_until_told);
	tcase_add_test(tests, dies);
	tcase_add_test(tests, is_killed);
	tcase_add_loop_test(tests, fills_its_file, 0, 2);
	tcase_add_test(tests, does_not_stop);
	tcase_add_test(tests, keeps_the_tail);
	tcase_add_test(tests, cannot_be_executed);
	tcase_add_test(tests, no_room_for_a_file);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
