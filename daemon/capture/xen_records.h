/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_CAPTURE_XEN_RECORDS_H
#define LABD_CAPTURE_XEN_RECORDS_H

#include <stdint.h>

#include "capture/layout.h"

/*
 * Xen's trace records: what is known of them. "xen:<name>" is what specs and the events file call
 * one. A record that is not in the table, or that has another number of words than the table says,
 * is kept as "xen:record" with its words as they are.
 */
#define XEN_SYSTEM "xen:"
#define XEN_MAX_WORDS 7
#define XEN_MAX_FIELDS 8

/* Classes of records, as xentrace's mask has them. */
#define XEN_CLASS_MEM 0x0010f000u
#define XEN_CLASS_GUEST 0x0800f000u
#define XEN_CLASSES 0x0ffff000u

#define XEN_ID_ANCHOR 0x0800f1abu

/**
 * struct xen_field - one column made of a record's words
 * @offset: bytes from the first word
 */
struct xen_field {
	const char *name;
	enum value_kind kind;
	unsigned int offset;
};

/**
 * struct xen_record_type - one row of the table
 * @words: that the record has
 * @fields: ends at a NULL name
 */
struct xen_record_type {
	uint32_t id;
	const char *name;
	unsigned int words;
	struct xen_field fields[XEN_MAX_FIELDS + 1];
};

/**
 * struct xen_packed - a record as the layouts below read it, all little-endian
 * @tsc: 0 when the record carries none
 * @n: words that it has; those behind them are not part of the record
 */
struct xen_packed {
	uint64_t tsc;
	uint32_t id;
	uint32_t n;
	uint32_t words[XEN_MAX_WORDS];
};

#define XEN_PACKED_SIZE(n) (offsetof(struct xen_packed, words) + 4 * (size_t)(n))

extern const struct xen_record_type xen_record_types[];
extern const unsigned int xen_n_record_types;

const struct xen_record_type *xen_record_find(uint32_t id);
const struct xen_record_type *xen_record_by_name(const char *event);
int xen_record_layout(const struct xen_record_type *type, struct event_layout **ret_layout);

#endif
