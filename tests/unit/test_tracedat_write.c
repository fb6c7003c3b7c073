// SPDX-License-Identifier: GPL-2.0-only
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "capture/tracedat_write.h"

#define PAGE 4096

struct output {
	uint8_t *bytes;
	size_t size;
	size_t room;
};

static int collect(void *arg, const void *data, size_t size)
{
	struct output *out = arg;

	if (size > out->room - out->size)
		return -ENOSPC;
	memcpy(out->bytes + out->size, data, size);
	out->size += size;
	return 0;
}

/* Walks the file as its reader would. */
struct cursor {
	const struct output *out;
	size_t at;
};

static uint64_t number(struct cursor *c, size_t width)
{
	uint64_t value = 0;

	ck_assert_uint_le(c->at + width, c->out->size);
	for (size_t i = 0; i < width; i++)
		value |= (uint64_t)c->out->bytes[c->at + i] << (8 * i);
	c->at += width;
	return value;
}

static void bytes(struct cursor *c, const void *want, size_t size)
{
	ck_assert_uint_le(c->at + size, c->out->size);
	ck_assert_mem_eq(c->out->bytes + c->at, want, size);
	c->at += size;
}

static void blob(struct cursor *c, size_t width, const char *want)
{
	ck_assert_uint_eq(number(c, width), strlen(want));
	bytes(c, want, strlen(want));
}

