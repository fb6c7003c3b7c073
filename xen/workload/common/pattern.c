// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the seed decides: the contents of the pages, and which of them are mapped in which batch.
 * All of it is a function of the seed and of numbers that count up, so two runs with the same seed
 * and options do the same on every hypervisor.
 */
#include "pattern.h"

/* The output function of SplitMix64: a bijection on 64 bits in which every bit depends on all. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

static uint64_t word_of(uint64_t seed, unsigned int page, uint64_t turn, unsigned int word)
{
	return mix(mix(mix(seed) + page) + turn * GNT_WORDS + word);
}

/* Another process or another CPU may write the page: every access must really happen, once. */
static volatile uint64_t *place(const void *at, unsigned int word)
{
	return (volatile uint64_t *)at + word * (GNT_PAGE / sizeof(uint64_t) / GNT_WORDS);
}

/**
 * gnt_pattern_write - write a page's contents
 * @seed: the run's seed
 * @page: number of the page in the granting domain, from 0
 * @turn: which contents; no two turns of any pages are alike
 * @at: where the page is mapped
 */
void gnt_pattern_write(uint64_t seed, unsigned int page, uint64_t turn, void *at)
{
	for (unsigned int i = 0; i < GNT_WORDS; i++)
		*place(at, i) = word_of(seed, page, turn, i);
}

/**
 * gnt_pattern_check - compare a page's contents
 * @seed: the run's seed
 * @page: number of the page in the granting domain, from 0
 * @turn: which contents it should have
 * @at: where the page is mapped
 *
 * Return: how many words differ, 0 to GNT_WORDS.
 */
unsigned int gnt_pattern_check(uint64_t seed, unsigned int page, uint64_t turn, const void *at)
{
	unsigned int wrong = 0;

	for (unsigned int i = 0; i < GNT_WORDS; i++)
		wrong += *place(at, i) != word_of(seed, page, turn, i);
	return wrong;
}

/**
 * gnt_order - shuffle numbers
 * @seed: the run's seed
 * @batch: number of the batch
 * @n: how many numbers
 * @order: room for @n; filled with a permutation of 0 .. @n - 1
 */
void gnt_order(uint64_t seed, uint64_t batch, unsigned int n, unsigned int *order)
{
	for (unsigned int i = 0; i < n; i++) {
		unsigned int j = mix(mix(mix(~seed) + batch) + i) % (i + 1);

		/* Fisher-Yates while the array grows: @i enters and changes places with @j. */
		order[i] = order[j];
		order[j] = i;
	}
}

/**
 * gnt_batch_pages - which pages a batch maps
 * @seed: the run's seed
 * @batch: number of the batch, from 0
 * @n: pages of a batch
 * @pages: room for @n numbers; filled, all below 3 * @n
 *
 * The domain has three times as many pages as a batch, and the batches take the thirds in turn, in
 * an order of their own. No page is in two batches running, so whatever address a batch reuses has
 * led to another page before: through a translation that was not flushed, contents are wrong.
 */
void gnt_batch_pages(uint64_t seed, uint64_t batch, unsigned int n, unsigned int *pages)
{
	gnt_order(seed, batch, n, pages);
	for (unsigned int i = 0; i < n; i++)
		pages[i] += batch % 3 * n;
}
