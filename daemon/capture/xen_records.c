// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of known Xen records. A new trace point is one entry here: specs, the decoder and the
 * events file follow it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "capture/xen_records.h"

#define WORD(i) (4 * (i))

/* Who was running: the domain in the lower half of the word, its vCPU in the upper. */
#define CONTEXT                                \
	{"domid", VALUE_U16, WORD(0)},         \
	{                                      \
		"vcpu", VALUE_U16, WORD(0) + 2 \
	}

const struct xen_record_type xen_record_types[] = {
	/* Xen's own; domid is the domain that granted the page. */
	{0x10f001, "page_grant_map", 1, {{"domid", VALUE_U32, WORD(0)}}},
	{0x10f002, "page_grant_unmap", 1, {{"domid", VALUE_U32, WORD(0)}}},
	{0x10f003, "page_grant_transfer", 1, {{"domid", VALUE_U32, WORD(0)}}},
	{0x10f004,
	 "set_p2m_entry",
	 6,
	 {{"gfn", VALUE_64, WORD(0)},
	  {"mfn", VALUE_64, WORD(2)},
	  {"p2mt", VALUE_U32, WORD(4)},
	  {"domid", VALUE_U16, WORD(5)},
	  {"page_order", VALUE_U16, WORD(5) + 2}}},
	{0x10f005,
	 "decrease_reservation",
	 4,
	 {{"gfn", VALUE_64, WORD(0)},
	  {"domid", VALUE_U16, WORD(2)},
	  {"page_order", VALUE_U16, WORD(2) + 2}}},
	{0x10f010,
	 "pod_populate",
	 6,
	 {{"gfn", VALUE_64, WORD(0)},
	  {"mfn", VALUE_64, WORD(2)},
	  {"domid", VALUE_U16, WORD(4)},
	  {"page_order", VALUE_U16, WORD(4) + 2}}},
	{0x10f011,
	 "pod_zero_reclaim",
	 6,
	 {{"gfn", VALUE_64, WORD(0)},
	  {"mfn", VALUE_64, WORD(2)},
	  {"domid", VALUE_U16, WORD(4)},
	  {"page_order", VALUE_U16, WORD(4) + 2}}},
	{0x10f012,
	 "pod_superpage_splinter",
	 4,
	 {{"gfn", VALUE_64, WORD(0)}, {"domid", VALUE_U16, WORD(2)}}},
	/* Those of xen/series/instrument. */
	{0x10f020,
	 "p2m_flush",
	 4,
	 {CONTEXT,
	  {"target", VALUE_U32, WORD(1)},
	  {"cpus", VALUE_U32, WORD(2)},
	  {"flags", VALUE_U32, WORD(3)}}},
	{0x10f021,
	 "iotlb_flush",
	 7,
	 {CONTEXT,
	  {"target", VALUE_U16, WORD(1)},
	  {"flush_flags", VALUE_U16, WORD(1) + 2},
	  {"dfn", VALUE_64, WORD(2)},
	  {"page_count", VALUE_U32, WORD(4)},
	  {"sent", VALUE_U32, WORD(5)},
	  {"rc", VALUE_S32, WORD(6)}}},
	{0x10f022,
	 "grant_unmap_batch",
	 7,
	 {CONTEXT,
	  {"ops", VALUE_U32, WORD(1)},
	  {"p2m_flushes", VALUE_U32, WORD(2)},
	  {"iotlb_flushes", VALUE_U32, WORD(3)},
	  {"iotlb_early", VALUE_U32, WORD(4)},
	  {"duration_ns", VALUE_U32, WORD(5)},
	  {"status", VALUE_U32, WORD(6)}}},
	{0x10f023,
	 "grant_unmap_gfn",
	 4,
	 {CONTEXT, {"gfn", VALUE_64, WORD(1)}, {"status", VALUE_S32, WORD(3)}}},
	{0x10f024,
	 "grant_release",
	 3,
	 {CONTEXT, {"ops", VALUE_U32, WORD(1)}, {"needs", VALUE_U32, WORD(2)}}},
	/* dom0's clock, written by lab-agent through HVMOP_xentrace. */
	{XEN_ID_ANCHOR,
	 "anchor",
	 6,
	 {{"seq", VALUE_U32, WORD(0)},
	  {"tsc_khz", VALUE_U32, WORD(1)},
	  {"before_ns", VALUE_64, WORD(2)},
	  {"prev_after_ns", VALUE_64, WORD(4)}}},
};

