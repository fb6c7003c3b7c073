// SPDX-License-Identifier: GPL-2.0-only
/*
 * The capture of a run: a trace.dat made of the spool's pages and of what tracefs says about them,
 * streamed to the host without a second copy of the pages. It describes only the events that the
 * job recorded.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "agent/capture.h"
#include "base/frame.h"
#include "base/util.h"
#include "capture/tracedat_write.h"

#define MAX_FTRACE 64
#define MAX_EVENTS (2 * AGENT_JOB_MAX_EVENTS)
#define MAX_OPTIONS (3 + AGENT_MAX_CPUS)
#define DATA_MAX (256u * 1024)
#define TEXT_MAX (32u << 20)

/**
 * struct agent_capture - a file ready to be sent; every blob's data is owned here
 * @events: borrowed names, sorted
 */
struct agent_capture {
	struct tracedat_blob ftrace[MAX_FTRACE];
	struct tracedat_blob formats[MAX_EVENTS];
	struct agent_event events[MAX_EVENTS];
	struct tracedat_system systems[MAX_EVENTS];
	struct tracedat_option options[MAX_OPTIONS];
	struct tracedat_cpu cpus[AGENT_MAX_CPUS];
	size_t n_events;
	struct tracedat file;
};

static int by_name(const void *a, const void *b)
{
	const struct agent_event *x = a, *y = b;

	return strcmp(x->system, y->system) ?: strcmp(x->name, y->name);
}

/* The events that were on: the job's, each once, and the kprobes that exist. */
static void list_events(struct agent_capture *capture, const struct agent_trace *trace)
{
	const struct agent_job *job = trace->job;
	size_t n = 0, kept = 0;

	for (size_t i = 0; i < job->n_events; i++)
		if (!agent_trace_is_kprobe(job, &job->events[i]))
			capture->events[n++] = job->events[i];
	for (size_t i = 0; i < job->n_kprobes; i++)
		if (trace->made[i])
			capture->events[n++] =
				(struct agent_event){AGENT_KPROBE_GROUP, job->kprobes[i].name};
	qsort(capture->events, n, sizeof(capture->events[0]), by_name);
	for (size_t i = 0; i < n; i++)
		if (!kept || by_name(&capture->events[kept - 1], &capture->events[i]))
			capture->events[kept++] = capture->events[i];
	capture->n_events = kept;
}

/* Not by libtracefs' reader: for it an empty file is a failure, and saved_cmdlines may well be
 * empty. */
static int read_blob(struct tracefs_instance *instance, const char *name,
		     struct tracedat_blob *ret_blob)
{
	char *path, *text;
	size_t size;
	int ret;

	path = tracefs_instance_get_file(instance, name);
	if (!path)
		return -ENOMEM;
	ret = read_file(path, TEXT_MAX, &text, &size);
	tracefs_put_tracing_file(path);
	if (ret)
		return ret;
	*ret_blob = (struct tracedat_blob){text, size};
	return 0;
}

static int read_format(const char *system, const char *name, struct tracedat_blob *ret_blob)
{
	char path[512];

	snprintf(path, sizeof(path), "events/%s/%s/format", system, name);
	return read_blob(NULL, path, ret_blob);
}

static int read_formats(struct agent_capture *capture)
{
	struct tracedat *file = &capture->file;
	struct tracedat_system *system = NULL;
	int ret = 0;

	for (size_t i = 0; i < capture->n_events && !ret; i++) {
		const struct agent_event *event = &capture->events[i];

		ret = read_format(event->system, event->name, &capture->formats[i]);
		if (!system || strcmp(system->name, event->system)) {
			system = &capture->systems[file->n_systems++];
			*system = (struct tracedat_system){event->system, &capture->formats[i], 0};
		}
		system->n_formats++;
	}
	file->systems = capture->systems;
	return ret;
}

/* The kernel's own event types; readers expect their formats whether they were recorded or not. */
static int read_ftrace_formats(struct agent_capture *capture)
{
	char **names = tracefs_system_events(NULL, "ftrace");
	size_t n = 0;

	if (!names)
		return -ENOMEM;
	for (size_t i = 0; names[i] && n < MAX_FTRACE; i++)
		if (!read_format("ftrace", names[i], &capture->ftrace[n]))
			n++;
	tracefs_list_free(names);
	capture->file.ftrace_formats = capture->ftrace;
	capture->file.n_ftrace_formats = n;
	return 0;
}

/* Whether a recorded event prints an address as a symbol. */
static bool needs_symbols(const struct agent_capture *capture)
{
	static const char *const specifiers[] = {"%ps", "%pS", "%pf", "%pF", "%pB"};

	for (size_t i = 0; i < capture->n_events; i++)
		for (size_t k = 0; k < ARRAY_SIZE(specifiers); k++)
			if (strstr(capture->formats[i].data, specifiers[k]))
				return true;
	return false;
}

static int read_texts(struct agent_capture *capture, struct agent_trace *trace)
{
	struct tracedat *file = &capture->file;
	char *text;
	size_t size;
	int ret;

	ret = read_blob(NULL, "events/header_page", &file->header_page);
	ret = ret ?: read_blob(NULL, "events/header_event", &file->header_event);
	ret = ret ?: read_ftrace_formats(capture);
	ret = ret ?: read_formats(capture);
	ret = ret ?: read_blob(NULL, "printk_formats", &file->printk_formats);
	ret = ret ?: read_blob(NULL, "saved_cmdlines", &file->saved_cmdlines);
	/* Megabytes that only help to print addresses: not in a file of which there are hundreds.
	 */
	if (!ret && needs_symbols(capture) && !read_file("/proc/kallsyms", TEXT_MAX, &text, &size))
		file->kallsyms = (struct tracedat_blob){text, size};
	return ret;
}

