// SPDX-License-Identifier: GPL-2.0-only
/* A boot's life against machines that misbehave: tests/lib/fake-qemu plays them. */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "machine/machine.h"

static char dir[] = "/tmp/labd-session-XXXXXX";
static char console_path[64], capture_path[64], kernel_path[64], source_path[64];
static int cancel_fd = -1;
static bool with_xen;
static const struct machine_ops *driver;
static unsigned int limit_scale = 1;

static void setup(void)
{
	char capture[200000];
	FILE *file;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(console_path, sizeof(console_path), "%s/console", dir);
	snprintf(capture_path, sizeof(capture_path), "%s/capture", dir);
	snprintf(kernel_path, sizeof(kernel_path), "%s/kernel", dir);
	snprintf(source_path, sizeof(source_path), "%s/source", dir);
	memset(capture, 'c', sizeof(capture));
	file = fopen(source_path, "w");
	fwrite(capture, 1, sizeof(capture), file);
	fclose(file);
	fclose(fopen(kernel_path, "w"));
	setenv("LABD_QEMU", "tests/lib/fake-qemu", 1);
	setenv("FAKE_CAPTURE", source_path, 1);
	signal(SIGPIPE, SIG_IGN);
	driver = machine_find("qemu");
}

static void teardown(void)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void count(void *arg)
{
	++*(int *)arg;
}

/*
 * Boots in that mode and does up to @runs runs. The return is the first error; @ret_end how the
 * boot ended.
 */
static int play(const char *mode, int runs, struct boot_end *ret_end)
{
	struct boot_request request = {
		.kernel = kernel_path,
		.image = kernel_path,
		.build_id = "abcd",
		.token = "t0ken",
		.cmdline = "extra=1",
		.runtime_dir = dir,
		.console_path = console_path,
		.cancel_fd = cancel_fd,
		.boot_timeout_ms = 1500 * limit_scale,
		.hang_timeout_ms = 700 * limit_scale,
		.stall_timeout_ms = 2000,
	};
	struct run_request run = {
		.capture_path = capture_path,
		.capture_max = 1 << 20,
		.timeout_ms = 700 * limit_scale,
		.started = count,
	};
	json_t *hello = NULL, *done = NULL, *job;
	struct boot *boot;
	int ret, started = 0;

	if (with_xen) {
		request.hypervisor = kernel_path;
		request.hypervisor_build_id = "dcba";
		request.hypervisor_cmdline = "sched=null";
		request.cmdline = "extra=1,2";
	}
	setenv("FAKE_MODE", mode, 1);
	ck_assert_int_eq(boot_start(driver, &request, &boot), 0);
	ret = boot_wait_hello(boot, &hello);
	for (int i = 0; !ret && i < runs; i++) {
		job = json_pack("{s:i}", "run", i);
		run.job = job;
		run.arg = &started;
		ret = boot_run(boot, &run, &done);
		json_decref(job);
		if (!ret)
			ck_assert_str_eq(json_string_value(json_object_get(done, "state")), "ok");
		if (!ret)
			json_decref(done);
		ck_assert_int_le(started, i + 1);
	}
	boot_finish(boot, ret_end);
	json_decref(hello);
	return ret;
}

static bool exists(const char *path)
{
	return !access(path, F_OK);
}

static bool part_exists(void)
{
	char part[80];

	snprintf(part, sizeof(part), "%s.part", capture_path);
	return exists(part);
}

START_TEST(good_boot)
{
	struct boot_end end;
	struct stat st;
	char *text;

	ck_assert_int_eq(play("ok", 2, &end), 0);
	ck_assert_int_eq(end.state, BOOT_OK);
	ck_assert_int_eq(stat(capture_path, &st), 0);
	ck_assert_int_eq(st.st_size, 200000);
	ck_assert_int_eq(read_file(console_path, 1 << 20, &text, NULL), 0);
	ck_assert_ptr_nonnull(strstr(text, "] [    0.000000] Linux version 6.12.0"));
	ck_assert_ptr_nonnull(strstr(text, "nokaslr tsc=reliable labd.token=t0ken extra=1"));
	ck_assert_ptr_nonnull(strstr(text, "] machine: warning: this is no emulator"));
	ck_assert_ptr_nonnull(strstr(text, "] agent: hello from the agent"));
	free(text);
}
END_TEST

