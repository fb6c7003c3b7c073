// SPDX-License-Identifier: GPL-2.0-only
/* The JOB frame. It is strict: a key that is not understood would be a run that is not what was
 * asked for. */
#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/job.h"
#include "base/util.h"

static int bad(char *error, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int bad(char *error, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(error, AGENT_ERROR_SIZE, fmt, args);
	va_end(args);
	return -EINVAL;
}

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Length of the C identifier that @text starts with. */
static size_t identifier(const char *text)
{
	size_t n = 0;

	while (is_alpha(text[n]) || (n && is_digit(text[n])))
		n++;
	return n;
}

/* A workload is a file name of one folder; nothing that could leave it. */
static bool workload_name_ok(const char *name)
{
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-");

	return n && n <= 64 && !name[n] && name[0] != '-';
}

/* LABD_SEED is a whole u64. */
static bool seed_ok(const char *seed)
{
	size_t n = strspn(seed, "0123456789");

	if (!n || seed[n] || n > 20)
		return false;
	errno = 0;
	strtoull(seed, NULL, 10);
	return !errno;
}

/* Clocks whose unit is the nanosecond; "counter", "uptime" and "x86-tsc" have another. */
static bool clock_ok(const char *name)
{
	static const char *const clocks[] = {
		"local", "global", "perf", "mono", "mono_raw", "boot", "tai",
	};

	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++)
		if (!strcmp(clocks[i], name))
			return true;
	return false;
}

static int parse_event(const char *text, struct agent_event *event, char *error)
{
	size_t system = identifier(text);
	size_t name = text[system] == ':' ? identifier(text + system + 1) : 0;

	if (!system || !name || text[system + 1 + name])
		return bad(error, "trace.events: \"%.64s\" is not \"system:event\"", text);
	event->system = strndup(text, system);
	event->name = strdup(text + system + 1);
	return event->system && event->name ? 0 : -ENOMEM;
}

/*
 * "p:labd/NAME SYMBOL[+OFFSET] [FETCH…]" or "r[MAXACTIVE]:labd/NAME SYMBOL [FETCH…]". The fetch
 * arguments are left to the kernel's parser; only what could break out of the line is refused here.
 */
static int parse_kprobe(const char *text, struct agent_kprobe *probe, char *error)
{
	const char *p = text, *name, *symbol;
	size_t name_len, symbol_len;

	if (*p != 'p' && *p != 'r')
		goto malformed;
	probe->is_return = *p++ == 'r';
	while (probe->is_return && is_digit(*p) && probe->maxactive < 4096)
		probe->maxactive = probe->maxactive * 10 + (*p++ - '0');
	if (strncmp(p, ":" AGENT_KPROBE_GROUP "/", strlen(AGENT_KPROBE_GROUP) + 2))
		goto malformed;
	name = p + strlen(AGENT_KPROBE_GROUP) + 2;
	name_len = identifier(name);
	if (!name_len || name_len > 60 || name[name_len] != ' ')
		goto malformed;
	symbol = name + name_len + 1;
	for (symbol_len = 0; is_alpha(symbol[symbol_len]) || symbol[symbol_len] == '.' ||
			     (symbol_len && is_digit(symbol[symbol_len]));)
		symbol_len++;
	p = symbol + symbol_len;
	if (*p == '+')
		do
			p++;
		while (is_digit(*p) || is_alpha(*p));
	if (!symbol_len || (*p && *p != ' '))
		goto malformed;
	for (const char *c = p; *c; c++)
		if (*c < ' ' || *c > '~' || *c == ';' || *c == '#')
			goto malformed;

	probe->name = strndup(name, name_len);
	probe->symbol = strndup(symbol, symbol_len);
	probe->location = strndup(symbol, p - symbol);
	probe->fetch = strdup(*p ? p + 1 : p);
	return probe->name && probe->symbol && probe->location && probe->fetch ? 0 : -ENOMEM;

malformed:
	return bad(
		error,
		"trace.kprobes: \"%.64s\" is not \"p:labd/name symbol\" or \"r:labd/name symbol\"",
		text);
}

/* The strings of an array, each at most AGENT_JOB_MAX_TEXT long; *@ret_text stays owned by @array.
 */
static int array_text(const json_t *array, size_t index, const char *key, const char **ret_text,
		      char *error)
{
	const json_t *item = json_array_get(array, index);

	if (!json_is_string(item))
		return bad(error, "%s[%zu] is not a string", key, index);
	if (json_string_length(item) > AGENT_JOB_MAX_TEXT)
		return bad(error, "%s[%zu] is longer than %d bytes", key, index,
			   AGENT_JOB_MAX_TEXT);
	*ret_text = json_string_value(item);
	return 0;
}

static int array_check(const json_t *array, size_t max, const char *key, char *error)
{
	if (!json_is_array(array))
		return bad(error, "%s is not an array", key);
	if (json_array_size(array) > max)
		return bad(error, "%s has more than %zu entries", key, max);
	return 0;
}

/* A mask without the anchors' class would be a trace that no clock can be told from. */
static int parse_xen_mask(const json_t *value, struct agent_job *job, char *error)
{
	json_int_t mask = json_integer_value(value);

	if (mask <= 0 || mask > UINT32_MAX)
		return bad(error, "trace.xen_mask is not a number of 1..4294967295");
	if (!(mask & AGENT_XEN_CLASS_GUEST) || !(mask & 0xf000))
		return bad(error, "trace.xen_mask 0x%x leaves out the guest's records",
			   (unsigned int)mask);
	job->xen_mask = mask;
	return 0;
}