/* A file of @pages pages, page i filled with @first + i. */
static int make_pages(size_t pages, uint8_t first)
{
	uint8_t page[PAGE];
	int fd = memfd_create("pages", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	for (size_t i = 0; i < pages; i++) {
		memset(page, first + i, sizeof(page));
		ck_assert_int_eq(write(fd, page, sizeof(page)), sizeof(page));
	}
	return fd;
}

#define BLOB(text)                     \
	{                              \
		text, sizeof(text) - 1 \
	}

static const struct tracedat_blob ftrace[] = {BLOB("name: function\n"), BLOB("name: print\n")};
static const struct tracedat_blob formats[] = {BLOB("name: sys_enter\n"), BLOB("name: zap\n")};
static const struct tracedat_system systems[] = {
	{"raw_syscalls", &formats[0], 1},
	{"labd", &formats[1], 1},
};
static const struct tracedat_option options[] = {
	{TRACEDAT_OPTION_TRACECLOCK, BLOB("local [mono]")},
	{TRACEDAT_OPTION_CPUSTAT, BLOB("CPU: 0\nentries: 0\n")},
};

static struct tracedat sample(const struct tracedat_cpu *cpus, size_t n_cpus)
{
	return (struct tracedat){
		.page_size = PAGE,
		.header_page = BLOB("page"),
		.header_event = BLOB("event"),
		.ftrace_formats = ftrace,
		.n_ftrace_formats = 2,
		.systems = systems,
		.n_systems = 2,
		.printk_formats = BLOB("0x1 : \"x\"\n"),
		.saved_cmdlines = BLOB("1 init\n"),
		.options = options,
		.n_options = 2,
		.cpus = cpus,
		.n_cpus = n_cpus,
	};
}

START_TEST(layout)
{
	struct tracedat_cpu cpus[] = {
		{make_pages(3, 10), 3 * PAGE}, {-1, 0}, {make_pages(70, 50), 70 * PAGE}};
	struct tracedat file = sample(cpus, 3);
	uint64_t size, offsets[3];
	struct output out = {0};
	struct cursor c = {&out, 0};

	ck_assert_int_eq(tracedat_size(&file, &size), 0);
	out.room = size;
	out.bytes = malloc(size);
	ck_assert_int_eq(tracedat_write(&file, collect, &out), 0);
	ck_assert_uint_eq(out.size, size);

	bytes(&c, "\x17\x08\x44tracing6\0\0\x08", 14);
	ck_assert_uint_eq(number(&c, 4), PAGE);
	bytes(&c, "header_page", 12);
	blob(&c, 8, "page");
	bytes(&c, "header_event", 13);
	blob(&c, 8, "event");
	ck_assert_uint_eq(number(&c, 4), 2);
	blob(&c, 8, "name: function\n");
	blob(&c, 8, "name: print\n");
	ck_assert_uint_eq(number(&c, 4), 2);
	bytes(&c, "raw_syscalls", 13);
	ck_assert_uint_eq(number(&c, 4), 1);
	blob(&c, 8, "name: sys_enter\n");
	bytes(&c, "labd", 5);
	ck_assert_uint_eq(number(&c, 4), 1);
	blob(&c, 8, "name: zap\n");
	blob(&c, 4, ""); /* kallsyms */
	blob(&c, 4, "0x1 : \"x\"\n");
	blob(&c, 8, "1 init\n");
	ck_assert_uint_eq(number(&c, 4), 3);
	bytes(&c, "options  ", 10);
	ck_assert_uint_eq(number(&c, 2), 4);
	blob(&c, 4, "local [mono]");
	ck_assert_uint_eq(number(&c, 2), 2);
	blob(&c, 4, "CPU: 0\nentries: 0\n");
	ck_assert_uint_eq(number(&c, 2), 0);
	bytes(&c, "flyrecord", 10);
	for (int i = 0; i < 3; i++) {
		offsets[i] = number(&c, 8);
		ck_assert_uint_eq(offsets[i] % PAGE, 0);
		ck_assert_uint_eq(number(&c, 8), cpus[i].size);
	}
	ck_assert_uint_ge(offsets[0], c.at);
	ck_assert_uint_lt(offsets[0], c.at + PAGE);
	while (c.at < offsets[0])
		ck_assert_uint_eq(number(&c, 1), 0);
	ck_assert_uint_eq(offsets[1], offsets[0] + 3 * PAGE);
	ck_assert_uint_eq(offsets[2], offsets[1]);
	ck_assert_uint_eq(offsets[2] + 70 * PAGE, size);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(out.bytes[offsets[0] + i * PAGE + PAGE - 1], 10 + i);
	for (int i = 0; i < 70; i++)
		ck_assert_uint_eq(out.bytes[offsets[2] + i * PAGE + 1], 50 + i);
	free(out.bytes);
	close(cpus[0].fd);
	close(cpus[2].fd);
}
END_TEST

START_TEST(header_that_ends_on_a_page)
{
	struct tracedat_cpu cpu = {make_pages(1, 1), PAGE};
	struct tracedat file = sample(&cpu, 1);
	char text[2 * PAGE] = "";
	uint64_t size, last = 0;

	/* Whatever the header's length, the data starts at the next page, and only there. */
	file.saved_cmdlines.data = text;
	for (size_t i = 0; i < sizeof(text); i++) {
		file.saved_cmdlines.size = i;
		ck_assert_int_eq(tracedat_size(&file, &size), 0);
		ck_assert_uint_eq(size % PAGE, 0);
		ck_assert(!i || size == last || size == last + PAGE);
		last = size;
	}
	ck_assert_uint_eq(size, 4 * PAGE);
	close(cpu.fd);
}
END_TEST

START_TEST(refusals)
{
	struct tracedat_cpu cpu = {-1, PAGE + 1};
	struct tracedat file = sample(&cpu, 1);
	uint64_t size = 42;

	ck_assert_int_eq(tracedat_size(&file, &size), -EINVAL);
	cpu.size = PAGE;
	file.page_size = 5000;
	ck_assert_int_eq(tracedat_size(&file, &size), -EINVAL);
	file.page_size = 0;
	ck_assert_int_eq(tracedat_size(&file, &size), -EINVAL);
	file.page_size = PAGE;
	file.kallsyms = (struct tracedat_blob){"", 1ull << 32};
	ck_assert_int_eq(tracedat_size(&file, &size), -EFBIG);
	ck_assert_uint_eq(size, 42);
}
END_TEST

START_TEST(failures)
{
	struct tracedat_cpu cpu = {make_pages(2, 1), 3 * PAGE};
	struct tracedat file = sample(&cpu, 1);
	struct output out = {.bytes = malloc(8 * PAGE), .room = 8 * PAGE};

	ck_assert_int_eq(tracedat_write(&file, collect, &out), -EIO); /* one page short */
	out.size = 0;
	out.room = PAGE + 1;
	ck_assert_int_eq(tracedat_write(&file, collect, &out), -ENOSPC);
	close(cpu.fd);
	cpu.fd = -1;
	out.size = 0;
	out.room = 8 * PAGE;
	ck_assert_int_eq(tracedat_write(&file, collect, &out), -EBADF);
	free(out.bytes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tracedat_write");
	TCase *tests = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_test(tests, layout);
	tcase_add_test(tests, header_that_ends_on_a_page);
	tcase_add_test(tests, refusals);
	tcase_add_test(tests, failures);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
