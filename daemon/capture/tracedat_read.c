// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reader takes what labd needs: formats, options, and where the pages are. The layout is
 * described in trace-cmd.dat.v6(5); ids of options are those of trace-cmd's own files.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "capture/decode.h"
#include "capture/format.h"
#include "capture/tracedat_read.h"

enum option_id {
	OPTION_END = 0,
	OPTION_CPUSTAT = 2,
	OPTION_BUFFER = 3,
	OPTION_CLOCK = 4,
	OPTION_UNAME = 5,
};

/**
 * struct reader - a place in the file
 * @buffers: offsets of the tables of further trace instances, from the options
 * @pages_size: bytes of all spans; spans that overlap would make a small file endless
 */
struct reader {
	const uint8_t *data;
	size_t size;
	size_t pos;
	uint64_t buffers[TRACEDAT_MAX_BUFFERS];
	size_t n_buffers;
	size_t cpustat_len;
	uint64_t pages_size;
	struct tracedat_file *file;
	char *error;
	size_t error_size;
};

static int __attribute__((format(printf, 3, 4)))
refuse(struct reader *r, int err, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(r->error, r->error_size, fmt, args);
	va_end(args);
	return err;
}

static int cut_off(struct reader *r)
{
	refuse(r, -EBADMSG, "the capture is damaged: it ends too early, at byte %zu", r->pos);
	return -EBADMSG;
}

static int take(struct reader *r, uint64_t size, const uint8_t **ret_data)
{
	if (size > r->size - r->pos)
		return cut_off(r);
	*ret_data = r->data + r->pos;
	r->pos += size;
	return 0;
}

static int take_number(struct reader *r, unsigned int width, uint64_t *ret_value)
{
	const uint8_t *bytes;
	uint64_t value = 0;
	int ret;

	ret = take(r, width, &bytes);
	if (ret)
		return ret;
	memcpy(&value, bytes, width);
	*ret_value = le64toh(value);
	return 0;
}

/* A length of @width bytes and what it counts. */
static int take_blob(struct reader *r, unsigned int width, const uint8_t **ret_data,
		     uint64_t *ret_size)
{
	int ret = take_number(r, width, ret_size);

	return ret ?: take(r, *ret_size, ret_data);
}

static int expect(struct reader *r, const char *text, size_t size)
{
	const uint8_t *data;
	int ret = take(r, size, &data);

	if (!ret && memcmp(data, text, size))
		ret = refuse(r, -EBADMSG, "the capture is damaged: no \"%s\" at byte %zu", text,
			     r->pos - size);
	return ret;
}

static bool is_name(const char *text, size_t len)
{
	if (!len || len >= TRACEDAT_MAX_NAME)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || c == '-' || c == '.'))
			return false;
	}
	return true;
}

static int read_start(struct reader *r)
{
	const uint8_t *bytes;
	uint64_t unused;
	int ret;

	if (r->size < 10 || memcmp(r->data, "\x17\x08\x44tracing", 10))
		return refuse(r, -EBADMSG, "the file is no trace.dat");
	r->pos = 10;
	ret = take(r, 2, &bytes);
	if (ret)
		return ret;
	if (bytes[0] == '7' && !bytes[1])
		return refuse(r, -EPROTONOSUPPORT, "the trace.dat is of version 7");
	if (bytes[0] != '6' || bytes[1])
		return refuse(r, -EBADMSG, "the trace.dat is of a version that is not known");
	ret = take(r, 2, &bytes);
	if (ret)
		return ret;
	if (bytes[0])
		return refuse(r, -EBADMSG,
			      "the capture is of a big-endian machine, which labd does not read");
	/* The machine's page size; that of its ring buffer stands in header_page. */
	return take_number(r, 4, &unused);
}

