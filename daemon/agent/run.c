// SPDX-License-Identifier: GPL-2.0-only
/*
 * One run, from JOB to DONE. Between "tracing on" and "tracing off" nothing happens but the
 * workload and the emptying of the rings.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/capture.h"
#include "agent/env.h"
#include "agent/job.h"
#include "agent/run.h"
#include "agent/spool.h"
#include "agent/tracefs.h"
#include "agent/workload.h"
#include "agent/xen_trace.h"
#include "base/frame.h"
#include "base/util.h"

/**
 * struct run - a run in progress
 * @state: of DONE
 * @error: one sentence, empty when all went well
 * @started, @ended: CLOCK_MONOTONIC ns of tracing on and off
 * @stats: per CPU, tracefs' text; NULL until the rings are drained
 * @xen: the hypervisor's trace, NULL when none was asked for
 */
struct run {
	const struct agent_settings *settings;
	int fd;
	struct agent_job job;
	struct agent_trace *trace;
	struct agent_spool *spool;
	struct agent_xen *xen;
	struct agent_workload workload;
	const char *state;
	char error[AGENT_ERROR_SIZE];
	int64_t started;
	int64_t ended;
	struct agent_ring *rings;
	char **stats;
};

static int send_json(int fd, enum frame_type type, const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT);
	int ret;

	if (!text)
		return -ENOMEM;
	ret = frame_write(fd, type, text, strlen(text));
	free(text);
	return ret;
}

static void trace_failed(struct run *run, const char *what, int ret)
{
	run->state = "trace-failed";
	snprintf(run->error, sizeof(run->error), "%s: %s", what, strerror(-ret));
}

/* Bytes the spool may take: a share of what is free, for the workload needs memory too. */
static uint64_t spool_limit(void)
{
	uint64_t share = agent_env_available_bytes() / 4;

	return share && share < AGENT_SPOOL_MAX ? share : AGENT_SPOOL_MAX;
}

/* Everything that takes time is done before the trace is on. */
static bool prepare(struct run *run)
{
	int ret;

	run->state = "trace-failed";
	if (agent_trace_setup(&run->job, &run->trace, run->error))
		return false;
	ret = agent_spool_start(run->trace, run->settings->spool_dir, spool_limit(), &run->spool);
	if (ret) {
		trace_failed(run, "cannot start the spool", ret);
		return false;
	}
	run->stats = calloc(run->trace->cpus, sizeof(run->stats[0]));
	run->rings = calloc(run->trace->cpus, sizeof(run->rings[0]));
	if (!run->stats || !run->rings) {
		trace_failed(run, "cannot start", -ENOMEM);
		return false;
	}
	/* Last, for it records from here on. */
	return !run->job.xen_mask || !agent_xen_start(run->settings, run->job.xen_mask,
						      spool_limit(), &run->xen, run->error);
}

static void measure(struct run *run)
{
	char *tracing_on = tracefs_instance_get_file(run->trace->instance, "tracing_on");
	int ret;

	if (!tracing_on) {
		trace_failed(run, "cannot name tracing_on", -ENOMEM);
		return;
	}
	run->started = mono_ns();
	ret = agent_trace_switch(run->trace, true);
	if (ret) {
		trace_failed(run, "cannot turn tracing on", ret);
		goto out;
	}
	ret = agent_workload_start(&run->workload, &run->job, run->settings->bin_dir, tracing_on);
	if (!ret)
		agent_workload_wait(&run->workload, run->job.timeout_ms, run->fd,
				    run->settings->signal_fd);
	run->state = "ok";
	if (agent_trace_switch(run->trace, false))
		trace_failed(run, "cannot turn tracing off", -EIO);
	run->ended = mono_ns();
	if (!ret) {
		agent_workload_collect(&run->workload);
		goto out;
	}
	run->state = "workload-failed";
	snprintf(run->error, sizeof(run->error), "cannot start %s: %s", run->job.workload,
		 strerror(-ret));
out:
	tracefs_put_tracing_file(tracing_on);
}

static void settle_xen(struct run *run)
{
	if (run->xen && agent_xen_stop(run->xen, run->error))
		run->state = "trace-failed";
}