const unsigned int xen_n_record_types = ARRAY_SIZE(xen_record_types);

/** xen_record_find() - what is known of records with this id, or NULL */
const struct xen_record_type *xen_record_find(uint32_t id)
{
	for (size_t i = 0; i < ARRAY_SIZE(xen_record_types); i++)
		if (xen_record_types[i].id == id)
			return &xen_record_types[i];
	return NULL;
}

/** xen_record_by_name() - what is known of "xen:<name>", or NULL */
const struct xen_record_type *xen_record_by_name(const char *event)
{
	if (strncmp(event, XEN_SYSTEM, strlen(XEN_SYSTEM)))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(xen_record_types); i++)
		if (!strcmp(xen_record_types[i].name, event + strlen(XEN_SYSTEM)))
			return &xen_record_types[i];
	return NULL;
}

static const char *const kind_names[] = {
	[VALUE_U16] = "u16",	    [VALUE_U32] = "u32", [VALUE_S32] = "s32",
	[VALUE_64_OR_NONE] = "tsc", [VALUE_64] = "u64",
};

/* The text of fields grows along: it is what tells one version of a table from the next. */
static int add_column(struct event_layout *layout, const char *name, enum value_kind kind,
		      size_t offset)
{
	struct layout_column *column = &layout->columns[layout->n_columns];
	char *line;

	column->name = strdup(name);
	if (!column->name)
		return -ENOMEM;
	layout->n_columns++;
	column->kind = kind;
	column->offset = offset;
	line = str_printf("%s%s %s at byte %zu\n", layout->fields, kind_names[kind], name, offset);
	if (!line)
		return -ENOMEM;
	free(layout->fields);
	layout->fields = line;
	return 0;
}

/* The words as they are. */
static int add_words(struct event_layout *layout)
{
	char name[8];
	int ret;

	ret = add_column(layout, "id", VALUE_U32, offsetof(struct xen_packed, id));
	ret = ret ?: add_column(layout, "n", VALUE_U32, offsetof(struct xen_packed, n));
	for (unsigned int i = 0; i < XEN_MAX_WORDS && !ret; i++) {
		snprintf(name, sizeof(name), "d%u", i + 1);
		ret = add_column(layout, name, VALUE_U32, XEN_PACKED_SIZE(i));
	}
	return ret;
}

/**
 * xen_record_layout() - how to read a struct xen_packed
 * @type: of the table, or NULL for the records that it does not know
 * @ret_layout: the caller's, with event_layout_free()
 *
 * Return: 0 or -ENOMEM.
 */
int xen_record_layout(const struct xen_record_type *type, struct event_layout **ret_layout)
{
	struct event_layout *layout = calloc(1, sizeof(*layout));
	int ret;

	if (!layout)
		return -ENOMEM;
	layout->pid.offset = UINT32_MAX / 2; /* Xen knows vCPUs, no tasks */
	layout->event = str_printf(XEN_SYSTEM "%s", type ? type->name : "record");
	layout->columns = calloc(3 + XEN_MAX_WORDS + XEN_MAX_FIELDS, sizeof(*layout->columns));
	layout->fields = strdup("");
	ret = layout->event && layout->columns && layout->fields ? 0 : -ENOMEM;
	ret = ret ?: add_column(layout, "tsc", VALUE_64_OR_NONE, offsetof(struct xen_packed, tsc));
	if (!type)
		ret = ret ?: add_words(layout);
	for (const struct xen_field *field = type ? type->fields : NULL;
	     field && field->name && !ret; field++)
		ret = add_column(layout, field->name, field->kind,
				 XEN_PACKED_SIZE(0) + field->offset);
	if (!ret) {
		layout->format =
			type ? str_printf("Xen trace record 0x%x of %u words\n%s", type->id,
					  type->words, layout->fields)
			     : str_printf("Xen trace records of other kinds\n%s", layout->fields);
		ret = layout->format ? 0 : -ENOMEM;
	}
	if (ret)
		event_layout_free(layout);
	else
		*ret_layout = layout;
	return ret;
}
