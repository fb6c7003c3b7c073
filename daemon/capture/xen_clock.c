// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the TSC of Xen's records to dom0's CLOCK_MONOTONIC. An anchor's TSC lies between two
 * readings of that clock; the tightest such bracket near the run's start and the tightest near its
 * end make a line.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "capture/xen_clock.h"

/*
 * The brackets say the TSC's frequency only when they lie far apart. Nearer than this many times
 * their width, the hypervisor's own figure is the better one.
 */
#define SPAN_PER_BRACKET 1000

/* Beyond 36 years of uptime or a run of as long, somebody made the anchors up. */
#define MAX_NS (1LL << 60)

/* Of a bunch of anchors so many are looked at, and their TSC may be off by a thousandth. */
#define MAX_BUNCH 512
#define SLACK 1000

struct bracket {
	uint64_t tsc;
	int64_t from;
	int64_t to;
};

static int by_seq(const void *a, const void *b)
{
	const struct xen_anchor *x = a, *y = b;

	return (x->seq > y->seq) - (x->seq < y->seq);
}

static int refuse(char *ret_error, size_t size, const char *why)
{
	snprintf(ret_error, size, "the capture's clock cannot be told: %s", why);
	return -EBADMSG;
}

/* @anchors become sorted. An anchor without the one behind it has no end. */
static size_t find_brackets(struct xen_anchor *anchors, size_t n, struct bracket *ret_brackets)
{
	size_t n_brackets = 0;

	if (n)
		qsort(anchors, n, sizeof(*anchors), by_seq);
	for (size_t i = 0; i + 1 < n; i++) {
		struct bracket b = {anchors[i].tsc, anchors[i].before_ns,
				    anchors[i + 1].prev_after_ns};

		if (anchors[i + 1].seq == anchors[i].seq + 1 && b.from >= 0 && b.to >= b.from &&
		    b.to < MAX_NS)
			ret_brackets[n_brackets++] = b;
	}
	return n_brackets;
}

static int64_t width(const struct bracket *b)
{
	return b->to - b->from;
}

/* Can a clock that runs beside a TSC of this frequency have been in both? */
static bool agree(const struct bracket *a, const struct bracket *b, uint32_t tsc_khz)
{
	__int128 ns = ((__int128)b->tsc - a->tsc) * 1000000 / tsc_khz;
	__int128 slack = (ns < 0 ? -ns : ns) / SLACK;

	return ns + slack >= b->from - a->to && ns - slack <= b->to - a->from;
}

/* Is it one of many that agree, and no odd one out? */
static bool is_sound(const struct bracket *b, size_t n, size_t i, uint32_t tsc_khz)
{
	size_t votes = 0;

	for (size_t k = 0; k < n && tsc_khz; k++)
		votes += k != i && agree(&b[i], &b[k], tsc_khz);
	return !tsc_khz || votes >= (n - 1) / 4;
}

/*
 * The tightest of the sound ones. dom0's clock never runs back: on a virtual CPU whose own clock is
 * behind, it stands still at what another CPU has read. Anchors of such a time have the tightest
 * brackets of all, and their TSCs tell that they are wrong.
 */
static const struct bracket *tightest(const struct bracket *b, size_t n, uint32_t tsc_khz)
{
	const struct bracket *best = NULL;

	if (n > MAX_BUNCH)
		n = MAX_BUNCH;
	for (size_t i = 0; i < n; i++)
		if ((!best || width(&b[i]) < width(best)) && is_sound(b, n, i, tsc_khz))
			best = &b[i];
	return best ?: b;
}

/* The anchors come in two bunches: the widest gap between two of them is the run. */
static size_t find_run(const struct bracket *b, size_t n)
{
	size_t behind = 1;

	for (size_t i = 2; i < n; i++)
		if (b[i].from - b[i - 1].from > b[behind].from - b[behind - 1].from)
			behind = i;
	return behind;
}

static int64_t middle(const struct bracket *b)
{
	return b->from + (b->to - b->from) / 2;
}

static int64_t wider(const struct bracket *a, const struct bracket *b)
{
	return width(a) > width(b) ? width(a) : width(b);
}

