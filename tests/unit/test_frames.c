// SPDX-License-Identifier: GPL-2.0-only
/* What the agent's frames do to a boot: its proof, and the files of a run, all or none. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "machine/session.h"

static char dir[] = "/tmp/labd-frames-XXXXXX";
static char capture_path[64], xen_path[64];
static struct run_request run;
static struct boot boot;

static void setup(void)
{
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(capture_path, sizeof(capture_path), "%s/1.dat", dir);
	snprintf(xen_path, sizeof(xen_path), "%s/1.xentrace", dir);
	run = (struct run_request){
		.job = json_pack("{s:i}", "run", 1),
		.capture_path = capture_path,
		.xen_path = xen_path,
		.capture_max = 1000,
	};
	boot = (struct boot){
		.request = {.build_id = "abcd", .hypervisor_build_id = "cafe", .token = "t0ken"},
		.phase = PHASE_RUNNING,
		.run = &run,
		.files = {{.fd = -1}, {.fd = -1}},
	};
}

static void teardown(void)
{
	receive_abort(&boot.files[0]);
	receive_abort(&boot.files[1]);
	json_decref((json_t *)run.job);
	json_decref(boot.hello);
	json_decref(boot.done);
	unlink(capture_path);
	unlink(xen_path);
	ck_assert_int_eq(rmdir(dir), 0); /* nothing else may be left */
}

