/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_CAPTURE_DECODE_H
#define LABD_CAPTURE_DECODE_H

#include <stddef.h>
#include <stdint.h>

/* A ring-buffer page of a 64-bit kernel: timestamp, commit word, records. */
#define PAGE_HEADER_SIZE 16
#define PAGE_MAX_SIZE 65536

/* page_walk.missed: nothing was lost before this page, or the ring did not say how much. */
#define PAGE_MISSED_NONE 0
#define PAGE_MISSED_UNKNOWN (-1)

/**
 * struct page_walk - walk over the records of one page; the page stays the caller's
 * @pos: next record
 * @end: end of the committed bytes
 * @ts: time of the record before @pos, of the page at its start
 * @missed: events lost between the page before this one and this one, PAGE_MISSED_NONE or
 *	PAGE_MISSED_UNKNOWN
 */
struct page_walk {
	const uint8_t *pos;
	const uint8_t *end;
	uint64_t ts;
	int64_t missed;
};

/**
 * struct page_record - one trace event, still in its page
 * @ts: time by the capture's clock
 * @data: the record, starting with common_type; 4-byte aligned within the page
 * @size: bytes, at least 4, padding to a multiple of 4 included
 */
struct page_record {
	uint64_t ts;
	const uint8_t *data;
	uint32_t size;
};

int page_open(struct page_walk *walk, const uint8_t *page, size_t size);
int page_next(struct page_walk *walk, struct page_record *ret_record);

#endif
