/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GNT_PATTERN_H
#define GNT_PATTERN_H

#include <stdint.h>

#define GNT_PAGE 4096u
#define GNT_WORDS 8u /* words that are written and checked in each page, evenly spread */

void gnt_pattern_write(uint64_t seed, unsigned int page, uint64_t turn, void *at);
unsigned int gnt_pattern_check(uint64_t seed, unsigned int page, uint64_t turn, const void *at);
void gnt_order(uint64_t seed, uint64_t batch, unsigned int n, unsigned int *order);
void gnt_batch_pages(uint64_t seed, uint64_t batch, unsigned int n, unsigned int *pages);

#endif
