/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BASE_BYTES_H
#define LABD_BASE_BYTES_H

#include <stdint.h>

/* Little-endian numbers in a buffer, whatever its alignment. */
static inline void put16(uint8_t *p, uint16_t value)
{
	p[0] = value;
	p[1] = value >> 8;
}

static inline void put32(uint8_t *p, uint32_t value)
{
	put16(p, value);
	put16(p + 2, value >> 16);
}

static inline uint16_t get16(const uint8_t *p)
{
	return p[0] | p[1] << 8;
}

static inline uint32_t get32(const uint8_t *p)
{
	return get16(p) | (uint32_t)get16(p + 2) << 16;
}

#endif
