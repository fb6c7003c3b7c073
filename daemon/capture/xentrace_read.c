// SPDX-License-Identifier: GPL-2.0-only
/* See xentrace_read.h. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/xentrace_read.h"

/* The header word: 28 bits of id, 3 of the number of words, 1 for the TSC ahead of them. */
#define HEADER_ID(header) ((header)&0x0fffffff)
#define HEADER_WORDS(header) ((header) >> 28 & 7)
#define HEADER_TSC(header) ((header) >> 31)

#define ID_LOST_RECORDS 0x1f001 /* count, domid | vcpu << 16, first TSC */
#define ID_WRAP_BUFFER 0x1f002	/* fills a buffer to its end */
#define ID_CPU_CHANGE 0x1f003	/* CPU, bytes of the window behind it */

#define CPU_CHANGE_HEADER (ID_CPU_CHANGE | 2u << 28)
#define CPU_CHANGE_SIZE 12
#define LOST_WORDS 4

static uint32_t read_u32(const uint8_t *data)
{
	uint32_t value;

	memcpy(&value, data, sizeof(value));
	return le32toh(value);
}

static uint64_t read_u64(const uint8_t *data)
{
	return read_u32(data) | (uint64_t)read_u32(data + 4) << 32;
}

static int __attribute__((format(printf, 2, 3)))
refuse(const struct xentrace_walk *walk, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(walk->error, walk->error_size, fmt, args);
	va_end(args);
	return -EBADMSG;
}

/** xentrace_starts() - do these bytes begin as an xentrace stream does? */
bool xentrace_starts(const uint8_t *data, size_t size)
{
	return size >= CPU_CHANGE_SIZE && read_u32(data) == CPU_CHANGE_HEADER;
}

/** xentrace_is_file() - does the file begin as an xentrace stream does? */
bool xentrace_is_file(const char *path)
{
	uint8_t start[CPU_CHANGE_SIZE];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = pread(fd, start, sizeof(start), 0);
	close(fd);
	return n > 0 && xentrace_starts(start, n);
}

/**
 * xentrace_parse() - read a capture that is in memory
 * @data: its bytes, which must stay as long as the result
 * @size: how many; none is a capture without a record
 * @ret_file: the caller's, with xentrace_close()
 * @ret_error: one sentence on failure
 * @error_size: room in @ret_error
 *
 * Only the start is looked at; the rest is checked as it is walked over.
 *
 * Return: 0, -EBADMSG for what is no xentrace stream, -ENOMEM.
 */
int xentrace_parse(const uint8_t *data, size_t size, struct xentrace_file **ret_file,
		   char *ret_error, size_t error_size)
{
	struct xentrace_file *file;

	if (size && !xentrace_starts(data, size)) {
		snprintf(ret_error, error_size,
			 "the capture is no xentrace stream: it does not begin with a CPU change");
		return -EBADMSG;
	}
	file = calloc(1, sizeof(*file));
	if (!file) {
		snprintf(ret_error, error_size, "no memory to read the capture");
		return -ENOMEM;
	}
	file->data = data;
	file->size = size;
	*ret_file = file;
	return 0;
}

/**
 * xentrace_open() - map a capture
 * @path: regular file; it must not be cut while it is open
 *
 * The other arguments and the errors are those of xentrace_parse(), and what open(), fstat() and
 * mmap() give.
 */
int xentrace_open(const char *path, struct xentrace_file **ret_file, char *ret_error,
		  size_t error_size)
{
	struct xentrace_file *file;
	void *map = NULL;
	struct stat st;
	int fd, ret = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		ret = -errno;
	else if (!S_ISREG(st.st_mode))
		ret = -EINVAL;
	if (!ret && st.st_size) {
		map = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (map == MAP_FAILED)
			ret = -errno;
	}
	if (fd >= 0)
		close(fd);
	if (ret) {
		snprintf(ret_error, error_size, "%s: %s", path, strerror(-ret));
		return ret;
	}
	ret = xentrace_parse(map, st.st_size, &file, ret_error, error_size);
	if (ret) {
		if (map)
			munmap(map, st.st_size);
		return ret;
	}
	file->map = map;
	file->map_size = st.st_size;
	*ret_file = file;
	return 0;
}

/** xentrace_close() - NULL is allowed */
void xentrace_close(struct xentrace_file *file)
{
	if (!file)
		return;
	if (file->map)
		munmap(file->map, file->map_size);
	free(file);
}

