// SPDX-License-Identifier: GPL-2.0-only
/* The rules that no single value can break: names that clash, events that nobody records, sizes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/spec_read.h"

/* The name of item @index of an array of structs that begin with a name; "" past what was read. */
static const char *name_of(const void *items, size_t stride, size_t index)
{
	return *(char *const *)((const char *)items + index * stride);
}

static int check_names(struct problem *problem, const char *list, const void *items, size_t stride,
		       size_t count)
{
	char key[64];

	for (size_t i = 1; i < count; i++) {
		for (size_t k = 0; k < i; k++) {
			if (strcmp(name_of(items, stride, i), name_of(items, stride, k)))
				continue;
			snprintf(key, sizeof(key), "%s[%zu].name", list, i);
			return problem_set(problem, 422, key, "The name %s is taken by %s[%zu].",
					   name_of(items, stride, i), list, k);
		}
	}
	return 0;
}

/* Calls @fn with each event that the trace records until it returns true. */
static bool find_recorded(const struct spec *spec, const char *wanted, size_t before)
{
	char *event;
	bool found;

	for (size_t i = 0; i < spec->n_events && i < before; i++)
		if (!strcmp(spec->events[i], wanted))
			return true;
	for (size_t i = 0; i < spec->n_kprobes && i + spec->n_events < before; i++) {
		event = spec_kprobe_event(spec->kprobes[i]);
		found = event && !strcmp(event, wanted);
		free(event);
		if (found)
			return true;
	}
	return false;
}

static int check_trace(const struct spec *spec, struct problem *problem)
{
	char key[64], *event;
	bool twice;

	for (size_t i = 0; i < spec->n_events; i++) {
		snprintf(key, sizeof(key), "trace.events[%zu]", i);
		if (find_recorded(spec, spec->events[i], i))
			return problem_set(problem, 422, key, "The event %s is listed twice.",
					   spec->events[i]);
	}
	for (size_t i = 0; i < spec->n_kprobes; i++) {
		event = spec_kprobe_event(spec->kprobes[i]);
		if (!event)
			return -ENOMEM;
		snprintf(key, sizeof(key), "trace.kprobes[%zu]", i);
		twice = find_recorded(spec, event, spec->n_events + i);
		if (twice)
			problem_set(problem, 422, key, "The event %s is recorded twice.", event);
		free(event);
		if (twice)
			return -EINVAL;
	}
	return 0;
}

static int check_recorded(const struct spec *spec, struct problem *problem, size_t index,
			  const char *member, const char *event)
{
	char key[64];

	if (!event || find_recorded(spec, event, SIZE_MAX))
		return 0;
	snprintf(key, sizeof(key), "metrics[%zu].%s", index, member);
	return problem_set(problem, 422, key,
			   "The event %s is recorded by neither trace.events nor "
			   "trace.kprobes.",
			   event);
}

static int check_metric(const struct spec *spec, struct problem *problem, size_t index)
{
	const struct spec_metric *metric = &spec->metrics[index];
	int ret;

	ret = check_recorded(spec, problem, index, "event", metric->event);
	if (!ret)
		ret = check_recorded(spec, problem, index, "begin", metric->begin);
	if (!ret)
		ret = check_recorded(spec, problem, index, "end", metric->end);
	if (!ret)
		ret = check_recorded(spec, problem, index, "num.event", metric->num.event);
	if (!ret)
		ret = check_recorded(spec, problem, index, "den.event", metric->den.event);
	return ret;
}

static int check_cmdline(const char *cmdline, const char *key, struct problem *problem)
{
	/* The token proves which boot it was, and "--" would hand what follows to init. */
	for (const char *word = cmdline; *word; word += strcspn(word, " ")) {
		word += strspn(word, " ");
		if (!strncmp(word, "labd.", 5))
			return problem_set(problem, 422, key,
					   "Parameters that start with \"labd.\" are "
					   "the lab's own.");
		if (!strncmp(word, "--", 2) && (word[2] == ' ' || !word[2]))
			return problem_set(problem, 422, key,
					   "Must hold kernel parameters only, no "
					   "\"--\".");
	}
	return 0;
}

/* Xen's records are put on CLOCK_MONOTONIC; the kernel's beside them must be on the same. */
static int check_xen(const struct spec *spec, struct problem *problem)
{
	bool linux_events = spec->n_kprobes > 0;

	for (size_t i = 0; i < spec->n_events; i++)
		linux_events |= !spec_event_is_xen(spec->events[i]);
	if (spec_xen_mask(spec) && linux_events && strcmp(spec->clock, "mono"))
		return problem_set(problem, 422, "trace.clock",
				   "Must be mono where Xen is traced, too: its records are "
				   "on that clock.");
	return check_cmdline(spec->xen_cmdline, "xen_cmdline", problem);
}

/* The noise floor is what two boots of one build differ by. */
static int check_aa(const struct spec *spec, struct problem *problem)
{
	if (!spec->aa)
		return 0;
	if (spec->n_arms != 2)
		return problem_set(problem, 422, "arms",
				   "Must hold exactly two arms of one build where kind is aa, "
				   "not %zu.",
				   spec->n_arms);
	if (strcmp(spec->arms[0].build, spec->arms[1].build))
		return problem_set(problem, 422, "arms[1].build",
				   "Must be %s, as in arms[0], where kind is aa.",
				   spec->arms[0].build);
	return 0;
}

/**
 * spec_check() - the rules between the values of a spec that was read
 *
 * Return: 0, -EINVAL with the problem set, or -ENOMEM.
 */
int spec_check(const struct spec *spec, struct problem *problem)
{
	size_t runs;
	int ret;

	ret = check_names(problem, "arms", spec->arms, sizeof(spec->arms[0]), spec->n_arms);
	if (!ret)
		ret = check_names(problem, "scenarios", spec->scenarios, sizeof(spec->scenarios[0]),
				  spec->n_scenarios);
	if (!ret)
		ret = check_names(problem, "metrics", spec->metrics, sizeof(spec->metrics[0]),
				  spec->n_metrics);
	if (!ret)
		ret = check_aa(spec, problem);
	if (!ret)
		ret = check_trace(spec, problem);
	for (size_t i = 0; !ret && i < spec->n_metrics; i++)
		ret = check_metric(spec, problem, i);
	if (!ret)
		ret = check_cmdline(spec->cmdline, "cmdline", problem);
	if (!ret)
		ret = check_xen(spec, problem);
	if (ret)
		return ret;

	runs = spec->n_arms * spec->rounds * spec->n_scenarios * spec->repeats;
	if (runs > SPEC_MAX_RUNS)
		return problem_set(problem, 422, "rounds",
				   "Arms, rounds, scenarios and repeats multiply to "
				   "%zu runs; at most %d can be planned.",
				   runs, SPEC_MAX_RUNS);
	return 0;
}