static int fit_brackets(const struct bracket *b, size_t n, struct xen_clock *clock, char *error,
			size_t size)
{
	const struct bracket *first = tightest(b, n, clock->tsc_khz), *last = first;

	if (n > 1) {
		size_t behind = find_run(b, n);

		first = tightest(b, behind, clock->tsc_khz);
		last = tightest(b + behind, n - behind, clock->tsc_khz);
		if (last->tsc <= first->tsc || last->from < first->to)
			return refuse(error, size, "dom0's anchors are not in the TSC's order");
		if (last->from - first->from <= SPAN_PER_BRACKET * wider(first, last))
			first = last = tightest(b, n, clock->tsc_khz);
	}
	clock->anchored = true;
	clock->first_tsc = first->tsc;
	clock->first_ns = middle(first);
	clock->last_tsc = last->tsc;
	clock->last_ns = middle(last);
	clock->bracket_ns = wider(first, last);
	if (last->tsc > first->tsc) {
		clock->num = clock->last_ns - clock->first_ns;
		clock->den = last->tsc - first->tsc;
		clock->measured_khz = (double)clock->den * 1e6 / (double)clock->num;
	}
	return 0;
}

/**
 * xen_clock_fit() - a clock from a run's anchors
 * @anchors: in any order; sorted here
 * @n: 0 for a capture that lab-agent did not record
 * @tsc_khz: the TSC's frequency when the anchors do not say it, 0 when nobody knows
 * @ret_error: one sentence on failure
 * @error_size: room in @ret_error
 *
 * Return: 0, -EBADMSG when there is no way from the TSC to ns, -ENOMEM.
 */
int xen_clock_fit(struct xen_anchor *anchors, size_t n, uint32_t tsc_khz,
		  struct xen_clock *ret_clock, char *ret_error, size_t error_size)
{
	struct xen_clock clock = {.tsc_khz =
					  n && anchors[0].tsc_khz ? anchors[0].tsc_khz : tsc_khz};
	struct bracket *brackets;
	int ret = 0;

	if (!n && !tsc_khz)
		return refuse(ret_error, error_size,
			      "it holds no anchors of lab-agent, and nobody said how fast its TSC "
			      "is (tsc_khz)");
	brackets = calloc(n + 1, sizeof(*brackets));
	if (!brackets)
		return -ENOMEM;
	if (n) {
		size_t n_brackets = find_brackets(anchors, n, brackets);

		ret = n_brackets ? fit_brackets(brackets, n_brackets, &clock, ret_error, error_size)
				 : refuse(ret_error, error_size,
					  "no two of dom0's anchors follow on each other");
	}
	free(brackets);
	if (!ret && !clock.den) {
		clock.num = 1000000;
		clock.den = clock.tsc_khz;
		if (!clock.den)
			ret = refuse(ret_error, error_size,
				     "its anchors lie too near and do not say how fast the TSC is");
	}
	if (!ret)
		*ret_clock = clock;
	return ret;
}

/**
 * xen_anchors_end() - the first anchor behind the run
 * @anchors: in any order; sorted here
 * @n: not 0
 *
 * A CPU that has it or a later one had room when the run was over: what it lost before, it has
 * said.
 *
 * Return: its seq.
 */
uint32_t xen_anchors_end(struct xen_anchor *anchors, size_t n)
{
	size_t end = 0;

	qsort(anchors, n, sizeof(*anchors), by_seq);
	for (size_t i = 1; i < n; i++)
		if (!end || (__int128)anchors[i].before_ns - anchors[i - 1].before_ns >
				    (__int128)anchors[end].before_ns - anchors[end - 1].before_ns)
			end = i;
	return anchors[end].seq;
}

/** xen_clock_ns() - a TSC as ns; what no 64 bits hold becomes the nearest that they do */
int64_t xen_clock_ns(const struct xen_clock *clock, uint64_t tsc)
{
	__int128 ticks = (__int128)tsc - clock->first_tsc;
	__int128 ns = ticks * clock->num / clock->den + clock->first_ns;

	if (ns > INT64_MAX)
		return INT64_MAX;
	return ns < INT64_MIN ? INT64_MIN : (int64_t)ns;
}