/**
 * xentrace_start() - begin a walk over a capture's records
 * @file: stays the caller's, and open during the walk
 * @ret_error: one sentence when a step fails
 * @error_size: room in @ret_error
 */
void xentrace_start(struct xentrace_walk *walk, const struct xentrace_file *file, char *ret_error,
		    size_t error_size)
{
	*walk = (struct xentrace_walk){.file = file, .error = ret_error, .error_size = error_size};
}

/* A window's header; behind it lie that many bytes of the CPU's buffer. */
static int next_window(struct xentrace_walk *walk)
{
	const uint8_t *data = walk->file->data + walk->at;
	size_t left = walk->file->size - walk->at, window;

	if (!xentrace_starts(data, left))
		return refuse(
			walk,
			left < CPU_CHANGE_SIZE
				? "the capture is cut off: it ends within the record at byte "
				  "%zu"
				: "the capture is damaged: at byte %zu a CPU change should be",
			walk->at);
	walk->cpu = read_u32(data + 4);
	window = read_u32(data + 8);
	if (walk->cpu >= XENTRACE_MAX_CPUS)
		return refuse(walk, "the capture has records of CPU %u; at most %d CPUs are read",
			      walk->cpu, XENTRACE_MAX_CPUS);
	if (window % 4)
		return refuse(walk, "the capture is damaged: the window at byte %zu has %zu bytes",
			      walk->at, window);
	if (window > left - CPU_CHANGE_SIZE)
		return refuse(walk, "the capture is cut off within the window at byte %zu",
			      walk->at);
	walk->at += CPU_CHANGE_SIZE;
	walk->end = walk->at + window;
	return 0;
}

/* The record at walk->at, which is inside a window. */
static int read_record(struct xentrace_walk *walk, struct xentrace_record *record)
{
	const uint8_t *data = walk->file->data + walk->at;
	size_t left = walk->end - walk->at, size;
	uint32_t header = read_u32(data);

	record->cpu = walk->cpu;
	record->id = HEADER_ID(header);
	record->n = HEADER_WORDS(header);
	record->has_tsc = HEADER_TSC(header);
	size = 4 + 8 * record->has_tsc + 4 * (size_t)record->n;
	if (record->id == ID_CPU_CHANGE)
		return refuse(walk,
			      "the capture is damaged: a CPU change at byte %zu lies within a "
			      "window",
			      walk->at);
	if (size > left)
		return refuse(walk,
			      "the capture is damaged: the record at byte %zu is longer than its "
			      "window",
			      walk->at);
	record->tsc = record->has_tsc ? read_u64(data + 4) : 0;
	record->words = data + size - 4 * (size_t)record->n;
	walk->at += size;
	return 0;
}

/**
 * xentrace_next() - the next record of a capture
 *
 * CPU changes and the fill at a buffer's end are not shown; lost records are.
 *
 * Return: 1, 0 at the end, -EBADMSG with the walk's error set.
 */
int xentrace_next(struct xentrace_walk *walk, struct xentrace_record *ret_record)
{
	struct xentrace_record record;
	int ret;

	do {
		while (walk->at == walk->end) {
			if (walk->at == walk->file->size)
				return 0;
			ret = next_window(walk);
			if (ret)
				return ret;
		}
		ret = read_record(walk, &record);
		if (ret)
			return ret;
	} while (record.id == ID_WRAP_BUFFER);
	if (record.id == ID_LOST_RECORDS && (record.n != LOST_WORDS || !record.has_tsc))
		return refuse(walk,
			      "the capture is damaged: the record of losses before byte %zu has "
			      "%u words",
			      walk->at, record.n);
	*ret_record = record;
	return 1;
}

/**
 * xentrace_lost() - is it a record of losses, and what does it say?
 *
 * Xen writes one ahead of the next record that finds room.
 */
bool xentrace_lost(const struct xentrace_record *record, struct xentrace_lost *ret_lost)
{
	if (record->id != ID_LOST_RECORDS)
		return false;
	*ret_lost = (struct xentrace_lost){
		.count = xentrace_word(record, 0),
		.domid = xentrace_word(record, 1) & 0xffff,
		.vcpu = xentrace_word(record, 1) >> 16,
		.first_tsc = read_u64(record->words + 8),
	};
	return true;
}

/** xentrace_word() - word @i of a record, which must have it */
uint32_t xentrace_word(const struct xentrace_record *record, unsigned int i)
{
	return read_u32(record->words + 4 * (size_t)i);
}