static int give(enum frame_type type, const char *payload)
{
	struct frame frame = {type, (const uint8_t *)payload, strlen(payload)};

	return frames_take(&boot, &frame);
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

#define CAPTURE "{\"name\":\"capture\",\"size\":5}"
#define XENTRACE "{\"name\":\"xentrace\",\"size\":3}"
#define DONE "{\"run\":1,\"state\":\"ok\"}"

START_TEST(both_files)
{
	char *text;

	ck_assert_int_eq(give(FRAME_FILE, CAPTURE), 0);
	ck_assert_int_eq(give(FRAME_DATA, "ker"), 0);
	ck_assert_int_eq(give(FRAME_DATA, "ne"), 0);
	ck_assert_int_eq(give(FRAME_FILE, XENTRACE), 0);
	ck_assert(!exists(capture_path));
	ck_assert_int_eq(give(FRAME_DATA, "xen"), 0);
	ck_assert(!exists(xen_path));
	ck_assert_int_eq(give(FRAME_DONE, DONE), 0);
	ck_assert_ptr_nonnull(boot.done);
	ck_assert_int_eq(read_file(capture_path, 100, &text, NULL), 0);
	ck_assert_str_eq(text, "kerne");
	free(text);
	ck_assert_int_eq(read_file(xen_path, 100, &text, NULL), 0);
	ck_assert_str_eq(text, "xen");
	free(text);
}
END_TEST

/* A run may fail before there is anything to send. */
START_TEST(fewer_files)
{
	ck_assert_int_eq(give(FRAME_DONE, DONE), 0);
	ck_assert(!exists(capture_path) && !exists(xen_path));
	json_decref(boot.done);
	boot.done = NULL;
	ck_assert_int_eq(give(FRAME_FILE, "{\"name\":\"capture\",\"size\":0}"), 0);
	ck_assert_int_eq(give(FRAME_DONE, DONE), 0);
	ck_assert(exists(capture_path) && !exists(xen_path));
}
END_TEST

/* Frames of a type and payload each, the last of which ends the boot. */
static const struct {
	const char *says;
	bool unasked; /* nobody asked for the hypervisor's */
	struct {
		enum frame_type type;
		const char *payload;
	} frames[6];
} wrong[] = {
	{"nobody expects", false, {{FRAME_FILE, XENTRACE}}},
	{"nobody expects",
	 true,
	 {{FRAME_FILE, CAPTURE}, {FRAME_DATA, "kerne"}, {FRAME_FILE, XENTRACE}}},
	{"nobody expects",
	 false,
	 {{FRAME_FILE, CAPTURE}, {FRAME_DATA, "kerne"}, {FRAME_FILE, CAPTURE}}},
	{"nobody expects",
	 false,
	 {{FRAME_FILE, CAPTURE},
	  {FRAME_DATA, "kerne"},
	  {FRAME_FILE, XENTRACE},
	  {FRAME_DATA, "xen"},
	  {FRAME_FILE, XENTRACE}}},
	{"nobody expects",
	 false,
	 {{FRAME_FILE, CAPTURE}, {FRAME_FILE, "{\"name\":\"xentrace\",\"size\":-1}"}}},
	{"nobody expects",
	 false,
	 {{FRAME_FILE, CAPTURE}, {FRAME_FILE, "{\"name\":\"../x\",\"size\":1}"}}},
	{"xentrace has 1001 bytes",
	 false,
	 {{FRAME_FILE, CAPTURE},
	  {FRAME_DATA, "kerne"},
	  {FRAME_FILE, "{\"name\":\"xentrace\",\"size\":1001}"}}},
	{"of 5 bytes and sent 4",
	 false,
	 {{FRAME_FILE, CAPTURE},
	  {FRAME_DATA, "kern"},
	  {FRAME_FILE, XENTRACE},
	  {FRAME_DATA, "xen"},
	  {FRAME_DONE, DONE}}},
	{"of 3 bytes and sent 2",
	 false,
	 {{FRAME_FILE, CAPTURE},
	  {FRAME_DATA, "kerne"},
	  {FRAME_FILE, XENTRACE},
	  {FRAME_DATA, "xe"},
	  {FRAME_DONE, DONE}}},
	{"more data",
	 false,
	 {{FRAME_FILE, CAPTURE},
	  {FRAME_DATA, "kerne"},
	  {FRAME_FILE, XENTRACE},
	  {FRAME_DATA, "xen!"}}},
	{"more data", false, {{FRAME_DATA, "x"}}},
};

START_TEST(wrong_files)
{
	size_t n = 0;

	if (wrong[_i].unasked)
		run.xen_path = NULL;
	while (n + 1 < ARRAY_SIZE(wrong[_i].frames) && wrong[_i].frames[n + 1].payload) {
		ck_assert_int_eq(give(wrong[_i].frames[n].type, wrong[_i].frames[n].payload), 0);
		n++;
	}
	ck_assert_int_eq(give(wrong[_i].frames[n].type, wrong[_i].frames[n].payload), -ECANCELED);
	ck_assert_msg(strstr(boot.facts.why, wrong[_i].says), "%s", boot.facts.why);
	ck_assert_ptr_null(boot.done);
	ck_assert(!exists(capture_path) && !exists(xen_path));
}
END_TEST

/* One name cannot be had: the other file goes too. */
START_TEST(second_has_no_name)
{
	ck_assert_int_eq(give(FRAME_FILE, CAPTURE), 0);
	ck_assert_int_eq(give(FRAME_DATA, "kerne"), 0);
	ck_assert_int_eq(give(FRAME_FILE, XENTRACE), 0);
	ck_assert_int_eq(give(FRAME_DATA, "xen"), 0);
	ck_assert_int_eq(mkdir(xen_path, 0700), 0);
	ck_assert_int_eq(give(FRAME_DONE, DONE), -ECANCELED);
	ck_assert_int_eq(boot.facts.stop, STOP_INFRA);
	ck_assert(!exists(capture_path));
	ck_assert_int_eq(rmdir(xen_path), 0);
}
END_TEST

#define HELLO "{\"proto\":1,\"build_id\":\"abcd\",\"token\":\"t0ken\""

static const struct {
	const char *hello, *want, *says;
} hellos[] = {
	{HELLO ",\"hypervisor\":{\"build_id\":\"cafe\"}}", "cafe", NULL},
	{HELLO ",\"hypervisor\":null}", NULL, NULL},
	{HELLO "}", NULL, NULL},
	{HELLO ",\"hypervisor\":{\"build_id\":\"feed\"}}", "cafe",
	 "hypervisor that runs has build-id feed"},
	{HELLO ",\"hypervisor\":{}}", "cafe", "has build-id none"},
	{HELLO ",\"hypervisor\":null}", "cafe", "has build-id none"},
	{HELLO "}", "cafe", "has build-id none"},
	{HELLO ",\"hypervisor\":{\"build_id\":\"cafe\"}}", NULL, "the arm has none"},
	{HELLO ",\"hypervisor\":1}", NULL, "the arm has none"},
};

START_TEST(hypervisor)
{
	boot.phase = PHASE_BOOTING;
	boot.request.hypervisor_build_id = hellos[_i].want;
	ck_assert_int_eq(give(FRAME_HELLO, hellos[_i].hello), hellos[_i].says ? -ECANCELED : 0);
	ck_assert_int_eq(!boot.hello, !!hellos[_i].says);
	if (hellos[_i].says) {
		ck_assert_int_eq(boot.facts.stop, STOP_WRONG_KERNEL);
		ck_assert_msg(strstr(boot.facts.why, hellos[_i].says), "%s", boot.facts.why);
	}
}
END_TEST

/* Wherever the boot is: what could not be sent ends it, for the reason that it is too much. */
START_TEST(full)
{
	boot.phase = _i ? PHASE_RUNNING : PHASE_BOOTING;
	ck_assert_int_eq(give(FRAME_FULL, ""), -ECANCELED);
	ck_assert_int_eq(boot.facts.stop, STOP_REFUSED);
	ck_assert_str_eq(boot.facts.why,
			 "What the agent sent does not fit the machine's disk image.");
	ck_assert(!exists(capture_path));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("frames");
	TCase *tcase = tcase_create("frames");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, both_files);
	tcase_add_test(tcase, fewer_files);
	tcase_add_loop_test(tcase, wrong_files, 0, ARRAY_SIZE(wrong));
	tcase_add_test(tcase, second_has_no_name);
	tcase_add_loop_test(tcase, hypervisor, 0, ARRAY_SIZE(hellos));
	tcase_add_loop_test(tcase, full, 0, 2);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
