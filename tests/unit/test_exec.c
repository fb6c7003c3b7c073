// SPDX-License-Identifier: GPL-2.0-only
/*
 * Plans carried out on several machines at once, and boots that are repeated. The machines are
 * played by tests/lib/fake-qemu, through a driver that says of itself what a test needs.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "plan/exec.h"
#include "plan/progress.h"
#include "plan/slot_boot.h"
#include "store/datadir.h"
#include "store/db.h"

#define MACHINES 3
#define BOOTS_MAX 16

static char dir[64], builds[80], images[80];
static struct sched sched;
static struct exec *experiment;
static int lock_fd;

/* What the driver was asked for, and what it does. */
static struct {
	atomic_uint running;
	atomic_uint peak;
	atomic_uint wanted; /* boots wait for each other until so many have run at once */
	atomic_uint boots;
	atomic_bool elsewhere; /* a boot came from another thread than the test's */
	pthread_t tester;
	const char *first_mode; /* of the first boot alone, NULL for none */
	size_t jobs[BOOTS_MAX];
} driver;

static unsigned int three(void)
{
	return MACHINES;
}

static void raise_peak(unsigned int running)
{
	unsigned int peak = driver.peak;

	while (running > peak && !atomic_compare_exchange_weak(&driver.peak, &peak, running))
		;
}

static int test_boot(const struct boot_request *request, struct machine_transport *ret_transport)
{
	unsigned int number = driver.boots++;
	int ret;

	ck_assert_uint_lt(number, BOOTS_MAX);
	driver.jobs[number] = json_array_size(request->jobs);
	if (!pthread_equal(pthread_self(), driver.tester))
		driver.elsewhere = true;
	raise_peak(++driver.running);
	for (int i = 0; i < 1000 && driver.peak < driver.wanted; i++)
		usleep(10000);
	if (driver.first_mode)
		setenv("FAKE_MODE", number ? "ok" : driver.first_mode, 1);
	ret = machine_find("qemu")->boot(request, ret_transport);
	if (ret)
		driver.running--;
	return ret;
}

static void test_kill(struct machine_transport *transport)
{
	if (transport->pid_fd >= 0)
		driver.running--;
	machine_find("qemu")->kill(transport);
}

static struct machine_ops ops;

static void put(const char *name, char *text)
{
	char *path = str_printf("%s/%s", dir, name);

	ck_assert_int_eq(write_file_atomic(path, text, strlen(text), 0644), 0);
	free(path);
	free(text);
}

static void submit(unsigned int rounds)
{
	char *body = str_printf(
		"{\"name\":\"t\",\"machine\":\"qemu\",\"subject\":\"kvm\",\"rounds\":%u,"
		"\"arms\":[{\"name\":\"base\",\"build\":\"b\"},{\"name\":\"hint\",\"build\":\"h\"}],"
		"\"scenarios\":[{\"name\":\"one\",\"workload\":\"w\"},{\"name\":\"two\","
		"\"workload\":\"w\"}],\"metrics\":[{\"name\":\"m\",\"workload_key\":\"k\","
		"\"unit\":\"1\"}]}",
		rounds);
	struct problem problem = {0};
	char reason[256] = "";
	bool created;
	int64_t id;

	ck_assert_msg(!sched_submit(&sched, body, strlen(body), NULL, &id, &created, &problem),
		      "%s: %s", problem.key, problem.detail);
	ck_assert_msg(!exec_open(&sched, id, &experiment, reason), "%s", reason);
	sched.current = id;
	experiment->ops = &ops;
	free(body);
}

static void put_build(const char *name)
{
	char *file = str_printf("builds/%s.json", name);

	put(file, str_printf("{\"name\":\"%s\",\"subject\":\"kvm\",\"kernel\":\"%s/kernel\","
			     "\"build_id\":\"abababababababababab\"}",
			     name, dir));
	free(file);
}