/* The rings' account, after the last event was taken out of them. */
static void settle_rings(struct run *run)
{
	int ret;

	agent_spool_drain(run->spool);
	for (int i = 0; i < run->trace->cpus; i++) {
		const struct agent_spooled *spooled = agent_spool_cpu(run->spool, i);
		char what[64];

		snprintf(what, sizeof(what), "cannot read the ring of CPU %d", i);
		if (spooled->error)
			trace_failed(run, what, spooled->error);
		ret = agent_trace_stats(run->trace, i, &run->rings[i], &run->stats[i]);
		if (ret)
			trace_failed(run, what, ret);
	}
}

/* The workload's one JSON object; NULL, with the reason in the run, when it is none. */
static json_t *judge_workload(struct run *run)
{
	const struct agent_workload *workload = &run->workload;
	json_error_t json_error = {0};
	char error[AGENT_ERROR_SIZE] = "";
	json_t *value = NULL;

	if (!workload->too_long)
		value = json_loadb(workload->output, workload->output_len, JSON_REJECT_DUPLICATES,
				   &json_error);
	if (value && !json_is_object(value)) {
		json_decref(value);
		value = NULL;
		snprintf(json_error.text, sizeof(json_error.text), "no object");
	}

	if (workload->end == AGENT_WORKLOAD_CANCELLED)
		snprintf(error, sizeof(error), "cancelled");
	else if (workload->end == AGENT_WORKLOAD_TIMEOUT)
		snprintf(error, sizeof(error), "still running after %u ms", run->job.timeout_ms);
	else if (workload->signal)
		snprintf(error, sizeof(error), "killed by signal %d", workload->signal);
	else if (workload->exit)
		snprintf(error, sizeof(error), "ended with code %d", workload->exit);
	else if (workload->too_long)
		snprintf(error, sizeof(error), "printed more than %u bytes", AGENT_STDOUT_MAX);
	else if (!value)
		snprintf(error, sizeof(error), "printed no JSON object: %.160s", json_error.text);

	if (*error && strcmp(run->state, "trace-failed")) {
		run->state = workload->end == AGENT_WORKLOAD_TIMEOUT ? "workload-timeout"
								     : "workload-failed";
		memcpy(run->error, error, sizeof(error));
	}
	return value;
}

/* What a program wrote, as text that JSON can hold. */
static json_t *text_of(char *text, size_t len)
{
	json_t *value;

	for (size_t i = 0; i < len; i++)
		if ((uint8_t)text[i] < ' ' && text[i] != '\n' && text[i] != '\t')
			text[i] = '?';
	value = json_stringn(text, len);
	if (value)
		return value;
	for (size_t i = 0; i < len; i++)
		if ((uint8_t)text[i] > '~')
			text[i] = '?';
	return json_stringn(text, len);
}

static json_t *rings_json(const struct run *run)
{
	json_t *rings = json_array();

	for (int i = 0; run->ended && i < run->trace->cpus; i++) {
		const struct agent_ring *ring = &run->rings[i];
		const struct agent_spooled *spooled = agent_spool_cpu(run->spool, i);

		json_array_append_new(
			rings, json_pack("{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "cpu", i,
					 "entries", (json_int_t)ring->entries, "overrun",
					 (json_int_t)ring->overrun, "commit_overrun",
					 (json_int_t)ring->commit_overrun, "dropped",
					 (json_int_t)ring->dropped, "read", (json_int_t)ring->read,
					 "bytes", (json_int_t)ring->bytes, "spooled",
					 (json_int_t)spooled->size, "spool_lost_pages",
					 (json_int_t)spooled->lost_pages));
	}
	return rings;
}

static bool spool_full(const struct run *run)
{
	for (int i = 0; run->ended && i < run->trace->cpus; i++)
		if (agent_spool_cpu(run->spool, i)->lost_pages)
			return true;
	return false;
}