/* The ring's own page size, which may be larger than the machine's. */
static int read_headers(struct reader *r)
{
	uint64_t size, commit = 0, page = 0;
	struct format_field field;
	const uint8_t *data;
	const char *pos;
	int ret;

	ret = expect(r, "header_page", 12);
	ret = ret ?: take_blob(r, 8, &data, &size);
	if (ret)
		return ret;
	pos = (const char *)data;
	while ((ret = format_next_field(&pos, (const char *)data + size, &field)) > 0) {
		if (!strcmp(field.name, "commit"))
			commit = field.size;
		if (!strcmp(field.name, "data") && field.offset == PAGE_HEADER_SIZE)
			page = field.offset + field.size;
	}
	if (ret)
		return refuse(r, ret, "the capture is damaged: its header_page does not parse");
	if (commit != 8)
		return refuse(r, -EBADMSG,
			      "the capture is of a 32-bit kernel, which labd does not read");
	if (page < 4096 || page > PAGE_MAX_SIZE || page & (page - 1))
		return refuse(
			r, -EBADMSG,
			"the capture's ring-buffer pages are of %llu bytes, which labd does not read",
			(unsigned long long)page);
	r->file->page_size = page;
	ret = expect(r, "header_event", 13);
	return ret ?: take_blob(r, 8, &data, &size);
}

/* "name: sys_enter\nID: 443\nformat:\n…" */
static int parse_format(struct reader *r, const char *system, const char *text, size_t size)
{
	struct tracedat_file *file = r->file;
	struct tracedat_format *format, *larger;
	const char *end, *id;
	char number[16] = "";
	int64_t value;

	if (file->n_formats == TRACEDAT_MAX_FORMATS)
		return refuse(r, -EBADMSG, "the capture holds more than %d event formats",
			      TRACEDAT_MAX_FORMATS);
	end = size > 6 && !memcmp(text, "name: ", 6) ? memchr(text, '\n', size) : NULL;
	if (!end || !is_name(text + 6, end - text - 6))
		goto bad;
	id = end + 1;
	if (text + size - id < 5 || memcmp(id, "ID: ", 4))
		goto bad;
	id += 4;
	for (size_t i = 0; i < sizeof(number) - 1 && id + i < text + size && id[i] != '\n'; i++)
		number[i] = id[i];
	if (parse_i64(number, 0, UINT16_MAX, &value))
		goto bad;
	if (!(file->n_formats & (file->n_formats - 1))) {
		larger = reallocarray(file->formats, file->n_formats ? file->n_formats * 2 : 1,
				      sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		file->formats = larger;
	}
	format = &file->formats[file->n_formats++];
	*format = (struct tracedat_format){.id = value, .text = text, .size = size};
	strcpy(format->system, system);
	memcpy(format->name, text + 6, end - text - 6);
	return 0;
bad:
	return refuse(r, -EBADMSG, "the capture is damaged: a format of \"%s\" is not one", system);
}

static int read_formats(struct reader *r, const char *system)
{
	const uint8_t *text;
	uint64_t count, size;
	int ret;

	ret = take_number(r, 4, &count);
	for (uint64_t i = 0; i < count && !ret; i++) {
		ret = take_blob(r, 8, &text, &size);
		ret = ret ?: parse_format(r, system, (const char *)text, size);
	}
	return ret;
}

static int by_id(const void *a, const void *b)
{
	return (int)((const struct tracedat_format *)a)->id -
	       (int)((const struct tracedat_format *)b)->id;
}

static int read_events(struct reader *r)
{
	struct tracedat_file *file = r->file;
	uint64_t systems;
	int ret;

	ret = read_formats(r, "ftrace");
	ret = ret ?: take_number(r, 4, &systems);
	if (ret)
		return ret;
	for (uint64_t i = 0; i < systems; i++) {
		const char *name = (const char *)r->data + r->pos;
		size_t len = strnlen(name, r->size - r->pos);

		if (len == r->size - r->pos)
			return cut_off(r);
		if (!is_name(name, len))
			return refuse(r, -EBADMSG,
				      "the capture is damaged: no event system's name at byte %zu",
				      r->pos);
		r->pos += len + 1;
		ret = read_formats(r, name);
		if (ret)
			return ret;
	}
	if (file->n_formats)
		qsort(file->formats, file->n_formats, sizeof(*file->formats), by_id);
	for (size_t i = 1; i < file->n_formats; i++)
		if (file->formats[i].id == file->formats[i - 1].id)
			return refuse(r, -EBADMSG,
				      "the capture is damaged: two events have the id %u",
				      file->formats[i].id);
	return 0;
}

/* kallsyms, trace_printk's formats and saved command lines are not needed. */
static int skip_symbols(struct reader *r)
{
	const uint8_t *data;
	uint64_t size;
	int ret;

	ret = take_blob(r, 4, &data, &size);
	ret = ret ?: take_blob(r, 4, &data, &size);
	return ret ?: take_blob(r, 8, &data, &size);
}

/* Printable text only: it ends up in logs and pages. */
static void copy_text(char *to, size_t room, const uint8_t *data, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < size && data[i] && n < room - 1; i++)
		if (data[i] >= ' ' && data[i] < 0x7f)
			to[n++] = data[i];
	to[n] = '\0';
}

