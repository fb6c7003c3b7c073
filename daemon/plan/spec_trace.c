// SPDX-License-Identifier: GPL-2.0-only
/* The spec's "trace": which events a run records and how. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "plan/spec_read.h"

#define IDENTIFIER_MAX 64
#define KPROBE_MAX 512

/* Cuts "a<separator>b…" into two identifiers; @end is behind the second. */
static bool split_pair(const char *text, char separator, char *ret_first, char *ret_second,
		       const char **ret_end)
{
	const char *middle = strchr(text, separator);
	size_t first, second;

	if (!middle)
		return false;
	first = middle - text;
	second = strcspn(middle + 1, " ");
	if (first > IDENTIFIER_MAX || second > IDENTIFIER_MAX)
		return false;
	snprintf(ret_first, IDENTIFIER_MAX + 1, "%.*s", (int)first, text);
	snprintf(ret_second, IDENTIFIER_MAX + 1, "%.*s", (int)second, middle + 1);
	*ret_end = middle + 1 + second;
	return spec_is_word(ret_first, IDENTIFIER_MAX, "-") &&
	       spec_is_word(ret_second, IDENTIFIER_MAX, "-");
}

/**
 * spec_read_event() - an event's name, "system:event", no pattern
 * @slot: char * that receives a copy
 *
 * Return: 0, -EINVAL with the problem set, or -ENOMEM.
 */
int spec_read_event(struct spec_reader *reader, json_t *value, void *slot)
{
	char system[IDENTIFIER_MAX + 1], event[IDENTIFIER_MAX + 1];
	const char *text, *end;
	int ret;

	ret = spec_take_string(reader, value, 2 * IDENTIFIER_MAX + 1, &text);
	if (ret)
		return ret;
	if (!split_pair(text, ':', system, event, &end) || *end)
		return spec_problem(reader, NULL, "Must name one event as \"system:event\".");
	ret = spec_check_xen_event(reader, text);
	return ret ?: spec_store_string(slot, text);
}

/**
 * spec_kprobe_event() - the event that a probe makes
 * @probe: in tracefs' syntax, with its group and name: "p:group/name symbol …"; a return probe may
 * say how many calls it follows at once ("r16:…")
 *
 * Return: "group:name" for the caller to free, or NULL when @probe has another form (or without
 * memory).
 */
char *spec_kprobe_event(const char *probe)
{
	char group[IDENTIFIER_MAX + 1], name[IDENTIFIER_MAX + 1];
	const char *p = probe;
	size_t digits, symbol;

	if (*p != 'p' && *p != 'r')
		return NULL;
	digits = *p++ == 'r' ? strspn(p, "0123456789") : 0;
	if (digits > 4 || p[digits] != ':' || !split_pair(p + digits + 1, '/', group, name, &p) ||
	    *p++ != ' ')
		return NULL;
	symbol = strcspn(p, " ");
	if (!symbol || symbol > 2 * IDENTIFIER_MAX ||
	    strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		      "0123456789_.+:") < symbol)
		return NULL;
	/* The kernel takes a '#' for a comment and every line for a probe of its own. */
	for (; *p; p++)
		if (*p < ' ' || *p > '~' || *p == '#')
			return NULL;
	return str_printf("%s:%s", group, name);
}

static int read_kprobe(struct spec_reader *reader, json_t *value, void *slot)
{
	const char *text;
	char *event;
	int ret;

	ret = spec_take_string(reader, value, KPROBE_MAX, &text);
	if (ret)
		return ret;
	event = spec_kprobe_event(text);
	if (!event)
		return spec_problem(reader, NULL,
				    "Must be a probe of the form \"p:group/name symbol\" or "
				    "\"r:group/name symbol\", arguments behind it.");
	ret = spec_event_is_xen(event)
		      ? spec_problem(reader, NULL,
				     "The group xen is the hypervisor's: name another.")
		      : spec_store_string(slot, text);
	free(event);
	return ret;
}

static int read_clock(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		      void *object)
{
	static const char *const clocks[] = {"mono",  "mono_raw", "boot",
					     "local", "global",	  "x86-tsc"};
	size_t i;
	int ret;

	ret = spec_take_choice(reader, value, clocks, ARRAY_SIZE(clocks), &i);
	return ret ?: spec_store_string((char **)((char *)object + key->offset), clocks[i]);
}

static const struct spec_list event_list = {spec_read_event, offsetof(struct spec, n_events),
					    sizeof(char *)};
static const struct spec_list kprobe_list = {read_kprobe, offsetof(struct spec, n_kprobes),
					     sizeof(char *)};

static const struct spec_key trace_keys[] = {
	{"events", spec_read_list, offsetof(struct spec, events), false, 0, SPEC_MAX_EVENTS,
	 &event_list},
	{"kprobes", spec_read_list, offsetof(struct spec, kprobes), false, 0, SPEC_MAX_EVENTS,
	 &kprobe_list},
	{"buffer_kib_per_cpu", spec_read_uint, offsetof(struct spec, buffer_kib_per_cpu), false, 64,
	 1 << 20},
	{"clock", read_clock, offsetof(struct spec, clock)},
	{"xen_mask", spec_read_xen_mask, offsetof(struct spec, xen_mask)},
	{NULL}};

/** spec_read_trace() - the whole object, into the fields of struct spec */
int spec_read_trace(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		    void *object)
{
	return spec_read_object(reader, trace_keys, value, object);
}
