// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace.dat version 6. The layout is described in trace-cmd.dat.v6(5); numbers are little-endian,
 * which the file says in its first bytes.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/tracedat_write.h"

#define COPY_CHUNK (256u * 1024)

/*
 * One walk over the file serves both purposes: with @out NULL it only counts. The place of each
 * CPU's pages depends on the size of what precedes them, so writing counts first.
 */
struct sink {
	tracedat_out_fn out;
	void *arg;
	uint64_t offset;
};

static int put(struct sink *sink, const void *data, size_t size)
{
	int ret = 0;

	if (sink->out && size)
		ret = sink->out(sink->arg, data, size);
	if (ret >= 0)
		sink->offset += size;
	return ret < 0 ? ret : 0;
}

static int put_number(struct sink *sink, uint64_t value, size_t size)
{
	uint8_t bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[i] = value >> (8 * i);
	return put(sink, bytes, size);
}

/* A length of @width bytes and the blob behind it. */
static int put_blob(struct sink *sink, const struct tracedat_blob *blob, size_t width)
{
	int ret;

	if (width < sizeof(uint64_t) && (uint64_t)blob->size >> (8 * width))
		return -EFBIG;
	ret = put_number(sink, blob->size, width);
	return ret ?: put(sink, blob->data, blob->size);
}

static int put_formats(struct sink *sink, const struct tracedat_blob *formats, size_t count)
{
	int ret = put_number(sink, count, 4);

	for (size_t i = 0; i < count && !ret; i++)
		ret = put_blob(sink, &formats[i], 8);
	return ret;
}

static int put_headers(struct sink *sink, const struct tracedat *file)
{
	static const uint8_t magic[] = "\x17\x08\x44tracing6"; /* its NUL is part of it */
	int ret;

	ret = put(sink, magic, sizeof(magic));
	ret = ret ?: put_number(sink, 0, 1); /* little-endian */
	ret = ret ?: put_number(sink, sizeof(long), 1);
	ret = ret ?: put_number(sink, file->page_size, 4);
	ret = ret ?: put(sink, "header_page", 12);
	ret = ret ?: put_blob(sink, &file->header_page, 8);
	ret = ret ?: put(sink, "header_event", 13);
	return ret ?: put_blob(sink, &file->header_event, 8);
}

static int put_events(struct sink *sink, const struct tracedat *file)
{
	int ret;

	ret = put_formats(sink, file->ftrace_formats, file->n_ftrace_formats);
	ret = ret ?: put_number(sink, file->n_systems, 4);
	for (size_t i = 0; i < file->n_systems && !ret; i++) {
		const struct tracedat_system *system = &file->systems[i];

		ret = put(sink, system->name, strlen(system->name) + 1);
		ret = ret ?: put_formats(sink, system->formats, system->n_formats);
	}
	return ret;
}

static int put_options(struct sink *sink, const struct tracedat *file)
{
	int ret = put(sink, "options  ", 10);

	for (size_t i = 0; i < file->n_options && !ret; i++) {
		ret = put_number(sink, file->options[i].id, 2);
		ret = ret ?: put_blob(sink, &file->options[i].data, 4);
	}
	return ret ?: put_number(sink, 0, 2);
}

static uint64_t page_align(const struct tracedat *file, uint64_t offset)
{
	return (offset + file->page_size - 1) & ~((uint64_t)file->page_size - 1);
}

/* Everything in front of the CPUs' pages; @data is the offset of the first of these. */
static int put_preamble(struct sink *sink, const struct tracedat *file, uint64_t data)
{
	int ret;

	ret = put_headers(sink, file);
	ret = ret ?: put_events(sink, file);
	ret = ret ?: put_blob(sink, &file->kallsyms, 4);
	ret = ret ?: put_blob(sink, &file->printk_formats, 4);
	ret = ret ?: put_blob(sink, &file->saved_cmdlines, 8);
	ret = ret ?: put_number(sink, file->n_cpus, 4);
	ret = ret ?: put_options(sink, file);
	ret = ret ?: put(sink, "flyrecord", 10);
	for (size_t i = 0; i < file->n_cpus && !ret; i++) {
		ret = put_number(sink, data, 8);
		ret = ret ?: put_number(sink, file->cpus[i].size, 8);
		data += file->cpus[i].size;
	}
	return ret;
}

static int copy_pages(struct sink *sink, const struct tracedat_cpu *cpu, uint8_t *chunk)
{
	uint64_t done = 0;
	ssize_t n;
	int ret;

	while (done < cpu->size) {
		uint64_t left = cpu->size - done;

		n = pread(cpu->fd, chunk, left < COPY_CHUNK ? left : COPY_CHUNK, done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EIO; /* shorter than announced */
		ret = put(sink, chunk, n);
		if (ret)
			return ret;
		done += n;
	}
	return 0;
}

static bool valid(const struct tracedat *file)
{
	if (file->page_size < 512 || file->page_size & (file->page_size - 1))
		return false;
	if (file->n_cpus > UINT32_MAX || file->n_systems > UINT32_MAX)
		return false;
	for (size_t i = 0; i < file->n_cpus; i++)
		if (file->cpus[i].size % file->page_size || file->cpus[i].size > INT64_MAX / 2)
			return false;
	return true;
}

/* Offset of the first CPU's pages. */
static int data_offset(const struct tracedat *file, uint64_t *ret_offset)
{
	struct sink counter = {0};
	int ret;

	if (!valid(file))
		return -EINVAL;
	ret = put_preamble(&counter, file, 0);
	if (ret)
		return ret;
	*ret_offset = page_align(file, counter.offset);
	return 0;
}

/**
 * tracedat_size() - how large the file will be
 * @ret_size: bytes
 *
 * Return: 0, -EINVAL for a page size that is no power of two or CPU data that is not whole pages,
 * -EFBIG for a text longer than the format's length field.
 */
int tracedat_size(const struct tracedat *file, uint64_t *ret_size)
{
	uint64_t size;
	int ret;

	ret = data_offset(file, &size);
	if (ret)
		return ret;
	for (size_t i = 0; i < file->n_cpus; i++)
		if (__builtin_add_overflow(size, file->cpus[i].size, &size))
			return -EINVAL;
	*ret_size = size;
	return 0;
}

/**
 * tracedat_write() - write the file, exactly tracedat_size() bytes
 * @out: called with the next bytes, at most 256 KiB of pages or one whole text at a time
 * @arg: passed to @out
 *
 * Return: 0, the errors of tracedat_size(), -ENOMEM, -EIO when a CPU's file is shorter than it
 * says, what reading it or @out gave.
 */
int tracedat_write(const struct tracedat *file, tracedat_out_fn out, void *arg)
{
	struct sink sink = {.out = out, .arg = arg};
	uint8_t *chunk;
	uint64_t data;
	int ret;

	ret = data_offset(file, &data);
	if (ret)
		return ret;
	chunk = calloc(1, file->page_size > COPY_CHUNK ? file->page_size : COPY_CHUNK);
	if (!chunk)
		return -ENOMEM;
	ret = put_preamble(&sink, file, data);
	ret = ret ?: put(&sink, chunk, data - sink.offset); /* zeroes up to the page */
	for (size_t i = 0; i < file->n_cpus && !ret; i++)
		ret = copy_pages(&sink, &file->cpus[i], chunk);
	free(chunk);
	return ret;
}
