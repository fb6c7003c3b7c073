// SPDX-License-Identifier: GPL-2.0-only
/*
 * The trace instance of one run: private, created disabled, configured, and removed with its
 * kprobes when the run is over. Its name carries the agent's pid, so that what a crashed agent left
 * is known as such.
 */
#include <errno.h>
#include <fcntl.h>
#include <event-parse.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/hypervisor.h"
#include "agent/tracefs.h"
#include "base/log.h"
#include "base/util.h"

#define INSTANCE_PREFIX "labd-"

/*
 * How full a ring must be before its reader wakes. At 0 the reader would be woken by an interrupt
 * for nearly every event, in the middle of what is measured; here it sleeps through a short run and
 * takes many pages at once in a long one, while nine tenths of the ring are left for it to be late.
 */
#define BUFFER_PERCENT "10"

static int fail(char *error, int ret, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static int fail(char *error, int ret, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(error, AGENT_ERROR_SIZE, fmt, args);
	va_end(args);
	return ret;
}

/* Errno of a libtracefs call that has just failed; some of them fail without setting it. */
static int last_error(void)
{
	return errno ? -errno : -EIO;
}

struct leftovers {
	bool others_alive;
	char *names[16];
	size_t count;
};

static int collect_instance(const char *name, void *arg)
{
	struct leftovers *left = arg;
	int64_t pid;

	if (strncmp(name, INSTANCE_PREFIX, strlen(INSTANCE_PREFIX)) ||
	    parse_i64(name + strlen(INSTANCE_PREFIX), 1, INT32_MAX, &pid))
		return 0;
	if (pid != getpid() && (!kill(pid, 0) || errno != ESRCH))
		left->others_alive = true;
	else if (left->count < ARRAY_SIZE(left->names))
		left->names[left->count++] = strdup(name);
	return 0;
}

static void destroy_instance(const char *name)
{
	struct tracefs_instance *instance = name ? tracefs_instance_create(name) : NULL;

	if (!instance)
		return;
	/* Events first: a kprobe cannot go while an instance listens to it. */
	tracefs_instance_file_write(instance, "events/enable", "0");
	if (tracefs_instance_destroy(instance))
		log_warn("cannot remove the trace instance %s: %s", name, strerror(errno));
	tracefs_instance_free(instance);
}

/**
 * agent_trace_sweep() - remove the trace instances and kprobes of agents that are no more
 *
 * Instances of a live agent stay, and then all kprobes too, for one cannot tell whose they are.
 */
void agent_trace_sweep(void)
{
	struct leftovers left = {0};
	struct tracefs_dynevent **probes;

	if (!tracefs_tracing_dir())
		return;
	tracefs_instances_walk(collect_instance, &left);
	for (size_t i = 0; i < left.count; i++) {
		log_info("removing the trace instance %s of an agent that is gone", left.names[i]);
		destroy_instance(left.names[i]);
		free(left.names[i]);
	}
	if (left.others_alive)
		return;
	probes = tracefs_dynevent_get_all(TRACEFS_DYNEVENT_KPROBE | TRACEFS_DYNEVENT_KRETPROBE,
					  AGENT_KPROBE_GROUP);
	for (size_t i = 0; probes && probes[i]; i++)
		tracefs_dynevent_destroy(probes[i], true);
	tracefs_dynevent_list_free(probes);
}

/**
 * agent_trace_events() - the tracepoints that the kernel has: {"events": ["system:event", ...]}
 *
 * The job's own kprobes are none of them. No tracefs is no event.
 *
 * Return: new reference, or NULL without memory.
 */
json_t *agent_trace_events(void)
{
	json_t *events = json_array();
	char *text, *at, *line;
	size_t bytes = 0;

	text = at = tracefs_instance_file_read(NULL, "available_events", NULL);
	while (at && (line = strsep(&at, "\n"))) {
		bytes += strlen(line) + 3;
		if (json_array_size(events) == AGENT_MAX_LISTED || bytes > AGENT_LIST_MAX)
			break;
		if (*line && strncmp(line, AGENT_KPROBE_GROUP ":", strlen(AGENT_KPROBE_GROUP ":")))
			json_array_append_new(events, json_string(line));
	}
	free(text);
	return json_pack("{s:o?}", "events", events);
}

/* Sets found[i] for each kprobe of the job whose symbol the kernel has. */
static int find_symbols(const struct agent_job *job, bool *ret_found)
{
	char line[512], symbol[400];
	FILE *file;

	file = fopen("/proc/kallsyms", "re");
	if (!file)
		return -errno;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%*s %*s %399s", symbol) != 1)
			continue;
		for (size_t i = 0; i < job->n_kprobes; i++)
			if (!strcmp(symbol, job->kprobes[i].symbol))
				ret_found[i] = true;
	}
	fclose(file);
	return 0;
}

static struct tracefs_dynevent *probe_alloc(const struct agent_kprobe *probe)
{
	const char *fetch = *probe->fetch ? probe->fetch : NULL;