/* The clocks to choose from, the one in use in brackets: "local [mono] boot". */
static void parse_clock(struct tracedat_file *file, const uint8_t *data, size_t size)
{
	const uint8_t *start = memchr(data, '[', size);
	const uint8_t *end = start ? memchr(start, ']', data + size - start) : NULL;

	if (end)
		copy_text(file->clock, sizeof(file->clock), start + 1, end - start - 1);
}

static int append_cpustat(struct reader *r, const uint8_t *data, size_t size)
{
	size_t len = strnlen((const char *)data, size);
	char *larger;

	if (len > TRACEDAT_MAX_CPUSTAT - r->cpustat_len)
		return refuse(r, -EBADMSG,
			      "the capture's ring statistics are of more than %u bytes",
			      TRACEDAT_MAX_CPUSTAT);
	larger = realloc(r->file->cpustat, r->cpustat_len + len + 1);
	if (!larger)
		return -ENOMEM;
	r->file->cpustat = larger;
	for (size_t i = 0; i < len; i++)
		larger[r->cpustat_len++] = data[i] < 0x80 ? (char)data[i] : '?';
	larger[r->cpustat_len] = '\0';
	return 0;
}

static int read_options(struct reader *r)
{
	uint64_t id, size, offset;
	const uint8_t *data;
	int ret;

	for (;;) {
		ret = take_number(r, 2, &id);
		if (ret || id == OPTION_END)
			return ret;
		ret = take_blob(r, 4, &data, &size);
		if (ret)
			return ret;
		switch (id) {
		case OPTION_CPUSTAT:
			ret = append_cpustat(r, data, size);
			break;
		case OPTION_BUFFER:
			if (size < sizeof(offset) || r->n_buffers == TRACEDAT_MAX_BUFFERS)
				return refuse(r, -EBADMSG,
					      "the capture holds too many trace instances");
			memcpy(&offset, data, sizeof(offset));
			r->buffers[r->n_buffers++] = le64toh(offset);
			break;
		case OPTION_CLOCK:
			parse_clock(r->file, data, size);
			break;
		case OPTION_UNAME:
			copy_text(r->file->uname, sizeof(r->file->uname), data, size);
			break;
		}
		if (ret)
			return ret;
	}
}

/* A trace instance's table: where each CPU's pages are. */
static int read_spans(struct reader *r)
{
	struct tracedat_file *file = r->file;
	uint64_t offset, size;
	struct tracedat_span *larger;
	int ret = 0;

	larger = reallocarray(file->spans, file->n_spans + file->n_cpus, sizeof(*larger));
	if (!larger)
		return -ENOMEM;
	file->spans = larger;
	for (unsigned int cpu = 0; cpu < file->n_cpus; cpu++) {
		ret = take_number(r, 8, &offset);
		ret = ret ?: take_number(r, 8, &size);
		if (ret)
			return ret;
		if (offset > r->size || size > r->size - offset)
			return refuse(
				r, -EBADMSG,
				"the capture is damaged: the pages of CPU %u are outside of it",
				cpu);
		r->pages_size += size;
		if (r->pages_size > r->size)
			return refuse(r, -EBADMSG,
				      "the capture is damaged: its CPUs' pages overlap");
		file->spans[file->n_spans++] = (struct tracedat_span){cpu, r->data + offset, size};
	}
	return 0;
}

