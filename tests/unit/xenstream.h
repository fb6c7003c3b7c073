/* SPDX-License-Identifier: GPL-2.0-only */
/* xentrace streams made by hand, for the tests of what reads them. */
#ifndef TESTS_XENSTREAM_H
#define TESTS_XENSTREAM_H

#include <check.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define STREAM_WORDS 65536

/* @window: place of the open window's size */
struct xen_stream {
	uint32_t words[STREAM_WORDS];
	size_t n;
	size_t window;
};

static inline void stream_word(struct xen_stream *s, uint32_t word)
{
	ck_assert_uint_lt(s->n, STREAM_WORDS);
	s->words[s->n++] = word;
	if (s->window)
		s->words[s->window] += 4;
}

/* What follows is of this CPU. */
static inline void stream_cpu(struct xen_stream *s, unsigned int cpu)
{
	s->window = 0;
	stream_word(s, 0x2001f003);
	stream_word(s, cpu);
	stream_word(s, 0);
	s->window = s->n - 1;
}

/* A record of @n words; without a TSC when @tsc is 0. */
static inline void stream_record(struct xen_stream *s, uint32_t id, uint64_t tsc, int n, ...)
{
	va_list args;

	stream_word(s, id | (uint32_t)n << 28 | (tsc ? 1u << 31 : 0));
	if (tsc) {
		stream_word(s, tsc);
		stream_word(s, tsc >> 32);
	}
	va_start(args, n);
	while (n--)
		stream_word(s, va_arg(args, unsigned int));
	va_end(args);
}

static inline void stream_anchor(struct xen_stream *s, uint32_t seq, uint64_t tsc, int64_t before,
				 int64_t prev_after)
{
	stream_record(s, 0x0800f1ab, tsc, 6, seq, 2000000, (uint32_t)before,
		      (uint32_t)(before >> 32), (uint32_t)prev_after, (uint32_t)(prev_after >> 32));
}

static inline void stream_write(const struct xen_stream *s, const char *path)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(s->words, 4, s->n, file), s->n);
	ck_assert_int_eq(fclose(file), 0);
}

#endif