	if (probe->is_return)
		return tracefs_kretprobe_alloc(AGENT_KPROBE_GROUP, probe->name, probe->location,
					       fetch, probe->maxactive);
	return tracefs_kprobe_alloc(AGENT_KPROBE_GROUP, probe->name, probe->location, fetch);
}

static int create_probe(struct agent_trace *trace, size_t index, char *error)
{
	const struct agent_kprobe *probe = &trace->job->kprobes[index];
	struct tracefs_dynevent *event;
	int ret = 0;

	errno = 0;
	event = probe_alloc(probe);
	if (!event || tracefs_dynevent_create(event))
		ret = fail(error, last_error(), "kprobe %s on %s: %s", probe->name, probe->location,
			   errno ? strerror(errno) : "refused");
	else
		trace->made[index] = true;
	tracefs_dynevent_free(event);
	return ret;
}

static int enable_event(struct agent_trace *trace, const char *system, const char *name,
			char *error)
{
	if (!tracefs_event_file_exists(trace->instance, system, name, "enable"))
		return fail(error, -ENOENT, "event %s:%s: this kernel has none", system, name);
	errno = 0;
	if (tracefs_event_file_write(trace->instance, system, name, "enable", "1") < 0)
		return fail(error, last_error(), "event %s:%s: cannot be enabled: %s", system, name,
			    strerror(errno));
	return 0;
}

static int create_probes(struct agent_trace *trace, char *error)
{
	const struct agent_job *job = trace->job;
	bool found[AGENT_JOB_MAX_EVENTS] = {0};
	int ret = 0;

	if (!job->n_kprobes)
		return 0;
	if (!tracefs_file_exists(NULL, "kprobe_events"))
		return fail(error, -EOPNOTSUPP, "this kernel has no kprobe events");
	ret = find_symbols(job, found);
	if (ret)
		return fail(error, ret, "/proc/kallsyms: %s", strerror(-ret));
	for (size_t i = 0; i < job->n_kprobes && !ret; i++) {
		const struct agent_kprobe *probe = &job->kprobes[i];

		if (!found[i]) {
			json_array_append_new(trace->absent,
					      json_sprintf(AGENT_KPROBE_GROUP ":%s", probe->name));
			continue;
		}
		ret = create_probe(trace, i, error);
		ret = ret ?: enable_event(trace, AGENT_KPROBE_GROUP, probe->name, error);
	}
	return ret;
}

/**
 * agent_trace_is_kprobe() - whether an event of the job's list is one of its kprobes
 *
 * Such an event lives and dies with its probe, and is absent when the probe is.
 */
bool agent_trace_is_kprobe(const struct agent_job *job, const struct agent_event *event)
{
	if (strcmp(event->system, AGENT_KPROBE_GROUP))
		return false;
	for (size_t i = 0; i < job->n_kprobes; i++)
		if (!strcmp(event->name, job->kprobes[i].name))
			return true;
	return false;
}

static int enable_events(struct agent_trace *trace, char *error)
{
	const struct agent_job *job = trace->job;
	int ret = create_probes(trace, error);

	for (size_t i = 0; i < job->n_events && !ret; i++)
		if (!agent_trace_is_kprobe(job, &job->events[i]))
			ret = enable_event(trace, job->events[i].system, job->events[i].name,
					   error);
	return ret;
}

/* Size of a ring-buffer page, from the kernel's description of it. */
static int read_page_size(struct agent_trace *trace, char *error)
{
	struct tep_handle *tep;
	int size = 0, length = 0;
	char *text;

	text = tracefs_instance_file_read(NULL, "events/header_page", &length);
	tep = tep_alloc();
	if (text && tep && !tep_parse_header_page(tep, text, length, sizeof(long)))
		size = tep_get_sub_buffer_size(tep);
	tep_free(tep);
	free(text);
	if (size < 4096 || size > 1 << 20 || size & (size - 1))
		return fail(error, -EPROTO, "cannot read the ring buffer's page size");
	trace->page_size = size;
	return 0;
}

static int configure(struct agent_trace *trace, char *error)
{
	static const char *const settings[][2] = {
		{"buffer_percent", BUFFER_PERCENT},
		/* Overwriting tells where events are missing; the other mode loses the end. */
		{"options/overwrite", "1"},
	};
	const struct agent_job *job = trace->job;
	char path[64];

	errno = 0;
	if (tracefs_trace_off(trace->instance))
		return fail(error, last_error(), "tracing_on: %s", strerror(errno));
	if (tracefs_instance_file_write(trace->instance, "trace_clock", job->clock) < 0)
		return fail(error, last_error(), "clock %s: %s", job->clock, strerror(errno));
	if (tracefs_instance_set_buffer_size(trace->instance, job->buffer_kib, -1) < 0)
		return fail(error, last_error(), "%u KiB of buffer per CPU: %s", job->buffer_kib,
			    strerror(errno));
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		if (tracefs_instance_file_write(trace->instance, settings[i][0], settings[i][1]) <
		    0)
			return fail(error, last_error(), "%s: %s", settings[i][0], strerror(errno));
	do
		snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw", trace->cpus);
	while (tracefs_file_exists(trace->instance, path) && ++trace->cpus < AGENT_MAX_CPUS);
	if (!trace->cpus)
		return fail(error, -ENODEV, "the trace instance has no CPU");
	return read_page_size(trace, error);
}