static void add_option(struct agent_capture *capture, enum tracedat_option_id id, char *text)
{
	if (text)
		capture->options[capture->file.n_options++] =
			(struct tracedat_option){id, {text, strlen(text) + 1}};
}

static int make_options(struct agent_capture *capture, struct agent_trace *trace,
			char *const stats[])
{
	struct tracedat_blob clock = {0};
	struct utsname uts = {0};
	int ret;

	/* All clocks, the one in use in brackets: readers look for these. */
	ret = read_blob(trace->instance, "trace_clock", &clock);
	if (ret)
		return ret;
	add_option(capture, TRACEDAT_OPTION_TRACECLOCK, (char *)clock.data);
	uname(&uts);
	add_option(capture, TRACEDAT_OPTION_UNAME,
		   str_printf("%s %s %s %s", uts.sysname, uts.nodename, uts.release, uts.machine));
	add_option(capture, TRACEDAT_OPTION_VERSION, str_printf("lab-agent"));
	for (int i = 0; i < trace->cpus; i++)
		add_option(capture, TRACEDAT_OPTION_CPUSTAT,
			   str_printf("CPU: %d\n%s", i, stats[i]));
	capture->file.options = capture->options;
	return 0;
}

/* Gathers the file's bytes into DATA frames. */
struct stream {
	int fd;
	size_t used;
	uint8_t buffer[DATA_MAX];
};

static int stream_flush(struct stream *stream)
{
	size_t size = stream->used;

	stream->used = 0;
	return size ? frame_write(stream->fd, FRAME_DATA, stream->buffer, size) : 0;
}

static int stream_out(void *arg, const void *data, size_t size)
{
	struct stream *stream = arg;
	const uint8_t *bytes = data;
	int ret = 0;

	while (size && !ret) {
		size_t n = DATA_MAX - stream->used < size ? DATA_MAX - stream->used : size;

		memcpy(stream->buffer + stream->used, bytes, n);
		stream->used += n;
		bytes += n;
		size -= n;
		if (stream->used == DATA_MAX)
			ret = stream_flush(stream);
	}
	return ret;
}

/** agent_capture_free() - release a capture, may be NULL; the spool keeps the pages */
void agent_capture_free(struct agent_capture *capture)
{
	struct tracedat *file;

	if (!capture)
		return;
	file = &capture->file;
	for (size_t i = 0; i < file->n_ftrace_formats; i++)
		free((void *)file->ftrace_formats[i].data);
	for (size_t i = 0; i < capture->n_events; i++)
		free((void *)capture->formats[i].data);
	for (size_t i = 0; i < file->n_options; i++)
		free((void *)capture->options[i].data.data);
	free((void *)file->header_page.data);
	free((void *)file->header_event.data);
	free((void *)file->kallsyms.data);
	free((void *)file->printk_formats.data);
	free((void *)file->saved_cmdlines.data);
	free(capture);
}

/**
 * agent_capture_make() - put a run's trace.dat together, all but the pages
 * @trace: still set up, for the formats of its kprobes go with them
 * @spool: drained; must outlive the capture
 * @stats: text of each CPU's ring statistics
 * @ret_capture: ends with agent_capture_free()
 *
 * Return: 0 or negative errno.
 */
int agent_capture_make(struct agent_trace *trace, const struct agent_spool *spool,
		       char *const stats[], struct agent_capture **ret_capture)
{
	struct agent_capture *capture;
	int ret;

	capture = calloc(1, sizeof(*capture));
	if (!capture)
		return -ENOMEM;
	list_events(capture, trace);
	capture->file.page_size = trace->page_size;
	capture->file.cpus = capture->cpus;
	capture->file.n_cpus = trace->cpus;
	for (int i = 0; i < trace->cpus; i++) {
		const struct agent_spooled *spooled = agent_spool_cpu(spool, i);

		capture->cpus[i] = (struct tracedat_cpu){spooled->fd, spooled->size};
	}
	ret = read_texts(capture, trace);
	ret = ret ?: make_options(capture, trace, stats);
	if (ret) {
		agent_capture_free(capture);
		return ret;
	}
	*ret_capture = capture;
	return 0;
}

/**
 * agent_capture_send() - ship a capture: FILE and its DATA frames
 * @fd: the channel
 *
 * Return: 0 or negative errno; the host may have received a part of the file then.
 */
int agent_capture_send(const struct agent_capture *capture, int fd)
{
	const struct tracedat *file = &capture->file;
	struct stream *stream;
	uint64_t size;
	char text[96];
	int ret;

	ret = tracedat_size(file, &size);
	if (ret)
		return ret;
	stream = malloc(sizeof(*stream));
	if (!stream)
		return -ENOMEM;
	stream->fd = fd;
	stream->used = 0;
	snprintf(text, sizeof(text), "{\"name\":\"capture\",\"size\":%llu}",
		 (unsigned long long)size);
	ret = frame_write(fd, FRAME_FILE, text, strlen(text));
	ret = ret ?: tracedat_write(file, stream_out, stream);
	ret = ret ?: stream_flush(stream);
	free(stream);
	return ret;
}
