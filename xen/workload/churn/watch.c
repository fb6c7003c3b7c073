// SPDX-License-Identifier: GPL-2.0-only
/*
 * The batches without gntdev, watched by another CPU.
 *
 * Through gntdev a missing flush has little to show: before a grant goes, Linux takes the page out
 * of this process and flushes that translation itself. Here the pages come and go behind addresses
 * that Linux never touches. Each batch replaces all of them by other pages, and a thread on another
 * CPU, which has just used the old ones and does not leave the guest of its own will, looks at once
 * what is there. Xen's flush alone makes it see the new pages.
 *
 * It is a chance, not a certainty: each timer tick takes that CPU out of the guest, which on many
 * machines empties its TLB. Small batches, which fit between two ticks, have the best one.
 */
#include "churn.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../common/pattern.h"
#include "../common/tracing.h"
#include "../common/window.h"

/*
 * The two threads take turns: @look counts what the watcher is asked to look at, @seen what it has.
 * All else is only touched by the one whose turn it is.
 */
struct watch {
	const struct gnt_domain *d;
	const struct gchurn_options *o;
	struct gchurn_result *r;
	struct gnt_window window;
	gnttab_unmap_grant_ref_t *undo;
	unsigned int *pages; /* in the window now */
	unsigned int *old;   /* in the window before */
	uint64_t batch;
	unsigned int look;
	unsigned int seen;
	bool end;
};

static void look(struct watch *w)
{
	uint64_t seed = w->o->seed, turn = 2 * w->batch;
	uint8_t *at = w->window.at;

	for (unsigned int i = 0; i < w->o->batch; i++, at += GNT_PAGE) {
		uint64_t copy[GNT_PAGE / sizeof(uint64_t)];
		unsigned int wrong;

		/* Once only: what a second look sees is something else. */
		memcpy(copy, at, sizeof(copy));
		wrong = gnt_pattern_check(seed, w->pages[i], turn, copy);
		w->r->looks++;
		w->r->wrong += wrong;
		if (wrong && w->batch)
			w->r->stale +=
				GNT_WORDS - gnt_pattern_check(seed, w->old[i], turn - 1, copy);
		gnt_pattern_write(seed, w->pages[i], turn + 1, at);
	}
}

static void *watcher(void *arg)
{
	struct watch *w = arg;
	unsigned int seen = 0;

	for (;;) {
		unsigned int asked = __atomic_load_n(&w->look, __ATOMIC_ACQUIRE);

		if (asked == seen) {
			/* Under emulation that runs one CPU at a time this lets the other one go
			 * on. */
			__builtin_ia32_pause();
			continue;
		}
		if (w->end)
			return NULL;
		look(w);
		seen = asked;
		__atomic_store_n(&w->seen, seen, __ATOMIC_RELEASE);
	}
}

static void ask(struct watch *w)
{
	__atomic_store_n(&w->look, w->look + 1, __ATOMIC_RELEASE);
}

static int pin(pthread_t thread, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return -pthread_setaffinity_np(thread, sizeof(set), &set);
}

static int unmap(struct watch *w)
{
	unsigned int n = w->o->batch, bad = 0;
	long ret;

	for (unsigned int i = 0; i < n; i++)
		w->undo[i].status = GNTST_general_error;
	ret = gnt_op(&w->window, GNTTABOP_unmap_grant_ref, w->undo, n);
	for (unsigned int i = 0; i < n; i++)
		bad += w->undo[i].status != GNTST_okay;
	w->r->unmaps += n - bad;
	if (ret || bad) {
		fprintf(stderr, "grant-churn: unmapped %u of %u grants: %s\n", n - bad, n,
			strerror(-ret));
		return ret < 0 ? ret : -EIO;
	}
	return 0;
}

