// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pages of the kernel's trace ring buffer. libtraceevent has a walker too, but it believes every
 * length that a page states; a capture comes from a machine under test, so here each is checked
 * against the page.
 */
#include <endian.h>
#include <errno.h>
#include <string.h>

#include "capture/decode.h"

/* Bits of the commit word: its low bits are the bytes used, the top ones speak of lost events. */
#define COMMIT_SIZE_MASK ((1u << 27) - 1)
#define COMMIT_MISSED (1u << 31)
#define COMMIT_COUNT_KNOWN (1u << 30)

/* A record starts with a word: 5 bits of type or length, 27 bits of time since the record before.
 */
#define TYPE_BITS 5
#define TYPE_DATA_MAX 28
#define TYPE_PADDING 29
#define TYPE_TIME_EXTEND 30
#define DELTA_BITS 27

/* An absolute timestamp has 59 bits; the rest is that of the time before it. */
#define ABSOLUTE_BITS 59
#define ABSOLUTE_MASK ((1ull << ABSOLUTE_BITS) - 1)

static uint32_t read_u32(const uint8_t *data)
{
	uint32_t value;

	memcpy(&value, data, sizeof(value));
	return le32toh(value);
}

static uint64_t read_u64(const uint8_t *data)
{
	uint64_t value;

	memcpy(&value, data, sizeof(value));
	return le64toh(value);
}

/**
 * page_open() - start to walk over a page
 * @page: its first byte
 * @size: bytes of the page, header included
 *
 * Return: 0, or -EBADMSG for a page that claims more bytes than it has.
 */
int page_open(struct page_walk *walk, const uint8_t *page, size_t size)
{
	size_t used, room;
	uint64_t commit;
	int64_t missed = PAGE_MISSED_NONE;

	if (size < PAGE_HEADER_SIZE)
		return -EBADMSG;
	commit = read_u64(page + 8);
	used = commit & COMMIT_SIZE_MASK;
	room = size - PAGE_HEADER_SIZE;
	if (used > room)
		return -EBADMSG;
	if (commit & COMMIT_MISSED) {
		missed = PAGE_MISSED_UNKNOWN;
		/* The count stands behind the records, if there was room for it. */
		if (commit & COMMIT_COUNT_KNOWN && room - used >= sizeof(uint64_t))
			missed = (int64_t)read_u64(page + PAGE_HEADER_SIZE + used);
		if (missed <= 0)
			missed = PAGE_MISSED_UNKNOWN;
	}
	*walk = (struct page_walk){
		.pos = page + PAGE_HEADER_SIZE,
		.end = page + PAGE_HEADER_SIZE + used,
		.ts = read_u64(page),
		.missed = missed,
	};
	return 0;
}

static uint64_t absolute_ts(uint64_t low_bits, uint64_t before)
{
	uint64_t ts = low_bits | (before & ~ABSOLUTE_MASK);

	/* Time does not run back by years: the low bits wrapped. */
	if (before & ~ABSOLUTE_MASK && ts < before)
		ts += 1ull << ABSOLUTE_BITS;
	return ts;
}

/**
 * page_next() - the next event of the page
 * @ret_record: untouched unless 1 is returned
 *
 * Return: 1, 0 at the page's end, or -EBADMSG for a record that does not fit into its page.
 */
int page_next(struct page_walk *walk, struct page_record *ret_record)
{
	while (walk->end - walk->pos >= 4) {
		uint32_t word = read_u32(walk->pos);
		uint32_t type = word & ((1u << TYPE_BITS) - 1);
		uint64_t delta = word >> TYPE_BITS;
		const uint8_t *data = walk->pos + 4;
		size_t room = walk->end - data;
		uint32_t extra = 0, size;

		/* All but short data records have a second word. */
		if (type == 0 || type > TYPE_DATA_MAX) {
			if (type == TYPE_PADDING && !delta) {
				walk->pos = walk->end; /* the rest of the page was never used */
				return 0;
			}
			if (room < 4)
				return -EBADMSG;
			extra = read_u32(data);
		}
		if (type > TYPE_PADDING) {
			uint64_t ts = ((uint64_t)extra << DELTA_BITS) + delta;

			walk->ts = type == TYPE_TIME_EXTEND ? walk->ts + ts
							    : absolute_ts(ts, walk->ts);
			walk->pos = data + 4;
			continue;
		}
		size = type;
		if (type > 0 && type <= TYPE_DATA_MAX) {
			size *= 4;
		} else {
			/* A long record counts the second word in; it is all that a discarded one
			 * has. */
			if (extra < 4 || extra > PAGE_MAX_SIZE)
				return -EBADMSG;
			size = (extra + 3) & ~3u;
		}
		if (size > room)
			return -EBADMSG;
		walk->pos = data + size;
		walk->ts += delta;
		if (type == TYPE_PADDING)
			continue;
		if (type == 0) {
			data += 4;
			size -= 4;
			if (size < 4)
				return -EBADMSG;
		}
		*ret_record = (struct page_record){.ts = walk->ts, .data = data, .size = size};
		return 1;
	}
	return 0;
}
