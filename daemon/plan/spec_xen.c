// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a spec says about the hypervisor's trace: events named "xen:<name>", and classes of records
 * beyond them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "capture/xen_records.h"
#include "plan/spec_read.h"

#define MASK_TEXT_MAX 16

/** spec_event_is_xen() - is the event one of the hypervisor's, not of the kernel's? */
bool spec_event_is_xen(const char *event)
{
	return !strncmp(event, XEN_SYSTEM, strlen(XEN_SYSTEM));
}

/**
 * spec_check_xen_event() - an event of the system xen must be in the table of records
 *
 * Return: 0, also for the kernel's events, or -EINVAL with the problem set.
 */
int spec_check_xen_event(struct spec_reader *reader, const char *event)
{
	char known[512] = "", shown[SPEC_NAME_MAX + 4];
	size_t len = 0;

	if (!spec_event_is_xen(event) || xen_record_by_name(event))
		return 0;
	for (unsigned int i = 0; i < xen_n_record_types && len < sizeof(known); i++)
		len += snprintf(known + len, sizeof(known) - len, "%s%s", i ? ", " : "",
				xen_record_types[i].name);
	return spec_problem(reader, NULL, "Xen has no record %s; known here are %s.",
			    spec_show(event, shown), known);
}

/**
 * spec_read_xen_mask() - classes of Xen's records, a number or a text like "0x0002f000"
 *
 * Return: 0, -EINVAL with the problem set, or -ENOMEM.
 */
int spec_read_xen_mask(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		       void *object)
{
	const char *text = json_string_value(value);
	long long mask = json_integer_value(value);
	char *end;

	if (text) {
		mask = strtoll(text, &end, 16);
		if (strncmp(text, "0x", 2) || strlen(text) < 3 || strlen(text) > MASK_TEXT_MAX ||
		    *end)
			mask = -1;
	} else if (!json_is_integer(value)) {
		mask = -1;
	}
	if (mask < 0 || mask & ~(long long)XEN_CLASSES)
		return spec_problem(reader, NULL,
				    "Must be a mask of xentrace's classes, a number or a text like "
				    "\"0x0002f000\", within 0x%08x.",
				    XEN_CLASSES);
	*(uint32_t *)((char *)object + key->offset) = mask;
	return 0;
}

/**
 * spec_xen_mask() - what xentrace must record: the classes of the named records, those of
 * trace.xen_mask, and the agent's anchors
 *
 * A spec whose mask is not 0 needs builds with a hypervisor.
 *
 * Return: the mask, 0 when Xen is not traced.
 */
uint32_t spec_xen_mask(const struct spec *spec)
{
	const struct xen_record_type *type;
	uint32_t mask = spec->xen_mask;

	for (size_t i = 0; i < spec->n_events; i++) {
		type = xen_record_by_name(spec->events[i]);
		if (type)
			mask |= type->id & XEN_CLASSES;
	}
	return mask ? mask | XEN_CLASS_GUEST : 0;
}