/* What each kind of misbehaviour ends in, and what the sentence must say. */
static const struct {
	const char *mode;
	int error;
	enum boot_state state;
	const char *says;
} bad[] = {
	{"panic", -EPIPE, BOOT_PANIC, "Kernel panic - not syncing: VFS"},
	{"oops", -EPIPE, BOOT_OOPS, "BUG: kernel NULL pointer dereference"},
	{"late-oops", 0, BOOT_OOPS, "BUG: kernel NULL pointer dereference"},
	{"hang", -ETIMEDOUT, BOOT_HUNG, "fell silent"},
	{"chatty", -ETIMEDOUT, BOOT_TIMEOUT, "did not say hello within 1 s"},
	{"wrong-kernel", -EPROTO, BOOT_WRONG_KERNEL, "has build-id feed, the arm's has abcd"},
	{"wrong-token", -EPROTO, BOOT_WRONG_KERNEL, "token another, this boot's is t0ken"},
	{"old-agent", -EPROTO, BOOT_LOST_CONNECTION, "rebuild the image"},
	{"exit", -EPIPE, BOOT_LOST_CONNECTION, "switched off or reset by itself"},
	{"garbage", -EBADMSG, BOOT_LOST_CONNECTION, "no frames"},
	{"reboot", -EPIPE, BOOT_LOST_CONNECTION, "started a second time"},
	{"no-start", -EPIPE, BOOT_INFRA_FAILED, "status 1: could not set up guest memory"},
	{"killed", -EPIPE, BOOT_LOST_CONNECTION, "killed by signal 9"},
	{"stuck", -ETIMEDOUT, BOOT_HUNG, "did not end within"},
	{"oversize", -EFBIG, BOOT_WORKLOAD_FAILED, "at most 1048576"},
	{"short", -EPROTO, BOOT_LOST_CONNECTION, "capture of 200000 bytes and sent 199999"},
	{"long", -EPROTO, BOOT_LOST_CONNECTION, "more data than it announced"},
	{"other-run", -EPROTO, BOOT_LOST_CONNECTION, "another run"},
};

START_TEST(bad_boot)
{
	struct boot_end end;

	ck_assert_int_eq(play(bad[_i].mode, 1, &end), bad[_i].error);
	ck_assert_msg(end.state == bad[_i].state, "%s ended as %s: %s", bad[_i].mode,
		      boot_state_name(end.state), end.detail);
	ck_assert_msg(strstr(end.detail, bad[_i].says) != NULL, "%s: %s", bad[_i].mode, end.detail);
	ck_assert_int_eq(exists(capture_path), bad[_i].error == 0);
	ck_assert(!part_exists());
	if (bad[_i].state != BOOT_INFRA_FAILED)
		ck_assert_str_ne(end.console_lines, "");
}
END_TEST

START_TEST(good_xen_boot)
{
	struct boot_end end;
	char *text;

	with_xen = true;
	ck_assert_int_eq(play("ok", 2, &end), 0);
	ck_assert_msg(end.state == BOOT_OK, "%s", end.detail);
	ck_assert_int_eq(read_file(console_path, 1 << 20, &text, NULL), 0);
	ck_assert_ptr_nonnull(strstr(text, "] (xen)  Xen 4.17.5\n"));
	ck_assert_ptr_nonnull(strstr(text, "] (XEN) Xen version 4.17.5"));
	ck_assert_ptr_nonnull(strstr(text, " sched=null\n"));
	ck_assert_ptr_nonnull(strstr(text, "] [    0.000000] Linux version 6.12.0"));
	/* Through QEMU's doubled commas and back. */
	ck_assert_ptr_nonnull(strstr(text, "console=ttyS1,115200 "));
	ck_assert_ptr_nonnull(strstr(text, "labd.token=t0ken extra=1,2\n"));
	free(text);
	with_xen = false;
}
END_TEST

static const struct {
	const char *mode;
	int error;
	enum boot_state state;
	const char *says;
} bad_xen[] = {
	{"xen-panic", -EPIPE, BOOT_PANIC, "(XEN) Panic on CPU 1: FATAL PAGE FAULT"},
	{"dom0-crash", -EPIPE, BOOT_PANIC, "Kernel panic - not syncing: Fatal exception"},
	/* Two pipes keep no order between them. */
	{"dom0-crash-first", -EPIPE, BOOT_PANIC, "Kernel panic - not syncing: Fatal exception"},
	{"dom0-crash-mute", -EPIPE, BOOT_PANIC, "(XEN) Hardware Dom0 crashed"},
	{"iommu-fault", -EPIPE, BOOT_OOPS, "(XEN) AMD-Vi: IO_PAGE_FAULT"},
	{"wrong-hypervisor", -EPROTO, BOOT_WRONG_KERNEL, "has build-id feed, the arm's has dcba"},
	{"no-hypervisor", -EPROTO, BOOT_WRONG_KERNEL, "hypervisor"},
	{"hang", -ETIMEDOUT, BOOT_HUNG, "fell silent"},
};