static int read_pages(struct reader *r)
{
	const uint8_t *kind;
	uint64_t cpus;
	int ret;

	ret = take_number(r, 4, &cpus);
	if (ret)
		return ret;
	if (!cpus || cpus > TRACEDAT_MAX_CPUS)
		return refuse(r, -EBADMSG, "the capture is of %llu CPUs; labd reads 1 to %d",
			      (unsigned long long)cpus, TRACEDAT_MAX_CPUS);
	r->file->n_cpus = cpus;
	ret = take(r, 10, &kind);
	if (!ret && !memcmp(kind, "options  ", 10)) {
		ret = read_options(r);
		ret = ret ?: take(r, 10, &kind);
	}
	if (ret)
		return ret;
	if (!memcmp(kind, "latency  ", 10))
		return refuse(r, -EBADMSG,
			      "the capture is a latency tracer's text, which holds no events");
	if (memcmp(kind, "flyrecord", 10))
		return refuse(r, -EBADMSG, "the capture is damaged: no pages at byte %zu", r->pos);
	ret = read_spans(r);
	for (size_t i = 0; i < r->n_buffers && !ret; i++) {
		if (r->buffers[i] > r->size)
			return cut_off(r);
		r->pos = r->buffers[i];
		ret = expect(r, "flyrecord", 10);
		ret = ret ?: read_spans(r);
	}
	return ret;
}

/**
 * tracedat_parse() - read a capture that is in memory
 * @data: its bytes, which must stay as long as the result
 * @size: how many
 * @ret_file: the caller's, with tracedat_close()
 * @ret_error: one sentence on failure
 * @error_size: room in @ret_error
 *
 * Return: 0, -EPROTONOSUPPORT for version 7 (tracedat_convert() makes it 6), -EBADMSG for what is
 * no capture, a damaged one or one above a limit, -ENOMEM.
 */
int tracedat_parse(const uint8_t *data, size_t size, struct tracedat_file **ret_file,
		   char *ret_error, size_t error_size)
{
	struct reader r = {
		.data = data, .size = size, .error = ret_error, .error_size = error_size};
	int ret;

	r.file = calloc(1, sizeof(*r.file));
	ret = r.file ? 0 : -ENOMEM;
	ret = ret ?: read_start(&r);
	ret = ret ?: read_headers(&r);
	ret = ret ?: read_events(&r);
	ret = ret ?: skip_symbols(&r);
	ret = ret ?: read_pages(&r);
	if (ret == -ENOMEM)
		refuse(&r, ret, "no memory to read the capture");
	if (ret)
		tracedat_close(r.file);
	else
		*ret_file = r.file;
	return ret;
}

/**
 * tracedat_open() - map a capture and read it
 * @path: regular file; it must not be cut while it is open
 *
 * The other arguments and the errors are those of tracedat_parse(), and what open(), fstat() and
 * mmap() give.
 */
int tracedat_open(const char *path, struct tracedat_file **ret_file, char *ret_error,
		  size_t error_size)
{
	struct tracedat_file *file;
	struct stat st;
	void *map = MAP_FAILED;
	int fd, ret = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st))
		ret = -errno;
	else if (!S_ISREG(st.st_mode))
		ret = -EINVAL;
	else if (!st.st_size)
		ret = -ENODATA;
	if (!ret) {
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
	madvise(map, st.st_size, MADV_SEQUENTIAL);
	ret = tracedat_parse(map, st.st_size, &file, ret_error, error_size);
	if (ret) {
		munmap(map, st.st_size);
		return ret;
	}
	file->map = map;
	file->map_size = st.st_size;
	*ret_file = file;
	return 0;
}

/** tracedat_close() - NULL is allowed */
void tracedat_close(struct tracedat_file *file)
{
	if (!file)
		return;
	if (file->map)
		munmap(file->map, file->map_size);
	free(file->formats);
	free(file->spans);
	free(file->cpustat);
	free(file);
}

/** tracedat_find_format() - format of the events whose records start with @id, or NULL */
const struct tracedat_format *tracedat_find_format(const struct tracedat_file *file, uint16_t id)
{
	struct tracedat_format key = {.id = id};

	if (!file->n_formats)
		return NULL;
	return bsearch(&key, file->formats, file->n_formats, sizeof(key), by_id);
}