/* Unmaps what the batch before left, and brings this batch's pages in. */
static int replace(struct watch *w, uint64_t *ret_map_ns, uint64_t *ret_unmap_ns)
{
	const struct gchurn_options *o = w->o;
	unsigned int *swap = w->old;
	uint64_t start;
	int ret;

	w->old = w->pages;
	w->pages = swap;
	gnt_batch_pages(o->seed, w->batch, o->batch, w->pages);
	for (unsigned int i = 0; i < o->batch; i++)
		gnt_pattern_write(o->seed, w->pages[i], 2 * w->batch,
				  gnt_domain_page(w->d, w->pages[i]));

	if (w->batch) {
		start = gnt_now_ns();
		ret = unmap(w);
		if (ret)
			return ret;
		*ret_unmap_ns = gnt_now_ns() - start;
	}
	start = gnt_now_ns();
	ret = gnt_window_map(&w->window, w->d, w->pages, o->batch, w->undo);
	if (ret)
		return ret;
	*ret_map_ns = gnt_now_ns() - start;
	w->r->maps += o->batch;
	return 0;
}

static int all_batches(struct watch *w)
{
	const struct gchurn_options *o = w->o;
	struct gchurn_result *r = w->r;
	uint64_t total = (uint64_t)o->warmup + o->batches;
	uint64_t map_ns = 0, unmap_ns = 0, start;
	int ret = 0;

	for (w->batch = 0; w->batch < total; w->batch++) {
		if (gnt_stopped())
			ret = -EINTR;
		else if (w->batch == o->warmup)
			ret = gnt_tracing(true);
		if (!ret)
			ret = replace(w, &map_ns, &unmap_ns);
		if (ret)
			break;
		if (w->batch >= o->warmup)
			r->map_ns += map_ns;
		if (w->batch > o->warmup) {
			r->unmap_ns[r->batches++] = unmap_ns;
			r->measured += o->batch;
		}

		ask(w);
		while (__atomic_load_n(&w->seen, __ATOMIC_ACQUIRE) != w->look)
			__builtin_ia32_pause();
		for (unsigned int i = 0; i < o->batch; i++)
			r->wrong += gnt_pattern_check(o->seed, w->pages[i], 2 * w->batch + 1,
						      gnt_domain_page(w->d, w->pages[i]));
	}
	if (r->maps == r->unmaps)
		return ret;

	start = gnt_now_ns();
	if (unmap(w) && !ret)
		ret = -EIO;
	if (!ret) {
		r->unmap_ns[r->batches++] = gnt_now_ns() - start;
		r->measured += o->batch;
	}
	return ret;
}

/**
 * gchurn_watch - do all batches by hypercalls of our own, with another CPU watching
 * @d: a domain with three times as many pages as a batch
 * @o: checked options
 * @r: filled as far as it goes; r->unmap_ns has room for o->batches
 *
 * Return: 0 or a negative errno, printed. Wrong contents do not end the run.
 */
int gchurn_watch(const struct gnt_domain *d, const struct gchurn_options *o,
		 struct gchurn_result *r)
{
	struct watch w = {.d = d, .o = o, .r = r};
	pthread_t thread;
	int ret = -ENOMEM;

	w.undo = calloc(o->batch, sizeof(*w.undo));
	w.pages = calloc(o->batch, sizeof(*w.pages));
	w.old = calloc(o->batch, sizeof(*w.old));
	if (!w.undo || !w.pages || !w.old)
		goto out;
	ret = gnt_window_open(&w.window, d, o->batch);
	if (ret)
		goto out;
	r->maps += w.window.grants;
	r->unmaps += w.window.grants;
	ret = -pthread_create(&thread, NULL, watcher, &w);
	if (ret)
		goto out_window;
	ret = pin(pthread_self(), 0);
	if (!ret)
		ret = pin(thread, 1);
	if (ret)
		fprintf(stderr, "grant-churn: --watch needs two CPUs: %s\n", strerror(-ret));
	else
		ret = all_batches(&w);
	w.end = true;
	ask(&w);
	pthread_join(thread, NULL);
out_window:
	gnt_window_close(&w.window);
out:
	free(w.old);
	free(w.pages);
	free(w.undo);
	return ret;
}