START_TEST(bad_xen_boot)
{
	struct boot_end end;

	with_xen = true;
	ck_assert_int_eq(play(bad_xen[_i].mode, 1, &end), bad_xen[_i].error);
	ck_assert_msg(end.state == bad_xen[_i].state, "%s ended as %s: %s", bad_xen[_i].mode,
		      boot_state_name(end.state), end.detail);
	ck_assert_msg(strstr(end.detail, bad_xen[_i].says) != NULL, "%s: %s", bad_xen[_i].mode,
		      end.detail);
	with_xen = false;
}
END_TEST

START_TEST(finished_run_survives_death)
{
	struct boot_end end;

	ck_assert_int_lt(play("dies-between", 2, &end), 0);
	ck_assert_int_eq(end.state, BOOT_LOST_CONNECTION);
	ck_assert_ptr_nonnull(strstr(end.detail, "status 1"));
	ck_assert(exists(capture_path));
}
END_TEST

START_TEST(no_capture_is_no_file)
{
	struct boot_end end;

	ck_assert_int_eq(play("no-capture", 1, &end), 0);
	ck_assert_int_eq(end.state, BOOT_OK);
	ck_assert(!exists(capture_path));
}
END_TEST

START_TEST(cancel_ends_at_once)
{
	struct boot_end end;

	cancel_fd = eventfd(1, EFD_CLOEXEC);
	ck_assert_int_eq(play("hang", 1, &end), -ECANCELED);
	ck_assert_int_eq(end.state, BOOT_CANCELLED);
	close(cancel_fd);
	cancel_fd = -1;
}
END_TEST

START_TEST(infra)
{
	struct boot_end end;

	setenv("LABD_QEMU", "/nonexistent", 1);
	ck_assert_int_eq(play("ok", 1, &end), -ENOENT);
	ck_assert_int_eq(end.state, BOOT_INFRA_FAILED);
	ck_assert_str_eq(end.detail, "The qemu machine does not start: No such file or directory.");
	setenv("LABD_QEMU", "tests/lib/fake-qemu", 1);
	unlink(kernel_path);
	ck_assert_int_eq(play("ok", 1, &end), -ENOENT);
	ck_assert_int_eq(end.state, BOOT_INFRA_FAILED);
	ck_assert_ptr_nonnull(strstr(end.detail, "/kernel cannot be read: No such file"));
}
END_TEST

/* The part file cannot be made: the lab's fault, told by its own errno. */
START_TEST(disk_trouble)
{
	struct boot_end end;

	snprintf(capture_path, sizeof(capture_path), "%s/none/capture", dir);
	ck_assert_int_eq(play("ok", 1, &end), -ENOENT);
	ck_assert_int_eq(end.state, BOOT_INFRA_FAILED);
	ck_assert_ptr_nonnull(strstr(end.detail, "capture cannot be written"));
}
END_TEST

/* A machine with a clock of its own: fake-qemu with a page that a thread lets run. */
static struct {
	struct machine_ops ops;
	_Atomic int64_t *ns;	/* the test's own view of the page */
	int64_t at_power_on_ns; /* what it shows then */
	int64_t step_ns;	/* by so much it grows every 10 ms, 0 for a still one */
	pthread_t thread;
	atomic_bool stop;
} machine_clock;

static void *clock_main(void *arg)
{
	for (; !machine_clock.stop; usleep(10000))
		*machine_clock.ns += machine_clock.step_ns;
	return NULL;
}

static int boot_with_clock(const struct boot_request *request,
			   struct machine_transport *ret_transport)
{
	int fd = memfd_create("clock", MFD_CLOEXEC), ret;
	size_t size = sysconf(_SC_PAGESIZE);

	ret = machine_find("qemu")->boot(request, ret_transport);
	if (ret)
		return ret;
	ck_assert_int_eq(ftruncate(fd, size), 0);
	machine_clock.ns = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(machine_clock.ns, MAP_FAILED);
	*machine_clock.ns = machine_clock.at_power_on_ns;
	ret_transport->clock_ns = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne((void *)ret_transport->clock_ns, MAP_FAILED);
	close(fd);
	ck_assert_int_eq(pthread_create(&machine_clock.thread, NULL, clock_main, NULL), 0);
	return 0;
}

