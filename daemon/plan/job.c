// SPDX-License-Identifier: GPL-2.0-only
/* What the agent is told of each run: a function of the spec and the slot, and of nothing else. */
#include <stdio.h>

#include "plan/slot_boot.h"

/* JOB to DONE beyond the workload's own limit: ring set-up, drain and shipping. */
#define SHIP_TIMEOUT_MS 120000

static json_t *make_trace(const struct spec *spec)
{
	json_t *events = json_array(), *kprobes = json_array(), *trace;
	uint32_t xen_mask = spec_xen_mask(spec);

	for (size_t i = 0; i < spec->n_events; i++)
		if (!spec_event_is_xen(spec->events[i]))
			json_array_append_new(events, json_string(spec->events[i]));
	for (size_t i = 0; i < spec->n_kprobes; i++)
		json_array_append_new(kprobes, json_string(spec->kprobes[i]));
	trace = json_pack("{s:o, s:o, s:i, s:s}", "events", events, "kprobes", kprobes,
			  "buffer_kib_per_cpu", (int)spec->buffer_kib_per_cpu, "clock",
			  spec->clock);
	if (xen_mask)
		json_object_set_new(trace, "xen_mask", json_integer(xen_mask));
	return trace;
}

static json_t *make_job(const struct spec *spec, const struct plan_slot *slot, size_t place)
{
	const struct spec_scenario *what = &spec->scenarios[slot->runs[place]];
	struct problem problem = {0};
	json_t *argv;
	char seed[24];

	if (spec_workload_argv(what->args, &argv, &problem, "args"))
		return NULL;
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)slot->seed);
	return json_pack("{s:I, s:s, s:o, s:s, s:i, s:o}", "run", (json_int_t)place + 1, "workload",
			 what->workload, "argv", argv, "seed", seed, "timeout_ms",
			 (int)what->timeout_s * 1000, "trace", make_trace(spec));
}

/**
 * jobs_make() - the jobs of a slot's runs, in their order
 *
 * Return: a new array of the objects of JOB frames (see agent/job.h), NULL without memory.
 */
json_t *jobs_make(const struct spec *spec, const struct plan_slot *slot)
{
	json_t *jobs = json_array();

	for (size_t place = 0; jobs && place < slot->n_runs; place++) {
		if (!json_array_append_new(jobs, make_job(spec, slot, place)))
			continue;
		json_decref(jobs);
		return NULL;
	}
	return jobs;
}

/** job_place() - whose run a job is: index into the slot's runs */
size_t job_place(const json_t *job)
{
	return json_integer_value(json_object_get(job, "run")) - 1;
}

/** job_timeout_ms() - JOB to DONE, shipping included */
unsigned int job_timeout_ms(const struct spec *spec, const struct plan_slot *slot, size_t place)
{
	return spec->scenarios[slot->runs[place]].timeout_s * 1000 + SHIP_TIMEOUT_MS;
}
