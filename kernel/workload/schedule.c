// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the seed decides. Every draw is a pure function of the seed, its purpose and an index, so
 * two runs with the same seed and options do the same things whatever their threads do, and the
 * arms of one round can be compared.
 */
#include "schedule.h"

enum draw {
	DRAW_FIRST_CHUNK = 1,
	DRAW_START_PAGE,
	DRAW_START_ORDER,
	DRAW_START_DELAY,
	DRAW_WATCHED_PAGE,
	DRAW_TABLE_RESTS,
};

/* The output function of SplitMix64: a bijection on 64 bits in which every bit depends on all. */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* A number below @below, which is far enough under 2^64 for the modulo's bias not to matter. */
static uint64_t draw(uint64_t seed, enum draw what, uint64_t index, uint64_t below)
{
	return mix(mix(mix(seed) + what) + index) % below;
}

/**
 * churn_schedule_init - lay out the rounds of a run
 * @s: filled
 * @o: checked options
 *
 * The seed moves the whole schedule: where the one chunk lies (always on the border of a leaf
 * table and inside memory), or with which chunk the sweep begins.
 */
void churn_schedule_init(struct churn_schedule *s, const struct churn_options *o)
{
	uint64_t mem = o->mem_mib * CHURN_MIB;

	s->mode = o->mode;
	s->chunk = o->chunk_mib * CHURN_MIB;
	if (o->mode == CHURN_SAME) {
		s->chunks = 1;
		s->first = draw(o->seed, DRAW_FIRST_CHUNK, 0, (mem - s->chunk) / CHURN_TABLE + 1) *
			   CHURN_TABLE;
	} else {
		s->chunks = mem / s->chunk;
		s->first = draw(o->seed, DRAW_FIRST_CHUNK, 0, s->chunks) * s->chunk;
	}
}

/**
 * churn_schedule_offset - where a round's chunk begins
 * @s: the schedule
 * @round: number of the round, from 0
 *
 * Return: the chunk's offset from the start of guest memory, in bytes.
 */
uint64_t churn_schedule_offset(const struct churn_schedule *s, unsigned int round)
{
	if (s->mode == CHURN_SAME)
		return s->first;
	return (s->first / s->chunk + round) % s->chunks * s->chunk;
}

/**
 * churn_start_page - with which page a vCPU begins its endless walk
 * @o: checked options
 * @vcpu: number of the vCPU, from 0
 *
 * Return: the number of a page of guest memory.
 */
uint64_t churn_start_page(const struct churn_options *o, unsigned int vcpu)
{
	return draw(o->seed, DRAW_START_PAGE, vcpu, o->mem_mib * CHURN_MIB / CHURN_PAGE);
}

/**
 * churn_start_order - in which order the vCPUs are set off
 * @o: checked options
 * @order: room for o->vcpus numbers; filled with a permutation of 0 .. vcpus - 1
 */
void churn_start_order(const struct churn_options *o, unsigned int *order)
{
	for (unsigned int i = 0; i < o->vcpus; i++) {
		unsigned int j = draw(o->seed, DRAW_START_ORDER, i, i + 1);

		/* Fisher-Yates while the array grows: @i enters and changes places with @j. */
		order[i] = i;
		order[i] = order[j];
		order[j] = i;
	}
}

/**
 * churn_start_delay_ns - how long after the vCPUs the first round begins, beyond one period
 * @o: checked options
 *
 * Return: nanoseconds, less than one period.
 */
uint64_t churn_start_delay_ns(const struct churn_options *o)
{
	return draw(o->seed, DRAW_START_DELAY, 0, o->period_us * 1000ull);
}

/**
 * churn_watch_list - the pages of a chunk that verification uses in one round
 * @o: checked options
 * @round: number of the round, from 0
 * @offset: where the chunk begins, in bytes from the start of guest memory
 * @list: room for CHURN_WATCH_MAX offsets; filled in ascending order, none twice
 *
 * Of each table (or what the chunk has of it) come the first page, the last page and one page of
 * each stretch between them. Which ones depends on the seed and the place only, not on the round:
 * what one round maps is what the next round must find gone. One table in four rests for a round:
 * nobody touches it, so that its zaps find it empty, and the round after must notice that it is
 * not empty any more.
 *
 * Return: the number of offsets, possibly 0.
 */
size_t churn_watch_list(const struct churn_options *o, unsigned int round, uint64_t offset,
			uint64_t *list)
{
	uint64_t end = offset + o->chunk_mib * CHURN_MIB;
	size_t n = 0;

	for (uint64_t at = offset, len; at < end; at += len) {
		uint64_t stretch;

		len = CHURN_TABLE - at % CHURN_TABLE;
		if (len > end - at)
			len = end - at;
		if (!draw(o->seed + round, DRAW_TABLE_RESTS, at / CHURN_PAGE, 4))
			continue;

		/* A whole number of MiB has at least 256 pages: each stretch at least 32. */
		stretch = len / CHURN_PAGE / CHURN_WATCH_PER_TABLE;
		for (unsigned int i = 0; i < CHURN_WATCH_PER_TABLE; i++) {
			uint64_t page = at / CHURN_PAGE + i * stretch;

			if (i == CHURN_WATCH_PER_TABLE - 1)
				page += stretch - 1;
			else if (i)
				page += draw(o->seed, DRAW_WATCHED_PAGE, page, stretch);
			list[n++] = page * CHURN_PAGE;
		}
	}
	return n;
}