/* The same as play(), and how long it took. */
static int play_with_clock(const char *mode, int runs, struct boot_end *ret_end, double *ret_s)
{
	int64_t began = mono_ns();
	int ret;

	machine_clock.ops = *machine_find("qemu");
	machine_clock.ops.boot = boot_with_clock;
	driver = &machine_clock.ops;
	ret = play(mode, runs, ret_end);
	*ret_s = (mono_ns() - began) / 1e9;
	machine_clock.stop = true;
	pthread_join(machine_clock.thread, NULL);
	return ret;
}

/*
 * Limits are the machine's time. A fast clock reaches large ones early: a thousand times those
 * of bad[], at about five hundred times the speed. A slow one does not reach small ones, however
 * long the host takes: a hundredth of the host's speed.
 */
static const struct {
	const char *mode;
	int runs;
	int64_t step_ns;
	unsigned int scale;
	int error;
	enum boot_state state;
	const char *says;
} clocked[] = {
	{"hang", 1, 5000000000, 1000, -ETIMEDOUT, BOOT_HUNG, "before its agent said hello"},
	{"chatty", 1, 5000000000, 1000, -ETIMEDOUT, BOOT_TIMEOUT, "hello within 1500 s"},
	{"stuck", 1, 5000000000, 1000, -ETIMEDOUT, BOOT_HUNG, "did not end within 700 s"},
	{"no-power-off", 1, 5000000000, 1000, 0, BOOT_HUNG, "did not power off within 30 s"},
	{"slow", 2, 100000, 1, 0, BOOT_OK, ""},
	{"hang", 1, 0, 100, -ETIMEDOUT, BOOT_HUNG, "time stood still at 1.5 s for 2 s"},
	{"stuck", 1, 0, 100, -ETIMEDOUT, BOOT_HUNG, "time stood still at 1.5 s for 2 s"},
	/* The console's words are no sign that the machine goes on. */
	{"chatty", 1, 0, 100, -ETIMEDOUT, BOOT_HUNG, "time stood still at 1.5 s for 2 s"},
	/* All was done before the clock stopped, and is only being passed on. */
	{"slow", 2, 0, 100, 0, BOOT_OK, ""},
};

START_TEST(machine_time)
{
	struct boot_end end;
	double took_s;

	machine_clock.step_ns = clocked[_i].step_ns;
	machine_clock.at_power_on_ns = clocked[_i].step_ns ? 0 : 1500000000;
	limit_scale = clocked[_i].scale;
	ck_assert_int_eq(play_with_clock(clocked[_i].mode, clocked[_i].runs, &end, &took_s),
			 clocked[_i].error);
	ck_assert_msg(end.state == clocked[_i].state, "%s ended as %s: %s", clocked[_i].mode,
		      boot_state_name(end.state), end.detail);
	ck_assert_msg(strstr(end.detail, clocked[_i].says) != NULL, "%s", end.detail);
	ck_assert_msg(took_s < 20, "%s took %.1f s", clocked[_i].mode, took_s);
	if (!strcmp(clocked[_i].mode, "slow"))
		ck_assert_msg(took_s > 2, "%s took %.1f s", clocked[_i].mode, took_s);
}
END_TEST

START_TEST(describe)
{
	json_t *description;
	char *text;

	ck_assert_int_eq(machine_find("qemu")->describe(_i, &description), 0);
	ck_assert_str_eq(json_string_value(json_object_get(description, "qemu_version")),
			 "QEMU emulator version 0.0 (fake)");
	ck_assert(json_is_boolean(json_object_get(description, "emulated")));
	text = json_dumps(json_object_get(description, "argv"), 0);
	ck_assert_int_eq(strstr(text, "amd-iommu") != NULL, _i);
	free(text);
	json_decref(description);
	ck_assert_ptr_null(machine_find("toaster"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("session");
	TCase *tcase = tcase_create("session");
	SRunner *runner = srunner_create(suite);

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, good_boot);
	tcase_add_loop_test(tcase, bad_boot, 0, ARRAY_SIZE(bad));
	tcase_add_test(tcase, good_xen_boot);
	tcase_add_loop_test(tcase, bad_xen_boot, 0, ARRAY_SIZE(bad_xen));
	tcase_add_test(tcase, finished_run_survives_death);
	tcase_add_test(tcase, no_capture_is_no_file);
	tcase_add_test(tcase, cancel_ends_at_once);
	tcase_add_test(tcase, infra);
	tcase_add_test(tcase, disk_trouble);
	tcase_add_loop_test(tcase, machine_time, 0, ARRAY_SIZE(clocked));
	tcase_add_loop_test(tcase, describe, 0, 2);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	return srunner_ntests_failed(runner) ? 1 : 0;
}