/*
 * The names of tasks cost a probe in each context switch, and putting it in patches the scheduler
 * while it runs. On an emulated dom0 of two CPUs, one boot of 60 met the patch's breakpoint after
 * it was gone, and ended with "Oops: int3". Instances have this setting from the top when they are
 * made.
 */
static int leave_names(char *error)
{
	if (agent_on_xen() && tracefs_instance_file_write(NULL, "options/record-cmd", "0") < 0)
		return fail(error, last_error(), "options/record-cmd: %s", strerror(errno));
	return 0;
}

/**
 * agent_trace_setup() - make the instance for a job: all is enabled, tracing itself is off
 * @job: must outlive the trace
 * @ret_trace: ends with agent_trace_remove()
 * @ret_error: AGENT_ERROR_SIZE bytes for one sentence
 *
 * An event that the kernel lacks is an error; a kprobe whose symbol it lacks is noted as absent.
 *
 * Return: 0 or negative errno with a sentence; nothing is left behind then.
 */
int agent_trace_setup(const struct agent_job *job, struct agent_trace **ret_trace, char *ret_error)
{
	struct agent_trace *trace;
	char name[32];
	int ret;

	ret = leave_names(ret_error);
	if (ret)
		return ret;
	trace = calloc(1, sizeof(*trace));
	if (!trace)
		return fail(ret_error, -ENOMEM, "out of memory");
	trace->job = job;
	trace->absent = json_array();
	snprintf(name, sizeof(name), INSTANCE_PREFIX "%d", (int)getpid());
	errno = 0;
	trace->instance = tracefs_instance_create(name);
	if (!trace->instance || !trace->absent)
		ret = fail(ret_error, last_error(), "cannot make a trace instance: %s",
			   errno ? strerror(errno) : "no tracefs");
	else
		ret = configure(trace, ret_error);
	ret = ret ?: enable_events(trace, ret_error);
	if (ret) {
		agent_trace_remove(trace);
		return ret;
	}
	*ret_trace = trace;
	return 0;
}

/**
 * agent_trace_remove() - take the instance and its kprobes out of the kernel
 * @trace: may be NULL; no descriptor of agent_trace_open_raw() may be open any more
 */
void agent_trace_remove(struct agent_trace *trace)
{
	struct tracefs_dynevent *event;

	if (!trace)
		return;
	if (trace->instance) {
		tracefs_instance_file_write(trace->instance, "events/enable", "0");
		if (tracefs_instance_destroy(trace->instance))
			log_warn("cannot remove the trace instance: %s", strerror(errno));
		tracefs_instance_free(trace->instance);
	}
	for (size_t i = 0; i < trace->job->n_kprobes; i++) {
		if (!trace->made[i])
			continue;
		event = probe_alloc(&trace->job->kprobes[i]);
		if (!event || tracefs_dynevent_destroy(event, true))
			log_warn("cannot remove the kprobe %s: %s", trace->job->kprobes[i].name,
				 strerror(errno));
		tracefs_dynevent_free(event);
	}
	json_decref(trace->absent);
	free(trace);
}

/** agent_trace_switch() - start or stop recording; 0 or negative errno */
int agent_trace_switch(struct agent_trace *trace, bool on)
{
	errno = 0;
	return (on ? tracefs_trace_on : tracefs_trace_off)(trace->instance) ? last_error() : 0;
}

/**
 * agent_trace_open_raw() - the raw pages of one CPU, non-blocking
 *
 * Return: descriptor of the caller, or negative errno.
 */
int agent_trace_open_raw(struct agent_trace *trace, int cpu)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "per_cpu/cpu%d/trace_pipe_raw", cpu);
	fd = tracefs_instance_file_open(trace->instance, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* The number behind "key: " at the start of a line. */
static uint64_t stat_of(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, key, len) && line[len] == ':')
			return strtoull(line + len + 1, NULL, 10);
	}
	return 0;
}

/**
 * agent_trace_stats() - the ring buffer's own account of one CPU
 * @ret_text: tracefs' text, the caller frees
 *
 * Return: 0 or negative errno.
 */
int agent_trace_stats(struct agent_trace *trace, int cpu, struct agent_ring *ret_ring,
		      char **ret_text)
{
	char path[64], *text;

	snprintf(path, sizeof(path), "per_cpu/cpu%d/stats", cpu);
	errno = 0;
	text = tracefs_instance_file_read(trace->instance, path, NULL);
	if (!text)
		return last_error();
	*ret_ring = (struct agent_ring){
		.entries = stat_of(text, "entries"),
		.overrun = stat_of(text, "overrun"),
		.commit_overrun = stat_of(text, "commit overrun"),
		.bytes = stat_of(text, "bytes"),
		.dropped = stat_of(text, "dropped events"),
		.read = stat_of(text, "read events"),
	};
	*ret_text = text;
	return 0;
}
