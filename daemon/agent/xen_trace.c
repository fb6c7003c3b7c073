// SPDX-License-Identifier: GPL-2.0-only
/*
 * The recorder of Xen's trace, beside the one of the kernel's: xentrace, with anchors of dom0's
 * clock before and after the run.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/anchor.h"
#include "agent/hypervisor.h"
#include "agent/xen_trace.h"
#include "agent/xentrace.h"
#include "base/frame.h"
#include "base/util.h"

/* Anchors of a round, per CPU. The tightest of them counts, so that one interrupt does no harm. */
#define ANCHORS 8

/* Under emulation a program takes its time to start. */
#define START_MS 15000
#define STOP_MS 15000
#define SETTLE_MS 5000
#define SETTLED_MS 50
#define DATA_MAX (256u * 1024)

/**
 * struct agent_xen - Xen's trace of one run
 * @first: number of the run's first anchor
 * @last: number of the first anchor of the last round
 * @complete: that round was made; each CPU's records end with its anchors
 */
struct agent_xen {
	struct agent_xentrace xentrace;
	struct agent_anchors anchors;
	uint32_t first;
	uint32_t last;
	bool complete;
};

static int fail(char *error, int ret, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static int fail(char *error, int ret, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(error, AGENT_ERROR_SIZE, fmt, args);
	va_end(args);
	return ret;
}

/* The sentence for an xentrace that is no more. */
static int has_ended(const struct agent_xen *xen, const char *when, char *error)
{
	const struct agent_xentrace *xentrace = &xen->xentrace;
	char how[48], words[128];

	if (xentrace->full)
		return fail(error, -EFBIG,
			    "Xen's trace is incomplete: its file is full with %llu bytes",
			    (unsigned long long)xentrace->size);
	if (xentrace->signal)
		snprintf(how, sizeof(how), "signal %d", xentrace->signal);
	else
		snprintf(how, sizeof(how), "code %d", xentrace->exit);
	agent_xentrace_last_words(xentrace, words, sizeof(words));
	return fail(error, -EPIPE, "xentrace ended %s with %s%s%s", when, how, *words ? ": " : "",
		    words);
}

/* Anchors until one arrives in the file: before that Xen may not be tracing at all. */
static int wait_for_records(struct agent_xen *xen, char *error)
{
	int64_t deadline = mono_ns() + START_MS * 1000000LL;
	int ret;

	do {
		ret = agent_anchor(&xen->anchors);
		if (ret)
			return fail(error, ret, "cannot write to Xen's trace: %s", strerror(-ret));
		if (!agent_xentrace_wait(&xen->xentrace, 20))
			return has_ended(xen, "before the run", error);
		if (xen->xentrace.size)
			return 0;
	} while (mono_ns() < deadline);
	return fail(error, -ETIMEDOUT, "xentrace recorded nothing within %d s", START_MS / 1000);
}

/**
 * agent_xen_start() - begin to record Xen's trace
 * @mask: classes of records
 * @limit: bytes that the trace may have
 * @ret_xen: recording, and its first anchors written; ends with agent_xen_free()
 * @ret_error: AGENT_ERROR_SIZE bytes for one sentence
 *
 * Return: 0 or negative errno with a sentence.
 */
int agent_xen_start(const struct agent_settings *settings, uint32_t mask, uint64_t limit,
		    struct agent_xen **ret_xen, char *ret_error)
{
	struct agent_xen *xen = calloc(1, sizeof(*xen));
	int ret;

	if (!xen)
		return fail(ret_error, -ENOMEM, "cannot trace Xen: out of memory");
	xen->xentrace.fd = xen->xentrace.err_fd = xen->xentrace.pid_fd = -1;
	ret = agent_anchors_open(&xen->anchors, agent_hypervisor_tsc_khz());
	if (ret) {
		fail(ret_error, ret, "cannot write to Xen's trace: /dev/xen/privcmd: %s",
		     strerror(-ret));
		goto out;
	}
	ret = agent_xentrace_start(&xen->xentrace, settings->bin_dir, settings->spool_dir, mask,
				   limit);
	if (ret) {
		fail(ret_error, ret, "cannot start xentrace: %s", strerror(-ret));
		goto out;
	}
	ret = wait_for_records(xen, ret_error);
	if (ret)
		goto out;
	xen->first = xen->anchors.seq;
	ret = agent_anchor_round(&xen->anchors, ANCHORS);
	if (ret) {
		fail(ret_error, ret, "cannot write to Xen's trace: %s", strerror(-ret));
		goto out;
	}
	*ret_xen = xen;
	return 0;
out:
	agent_xen_free(xen);
	return ret;
}

/*
 * Wait until xentrace has taken the first anchors after the run, so that the buffers have room
 * again. Xen writes down what it lost with the next record that finds room: the last round's must.
 */
static bool settle(struct agent_xen *xen, uint64_t size)
{
	int64_t deadline = mono_ns() + SETTLE_MS * 1000000LL;
	bool runs;

	do
		runs = agent_xentrace_wait(&xen->xentrace, 20);
	while (runs && xen->xentrace.size == size && mono_ns() < deadline);
	/* The file grows by one CPU after the other. */
	return runs && agent_xentrace_wait(&xen->xentrace, SETTLED_MS);
}

/**
 * agent_xen_stop() - the last anchors, and the end of the recording
 * @ret_error: AGENT_ERROR_SIZE bytes for one sentence
 *
 * What was recorded can be sent whatever is returned.
 *
 * Return: 0 or negative errno with a sentence.
 */
int agent_xen_stop(struct agent_xen *xen, char *ret_error)
{
	struct agent_xentrace *xentrace = &xen->xentrace;
	uint64_t size;
	int ret;

	if (!agent_xentrace_wait(xentrace, 0))
		return has_ended(xen, "during the run", ret_error);
	size = xentrace->size;
	ret = agent_anchor_round(&xen->anchors, ANCHORS);
	if (!ret && !settle(xen, size))
		return has_ended(xen, "during the run", ret_error);
	xen->last = xen->anchors.seq;
	ret = ret ?: agent_anchor_round(&xen->anchors, 1);
	xen->complete = !ret;
	agent_xentrace_stop(xentrace, STOP_MS);
	if (ret)
		return fail(ret_error, ret, "cannot write to Xen's trace: %s", strerror(-ret));
	if (xentrace->signal || xentrace->exit)
		return has_ended(xen, "after the run", ret_error);
	return 0;
}

/**
 * agent_xen_json() - what DONE says of Xen's trace
 *
 * "first_anchor" and "last_anchor" are the numbers of the run's first anchor and of the first one
 * of the last round, which has one per CPU: where that is missing, a CPU's end is. "last_anchor" is
 * null when the round was not made.
 *
 * Return: new reference, or NULL without memory.
 */
json_t *agent_xen_json(const struct agent_xen *xen)
{
	const struct agent_xentrace *xentrace = &xen->xentrace;
	char text[AGENT_XENTRACE_TAIL];

	for (size_t i = 0; i < xentrace->tail_len; i++) {
		char c = xentrace->tail[i];

		text[i] = (c >= ' ' && c <= '~') || c == '\n' || c == '\t' ? c : '?';
	}
	return json_pack("{s:I, s:I, s:i, s:i, s:b, s:I, s:o, s:o}", "tsc_khz",
			 (json_int_t)xen->anchors.tsc_khz, "bytes", (json_int_t)xentrace->size,
			 "exit", xentrace->exit, "signal", xentrace->signal, "truncated",
			 xentrace->full, "first_anchor", (json_int_t)xen->first, "last_anchor",
			 xen->complete ? json_integer(xen->last) : json_null(), "stderr",
			 json_stringn(text, xentrace->tail_len));
}

/**
 * agent_xen_send() - ship the trace: FILE and its DATA frames
 * @xen: stopped
 * @fd: the channel
 *
 * Return: 0 or negative errno; the host may have received a part of the file then.
 */
int agent_xen_send(const struct agent_xen *xen, int fd)
{
	uint64_t left = xen->xentrace.size;
	char text[96], *buffer;
	off_t at = 0;
	ssize_t n;
	int ret;

	buffer = malloc(DATA_MAX);
	if (!buffer)
		return -ENOMEM;
	snprintf(text, sizeof(text), "{\"name\":\"xentrace\",\"size\":%llu}",
		 (unsigned long long)left);
	ret = frame_write(fd, FRAME_FILE, text, strlen(text));
	while (!ret && left) {
		n = pread(xen->xentrace.fd, buffer, left < DATA_MAX ? left : DATA_MAX, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			ret = n ? -errno : -EIO;
			break;
		}
		ret = frame_write(fd, FRAME_DATA, buffer, n);
		at += n;
		left -= n;
	}
	free(buffer);
	return ret;
}

/** agent_xen_free() - end it if it still records, and release it; may be NULL */
void agent_xen_free(struct agent_xen *xen)
{
	if (!xen)
		return;
	agent_xentrace_free(&xen->xentrace);
	agent_anchors_close(&xen->anchors);
	free(xen);
}