static void setup(void)
{
	strcpy(dir, "/tmp/labd-exec.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(builds, sizeof(builds), "%s/builds", dir);
	snprintf(images, sizeof(images), "%s/images", dir);
	ck_assert_int_eq(datadir_open(dir, &lock_fd), 0);
	ck_assert_int_eq(make_dir(builds, 0755) ?: make_dir(images, 0755), 0);
	put("kernel", str_printf("a kernel"));
	put_build("b");
	put_build("h");
	put("images/kvm.json",
	    str_printf("{\"name\":\"kvm\",\"image\":\"%s/kernel\",\"sha256\":\"%064d\",\"files\":["
		       "{\"path\":\"/bin/w\",\"sha256\":\"%064d\"}]}",
		       dir, 1, 2));
	setenv("LABD_QEMU", "tests/lib/fake-qemu", 1);
	setenv("FAKE_BUILD_ID", "abababababababababab", 1);
	setenv("FAKE_CAPTURE", "tests/fuzz/seeds/fuzz_tracedat/sched.dat", 1);
	setenv("FAKE_WORKLOAD", "{\"k\":5}", 1);
	setenv("FAKE_MODE", "ok", 1);
	signal(SIGPIPE, SIG_IGN);

	sched.config = (struct sched_config){dir, builds, images, NULL, NULL};
	pthread_mutex_init(&sched.lock, NULL);
	pthread_cond_init(&sched.wake, NULL);
	sched.cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ck_assert_int_eq(db_open_writer(dir, &sched.db), 0);
	driver.tester = pthread_self();
	ops = *machine_find("qemu");
	ops.boot = test_boot;
	ops.kill = test_kill;
}

static void teardown(void)
{
	char command[96];

	exec_close(experiment);
	db_close(sched.db);
	close(sched.cancel_fd);
	close(lock_fd);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void expect(const char *sql, int64_t want)
{
	int64_t value = -1;

	ck_assert_int_eq(db_get_int(sched.db, &value, sql, ""), 0);
	ck_assert_msg(value == want, "%s: %lld, not %lld", sql, (long long)value, (long long)want);
}

static void expect_all_done(int64_t slots)
{
	expect("SELECT count(*) FROM slot WHERE state = 'done'", slots);
	expect("SELECT count(*) FROM boot WHERE state = 'ok'", slots);
	expect("SELECT count(*) FROM run WHERE state = 'ok'", 2 * slots);
	expect("SELECT count(*) FROM sample WHERE value = 5", 2 * slots);
	expect("SELECT count(DISTINCT slot || ' ' || place) FROM run", 2 * slots);
}

START_TEST(several_machines)
{
	char reason[256] = "";

	submit(4);
	ops.capacity = three;
	driver.wanted = MACHINES;
	ck_assert_msg(!exec_experiment(experiment, reason), "%s", reason);
	ck_assert_uint_eq(driver.peak, MACHINES);
	ck_assert_uint_eq(driver.running, 0);
	ck_assert(driver.elsewhere);
	expect_all_done(8);
	/* Begun in the plan's order: boots are numbered as they begin. */
	expect("SELECT max(abs(s.position - b.id)) < 3 FROM boot b JOIN slot s ON s.id = b.slot",
	       1);
}
END_TEST

START_TEST(one_machine)
{
	char reason[256] = "";

	submit(2);
	ck_assert_msg(!exec_experiment(experiment, reason), "%s", reason);
	ck_assert_uint_eq(driver.peak, 1);
	ck_assert(!driver.elsewhere);
	expect_all_done(4);
	expect("SELECT count(*) FROM boot b JOIN slot s ON s.id = b.slot WHERE s.position <> b.id",
	       0);
}
END_TEST

static size_t count_captures(void)
{
	char *path = str_printf("%s/captures/1", dir);
	DIR *folder = opendir(path);
	size_t n = 0;

	ck_assert_ptr_nonnull(folder);
	for (struct dirent *entry; (entry = readdir(folder));)
		n += *entry->d_name != '.';
	closedir(folder);
	free(path);
	return n;
}

/*
 * The first boot dies after its first run. Where a run depends on those before it, the second boot
 * does that one again and throws it away; elsewhere it is skipped.
 */
START_TEST(second_try)
{
	bool deterministic = _i;
	char reason[256] = "";

	submit(1);
	ops.deterministic = deterministic;
	driver.first_mode = "dies-between";
	ck_assert_msg(!exec_experiment(experiment, reason), "%s", reason);
	ck_assert_uint_eq(driver.boots, 3);
	ck_assert_uint_eq(driver.jobs[0], 2);
	ck_assert_uint_eq(driver.jobs[1], deterministic ? 2 : 1);
	ck_assert_uint_eq(driver.jobs[2], 2);
	expect("SELECT count(*) FROM slot WHERE state = 'done'", 2);
	expect("SELECT count(*) FROM run WHERE state = 'ok'", 4);
	expect("SELECT count(*) FROM run WHERE state = 'interrupted'", 1);
	expect("SELECT count(DISTINCT token) FROM boot WHERE slot = 1", deterministic ? 1 : 2);
	/* Two arms of one build are the same machine. */
	expect("SELECT count(DISTINCT token) FROM boot", deterministic ? 1 : 3);
	expect("SELECT min(length(token)) = 32 AND max(length(token)) = 32 FROM boot", 1);
	ck_assert_uint_eq(count_captures(), 4);
}
END_TEST

/* The token of a deterministic machine: the same for the same, another for another. */
START_TEST(token_is_of_the_content)
{
	const struct plan_slot *slot;
	struct slot_request *a, *b;
	json_t *jobs;

	submit(1);
	slot = experiment->plan->slots;
	a = calloc(2, sizeof(*a));
	b = a + 1;
	jobs = jobs_make(experiment->spec, slot);
	ck_assert_uint_eq(json_array_size(jobs), slot->n_runs);
	for (size_t place = 0; place < slot->n_runs; place++)
		ck_assert_uint_eq(job_place(json_array_get(jobs, place)), place);
	ck_assert_int_eq(slot_request_make(experiment, slot, jobs, "c", a), 0);
	ck_assert_int_eq(slot_request_make(experiment, slot, jobs, "c", b), 0);
	ck_assert_str_ne(a->token, b->token);
	ops.deterministic = true;
	ck_assert_int_eq(slot_request_make(experiment, slot, jobs, "c", a), 0);
	ck_assert_int_eq(slot_request_make(experiment, slot, jobs, "other", b), 0);
	ck_assert_str_eq(a->token, b->token);
	/* 60 s to HELLO, two runs, 30 s to power off, 60 s to spare. */
	ck_assert_uint_gt(a->boot.limit_ms, a->boot.boot_timeout_ms + 2 * 120000 + 30000);
	json_array_remove(jobs, 1);
	ck_assert_int_eq(slot_request_make(experiment, slot, jobs, "c", b), 0);
	ck_assert_str_ne(a->token, b->token);
	ck_assert_uint_lt(b->boot.limit_ms, a->boot.limit_ms);
	json_decref(jobs);
	jobs = jobs_make(experiment->spec, slot);
	json_object_set_new(experiment->image, "sha256", json_string("another"));
	ck_assert_int_eq(slot_request_make(experiment, slot, jobs, "c", b), 0);
	ck_assert_str_ne(a->token, b->token);
	json_decref(jobs);
	free(a);
}
END_TEST

/* Once every machine is in its first run: what a client is shown, then the end. */
static void *cancel_main(void *arg)
{
	struct problem problem = {0};
	json_t *progress;
	int64_t running;
	char *text;

	for (int i = 0; i < 1000; i++) {
		usleep(10000);
		pthread_mutex_lock(&sched.lock);
		ck_assert_int_eq(db_get_int(sched.db, &running,
					    "SELECT count(*) FROM run WHERE state = 'running'", ""),
				 0);
		ck_assert_int_eq(progress_json(sched.db, experiment->id, &text), 0);
		pthread_mutex_unlock(&sched.lock);
		if (running == MACHINES)
			break;
		free(text);
	}
	progress = json_loads(text, 0, NULL);
	free(text);
	*(int *)arg = sched_cancel(&sched, experiment->id, &problem);
	ck_assert_int_eq(json_integer_value(json_object_get(progress, "running")), MACHINES);
	ck_assert_int_eq(
		json_integer_value(json_object_get(json_object_get(progress, "current"), "boot")),
		1);
	json_decref(progress);
	return NULL;
}

START_TEST(cancel_ends_all)
{
	char reason[256] = "";
	pthread_t canceller;
	int ret = -1;

	submit(4);
	ops.capacity = three;
	setenv("FAKE_MODE", "stuck", 1);
	ck_assert_int_eq(pthread_create(&canceller, NULL, cancel_main, &ret), 0);
	ck_assert_int_eq(exec_experiment(experiment, reason), -ECANCELED);
	pthread_join(canceller, NULL);
	ck_assert_int_eq(ret, 0);
	ck_assert_uint_eq(driver.boots, MACHINES);
	ck_assert_uint_eq(driver.running, 0);
	expect("SELECT count(*) FROM boot WHERE state = 'cancelled'", MACHINES);
	expect("SELECT count(*) FROM run WHERE state = 'interrupted'", MACHINES);
	expect("SELECT count(*) FROM slot WHERE state = 'planned'", 8);
}
END_TEST

/* In a process of its own: begins an experiment whose runs never end. */
static void begin_and_be_killed(void)
{
	char reason[256] = "";

	ck_assert_int_eq(db_open_writer(dir, &sched.db), 0);
	setenv("FAKE_MODE", "stuck", 1);
	submit(4);
	ops.capacity = three;
	exec_experiment(experiment, reason);
	_exit(1);
}

static void await(sqlite3 *db, const char *sql)
{
	int64_t yes = 0;

	for (int i = 0; i < 3000 && !yes; i++) {
		usleep(10000);
		db_get_int(db, &yes, sql, "");
	}
	ck_assert_msg(yes, "%s", sql);
}

/* A labd that was killed with several boots in work: the next one does all of them again. */
START_TEST(killed_with_several)
{
	struct sched *next;
	sqlite3 *reader;
	pid_t pid;

	db_close(sched.db);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		begin_and_be_killed();
	ck_assert_int_eq(db_open_reader(dir, &reader), 0);
	await(reader, "SELECT count(*) = 3 FROM run WHERE state = 'running'");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(sched_start(&sched.config, &next), 0);
	await(reader, "SELECT state = 'done' FROM experiment");
	sched_stop(next);
	db_close(reader);
	ck_assert_int_eq(db_open_writer(dir, &sched.db), 0);
	expect("SELECT count(*) FROM boot WHERE state = 'disturbed'", MACHINES);
	expect("SELECT count(*) FROM run WHERE state = 'interrupted'", MACHINES);
	expect("SELECT count(*) FROM slot WHERE state = 'done'", 8);
	expect("SELECT count(*) FROM run WHERE state = 'ok'", 16);
}
END_TEST

/* The pool by itself. */
#define PIECES 20

static struct {
	atomic_uint begun[PIECES];
	atomic_uint n;
	size_t fails_at; /* PIECES for never */
	atomic_bool failed;
} work;

static int do_piece(void *arg, size_t index, const atomic_bool *stop, char reason[256])
{
	ck_assert_ptr_eq(arg, &work);
	work.begun[index]++;
	work.n++;
	if (index == work.fails_at) {
		work.failed = true;
		snprintf(reason, 256, "piece %zu", index);
		return -EIO;
	}
	/* The others are in work when the first fails, and fail after it. */
	if (index > work.fails_at || (work.fails_at < PIECES && index + 1 == work.fails_at)) {
		while (!*stop)
			usleep(1000);
		snprintf(reason, 256, "too late");
		return -ENOSPC;
	}
	return 0;
}

static const struct {
	unsigned int workers;
	size_t n, fails_at;
	unsigned int most; /* so many are begun at most */
} pools[] = {
	{1, PIECES, PIECES, PIECES}, {3, PIECES, PIECES, PIECES}, {64, 5, PIECES, 5},
	{0, 3, PIECES, 3},	     {4, 0, PIECES, 0},		  {2, PIECES, 4, 6},
	{4, PIECES, 4, 8},	     {1, PIECES, 0, 1},
};

START_TEST(pool)
{
	bool fails = pools[_i].fails_at < pools[_i].n;
	char reason[256] = "none";

	work.fails_at = pools[_i].fails_at;
	ck_assert_int_eq(exec_pool(pools[_i].workers, pools[_i].n, do_piece, &work, reason),
			 fails ? -EIO : 0);
	ck_assert_str_eq(reason, !fails ? "none" : !pools[_i].fails_at ? "piece 0" : "piece 4");
	ck_assert_uint_le(work.n, pools[_i].most);
	for (size_t i = 0; i < (fails ? pools[_i].fails_at + 1 : pools[_i].n); i++)
		ck_assert_uint_eq(work.begun[i], 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exec");
	TCase *exec = tcase_create("exec"), *pieces = tcase_create("pool");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(exec, setup, teardown);
	tcase_set_timeout(exec, 60);
	tcase_add_test(exec, several_machines);
	tcase_add_test(exec, one_machine);
	tcase_add_loop_test(exec, second_try, 0, 2);
	tcase_add_test(exec, token_is_of_the_content);
	tcase_add_test(exec, cancel_ends_all);
	tcase_add_test(exec, killed_with_several);
	tcase_add_loop_test(pieces, pool, 0, ARRAY_SIZE(pools));
	suite_add_tcase(suite, exec);
	suite_add_tcase(suite, pieces);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
