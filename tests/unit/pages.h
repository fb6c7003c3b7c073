/* SPDX-License-Identifier: GPL-2.0-only */
/* Ring-buffer pages and captures made by hand, for the tests of what reads them. */
#ifndef TESTS_PAGES_H
#define TESTS_PAGES_H

#include <check.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/util.h"
#include "capture/tracedat_write.h"

#define PAGE_SIZE 4096

/* 8-byte words, so that records are aligned as in a page of the kernel's. */
struct test_page {
	union {
		uint64_t words[PAGE_SIZE / 8];
		uint8_t bytes[PAGE_SIZE];
	};
	size_t used;
};

static inline void page_start(struct test_page *page, uint64_t ts)
{
	memset(page, 0, sizeof(*page));
	page->words[0] = ts;
}

static inline void page_word(struct test_page *page, uint32_t word)
{
	ck_assert_uint_le(16 + page->used + 4, PAGE_SIZE);
	memcpy(page->bytes + 16 + page->used, &word, 4);
	page->used += 4;
	page->words[1] = (page->words[1] & ~0x7ffffffull) | page->used;
}

/* Head word of a record: 5 bits of type or length in words, 27 of time. */
static inline void page_head(struct test_page *page, uint32_t type, uint32_t delta)
{
	page_word(page, type | delta << 5);
}

static inline void page_data(struct test_page *page, const void *data, size_t size)
{
	for (size_t i = 0; i < size; i += 4) {
		uint32_t word = 0;

		memcpy(&word, (const uint8_t *)data + i, size - i < 4 ? size - i : 4);
		page_word(page, word);
	}
}

static inline void page_record(struct test_page *page, uint32_t delta, const void *data,
			       size_t size)
{
	size_t words = (size + 3) / 4;

	if (words <= 28) {
		page_head(page, words, delta);
	} else {
		page_head(page, 0, delta);
		page_word(page, size + 4);
	}
	page_data(page, data, size);
}

/* @count < 0: the ring does not say how many. */
static inline void page_missed(struct test_page *page, int64_t count)
{
	page->words[1] |= 1ull << 31;
	if (count >= 0) {
		page->words[1] |= 1ull << 30;
		memcpy(page->bytes + 16 + page->used, &count, 8);
	}
}

#define HEADER_PAGE                                                 \
	"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"  \
	"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n" \
	"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"  \
	"\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n"

#define COMMON_FIELDS                                                                  \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

#define FORMAT(name, id, fields)                                      \
	"name: " name "\nID: " #id "\nformat:\n" COMMON_FIELDS fields \
	"\nprint fmt: \"%d\", REC->common_pid\n"

#define BLOB(text)                   \
	{                            \
		(text), strlen(text) \
	}

static inline int capture_out(void *arg, const void *data, size_t size)
{
	return write_all(*(int *)arg, data, size);
}

/* A capture of two CPUs; all events are of the system "lab". */
static inline void write_capture(const char *path, const char *const *formats, size_t n_formats,
				 const struct test_page *cpu0, size_t n0,
				 const struct test_page *cpu1, size_t n1)
{
	const struct test_page *pages[] = {cpu0, cpu1};
	size_t counts[] = {n0, n1};
	struct tracedat_blob blobs[8];
	struct tracedat_system system = {"lab", blobs, n_formats};
	struct tracedat_cpu cpus[2];
	struct tracedat_option options[] = {
		{TRACEDAT_OPTION_CPUSTAT, BLOB("CPU: 0\nentries: 0\n")},
		{TRACEDAT_OPTION_CPUSTAT, BLOB("CPU: 1\nentries: 0\n")},
		{TRACEDAT_OPTION_TRACECLOCK, BLOB("local global [mono] boot\n")},
		{TRACEDAT_OPTION_UNAME, BLOB("Linux lab 6.12")},
	};
	struct tracedat file = {
		.page_size = PAGE_SIZE,
		.header_page = BLOB(HEADER_PAGE),
		.header_event = BLOB("# compressed entry header\n"),
		.systems = &system,
		.n_systems = 1,
		.options = options,
		.n_options = ARRAY_SIZE(options),
		.cpus = cpus,
		.n_cpus = 2,
	};
	int fd;

	ck_assert_uint_le(n_formats, ARRAY_SIZE(blobs));
	for (size_t i = 0; i < n_formats; i++)
		blobs[i] = (struct tracedat_blob)BLOB(formats[i]);
	for (size_t cpu = 0; cpu < 2; cpu++) {
		cpus[cpu] = (struct tracedat_cpu){memfd_create("cpu", MFD_CLOEXEC),
						  counts[cpu] * PAGE_SIZE};
		for (size_t i = 0; i < counts[cpu]; i++)
			ck_assert_int_eq(write_all(cpus[cpu].fd, pages[cpu][i].bytes, PAGE_SIZE),
					 0);
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(tracedat_write(&file, capture_out, &fd), 0);
	close(fd);
	close(cpus[0].fd);
	close(cpus[1].fd);
}

#endif