static int parse_trace(json_t *trace, struct agent_job *job, char *error)
{
	json_t *events, *kprobes, *xen_mask = NULL;
	json_error_t json_error;
	const char *clock, *text;
	json_int_t buffer_kib;
	int ret;

	if (json_unpack_ex(trace, &json_error, JSON_STRICT, "{s:o, s:o, s:I, s:s, s?o}", "events",
			   &events, "kprobes", &kprobes, "buffer_kib_per_cpu", &buffer_kib, "clock",
			   &clock, "xen_mask", &xen_mask))
		return bad(error, "trace: %s", json_error.text);
	if (buffer_kib < 16 || buffer_kib > AGENT_JOB_MAX_BUFFER_KIB)
		return bad(error, "trace.buffer_kib_per_cpu is not 16..%u",
			   AGENT_JOB_MAX_BUFFER_KIB);
	job->buffer_kib = buffer_kib;
	ret = xen_mask ? parse_xen_mask(xen_mask, job, error) : 0;
	if (ret)
		return ret;
	if (!clock_ok(clock))
		return bad(error, "trace.clock \"%.32s\" does not count nanoseconds", clock);
	job->clock = strdup(clock);
	if (!job->clock)
		return -ENOMEM;

	ret = array_check(events, AGENT_JOB_MAX_EVENTS, "trace.events", error);
	ret = ret ?: array_check(kprobes, AGENT_JOB_MAX_EVENTS, "trace.kprobes", error);
	for (size_t i = 0; !ret && i < json_array_size(events); i++) {
		ret = array_text(events, i, "trace.events", &text, error);
		ret = ret ?: parse_event(text, &job->events[job->n_events++], error);
	}
	for (size_t i = 0; !ret && i < json_array_size(kprobes); i++) {
		ret = array_text(kprobes, i, "trace.kprobes", &text, error);
		ret = ret ?: parse_kprobe(text, &job->kprobes[job->n_kprobes++], error);
	}
	return ret;
}

static int parse_argv(const json_t *argv, struct agent_job *job, char *error)
{
	const char *text;
	int ret;

	ret = array_check(argv, AGENT_JOB_MAX_ARGS, "argv", error);
	for (size_t i = 0; !ret && i < json_array_size(argv); i++) {
		ret = array_text(argv, i, "argv", &text, error);
		if (ret)
			break;
		job->argv[i + 1] = strdup(text);
		if (!job->argv[i + 1])
			ret = -ENOMEM;
	}
	return ret;
}

static int parse_root(json_t *root, struct agent_job *job, char *error)
{
	json_error_t json_error;
	const char *workload, *seed;
	json_int_t run, timeout_ms;
	json_t *argv, *trace;
	int ret;

	/* The number first: with it a job that is wrong elsewhere can still be answered. */
	job->run = json_integer_value(json_object_get(root, "run"));
	if (job->run <= 0)
		return bad(error, "run is not a positive number");
	if (json_unpack_ex(root, &json_error, JSON_STRICT, "{s:I, s:s, s:o, s:s, s:I, s:o}", "run",
			   &run, "workload", &workload, "argv", &argv, "seed", &seed, "timeout_ms",
			   &timeout_ms, "trace", &trace))
		return bad(error, "%s", json_error.text);
	if (!workload_name_ok(workload))
		return bad(error, "workload \"%.64s\" is not a plain name of a-z, 0-9 and dashes",
			   workload);
	if (!seed_ok(seed))
		return bad(error, "seed \"%.32s\" is not a 64-bit decimal number", seed);
	if (timeout_ms < 1 || timeout_ms > AGENT_JOB_MAX_TIMEOUT_MS)
		return bad(error, "timeout_ms is not 1..%d", AGENT_JOB_MAX_TIMEOUT_MS);
	job->timeout_ms = timeout_ms;
	job->workload = strdup(workload);
	job->argv[0] = strdup(workload);
	job->seed = strdup(seed);
	if (!job->workload || !job->argv[0] || !job->seed)
		return -ENOMEM;
	ret = parse_argv(argv, job, error);
	return ret ?: parse_trace(trace, job, error);
}

/**
 * agent_job_parse() - read a JOB frame
 * @text: JSON, need not end in NUL
 * @ret_job: filled; free with agent_job_free(). On failure only @run is valid, 0 when it has none
 * @ret_error: AGENT_ERROR_SIZE bytes for one sentence
 *
 * Return: 0, -EINVAL with a sentence, or -ENOMEM.
 */
int agent_job_parse(const void *text, size_t length, struct agent_job *ret_job, char *ret_error)
{
	struct agent_job job = {0};
	json_error_t json_error;
	json_t *root;
	int ret;

	snprintf(ret_error, AGENT_ERROR_SIZE, "out of memory");
	memset(ret_job, 0, sizeof(*ret_job));
	root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &json_error);
	if (!root)
		return bad(ret_error, "not JSON: %s", json_error.text);
	ret = json_is_object(root) ? parse_root(root, &job, ret_error)
				   : bad(ret_error, "not a JSON object");
	json_decref(root);
	if (ret) {
		ret_job->run = job.run;
		agent_job_free(&job);
		return ret;
	}
	*ret_job = job;
	return 0;
}

/** agent_job_free() - release what agent_job_parse() filled */
void agent_job_free(struct agent_job *job)
{
	for (size_t i = 0; i < ARRAY_SIZE(job->argv); i++)
		free(job->argv[i]);
	for (size_t i = 0; i < job->n_events; i++) {
		free(job->events[i].system);
		free(job->events[i].name);
	}
	for (size_t i = 0; i < job->n_kprobes; i++) {
		free(job->kprobes[i].name);
		free(job->kprobes[i].symbol);
		free(job->kprobes[i].location);
		free(job->kprobes[i].fetch);
	}
	free(job->workload);
	free(job->seed);
	free(job->clock);
	memset(job, 0, sizeof(*job));
}