static int send_done(struct run *run, json_t *workload)
{
	bool measured = run->ended, mono = measured && !strcmp(run->job.clock, "mono");
	json_t *done;
	int ret;

	done = json_pack("{s:I, s:s, s:s, s:i, s:i, s:o?, s:o?, s:I, s:s?, s:o, s:b, s:o, s:I}",
			 "run", (json_int_t)run->job.run, "state", run->state, "error", run->error,
			 "exit", run->workload.exit, "signal", run->workload.signal, "workload",
			 workload, "stderr",
			 text_of(run->workload.tail ?: "", run->workload.tail_len), "measure_ns",
			 (json_int_t)(measured ? run->ended - run->started : 0), "clock",
			 run->job.clock, "rings", rings_json(run), "spool_full", spool_full(run),
			 "absent", run->trace ? json_incref(run->trace->absent) : json_array(),
			 "taint", (json_int_t)agent_env_taint());
	if (!done)
		return -ENOMEM;
	if (run->xen)
		json_object_set_new(done, "xen", agent_xen_json(run->xen));
	if (mono) {
		json_object_set_new(done, "started_ns", json_integer(run->started));
		json_object_set_new(done, "ended_ns", json_integer(run->ended));
	}
	ret = send_json(run->fd, FRAME_DONE, done);
	if (ret == -EMSGSIZE) {
		/* Numbers may grow when they are printed again. */
		json_object_set_new(done, "workload", json_null());
		json_object_set_new(done, "state", json_string("workload-failed"));
		json_object_set_new(done, "error",
				    json_string("its JSON is too large for the wire"));
		ret = send_json(run->fd, FRAME_DONE, done);
	}
	json_decref(done);
	return ret;
}

static int send_started(struct run *run)
{
	json_t *started = json_pack("{s:I}", "run", (json_int_t)run->job.run);
	int ret = started ? send_json(run->fd, FRAME_STARTED, started) : -ENOMEM;

	json_decref(started);
	/* Its way to the host must not run beside the measurement. */
	if (!ret && run->settings->settle)
		ret = run->settings->settle(run->fd);
	return ret;
}

/*
 * A capture that cannot be made is the run's failure, one that cannot be sent is the channel's. The
 * hypervisor's only comes behind the kernel's.
 */
static int ship(struct run *run)
{
	struct agent_capture *capture = NULL;
	int ret;

	ret = agent_capture_make(run->trace, run->spool, run->stats, &capture);
	if (ret) {
		trace_failed(run, "cannot make the capture", ret);
		return 0;
	}
	ret = agent_capture_send(capture, run->fd);
	agent_capture_free(capture);
	if (!ret && run->xen)
		ret = agent_xen_send(run->xen, run->fd);
	return ret;
}

/**
 * agent_run() - do one run and answer with DONE
 * @fd: the channel
 * @job: payload of the JOB frame
 *
 * A run that goes wrong is an answer, not an error. The captures precede DONE whenever the trace
 * was on.
 *
 * Return: 0, or a negative errno when the channel or its protocol failed.
 */
int agent_run(const struct agent_settings *settings, int fd, const void *job, size_t length)
{
	struct run run = {
		.settings = settings,
		.fd = fd,
		.state = "trace-failed",
		.workload = {.pid_fd = -1, .out_fd = -1, .err_fd = -1},
	};
	char error[AGENT_ERROR_SIZE];
	json_t *workload = NULL;
	int cpus, ret = 0;

	if (agent_job_parse(job, length, &run.job, error)) {
		snprintf(run.error, sizeof(run.error), "job: %.240s", error);
		ret = run.job.run ? 0 : -EPROTO;
	} else if (prepare(&run)) {
		ret = send_started(&run);
		if (!ret)
			measure(&run);
		if (!ret && run.ended) {
			settle_xen(&run);
			settle_rings(&run);
			if (run.workload.end != AGENT_WORKLOAD_RUNNING)
				workload = judge_workload(&run);
			ret = ship(&run);
		}
	}
	ret = ret ?: send_done(&run, workload);

	cpus = run.trace && run.stats ? run.trace->cpus : 0;
	for (int i = 0; i < cpus; i++)
		free(run.stats[i]);
	free(run.stats);
	free(run.rings);
	agent_workload_free(&run.workload);
	agent_xen_free(run.xen);
	agent_spool_free(run.spool);
	agent_trace_remove(run.trace);
	agent_job_free(&run.job);
	return ret;
}
