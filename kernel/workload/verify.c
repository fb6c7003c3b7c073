// SPDX-License-Identifier: GPL-2.0-only
/*
 * The verified rounds: a page that the host has dropped must be gone for every vCPU.
 *
 * A step of a round, with all vCPUs out of the guest:
 *   1. note the vCPUs' words in the watched pages, and hold those pages
 *   2. MADV_DONTNEED on the whole chunk
 *   3. the host reads a few of the watched pages: they must be zero
 *   4. every vCPU writes the step's generation to its word in every watched page; what was there
 *      must be zero, because the page must be a new one
 *   5. the host reads every vCPU's word in every watched page: it must be the generation
 *   6. the held pages must still hold the noted words
 * With a stale mapping a vCPU reads its older generation (4), the host does not see the new one (5)
 * and the old page does (6). The old page is held, so it cannot come back in the same place by
 * chance, and nothing else is overwritten.
 *
 * A round takes two such steps, so that the second drops what the first has mapped; then a race, in
 * which the vCPUs write the watched pages as fast as they can while the host drops the chunk; then
 * one more step, which must find everything that the race has mapped. If a zap of a quiet chunk
 * misses pages the run ends before the race, in which stale writes could hit freed memory.
 */
#include "rounds.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "guest.h"
#include "hold.h"

/*
 * Of the watched pages the host reads one in so many before the vCPUs do. It is then given the zero
 * page, which a vCPU's write has to replace: a path of its own, but each costs a flush of all TLBs.
 */
#define EARLY_STRIDE 64

/* Values of a race are told from generations by this bit. */
#define RACE_VALUE (1ull << 62)

/**
 * struct verify - the state of a verified run
 * @vm:		the machine
 * @o:		the options
 * @result:	what the run gives
 * @round:	number of the current round
 * @offset:	where its chunk begins
 * @generation:	of the last step; each step has a new one, never 0
 * @hold:	the pages dropped by the current step
 * @watched:	number of watched pages
 * @watch:	their offsets, CHURN_WATCH_MAX of them
 * @noted:	the vCPUs' words in these pages before they were dropped, page after page
 * @page:	the held page that is looked at
 */
struct verify {
	struct vm *vm;
	const struct churn_options *o;
	struct churn_result *result;
	unsigned int round;
	uint64_t offset;
	uint64_t generation;
	struct hold hold;
	size_t watched;
	uint64_t watch[CHURN_WATCH_MAX];
	uint64_t noted[CHURN_WATCH_MAX * CHURN_MAX_VCPUS];
	uint64_t page[CHURN_PAGE / 8];
};

/**
 * struct wrong - the wrong words that one look at memory has found
 * @count:	their number
 * @vcpu:	the first of them: whose word
 * @offset:	in which page
 * @value:	what it was
 */
struct wrong {
	uint64_t count;
	unsigned int vcpu;
	uint64_t offset;
	uint64_t value;
};

static void add_wrong(struct wrong *w, unsigned int vcpu, uint64_t offset, uint64_t value)
{
	if (!w->count)
		*w = (struct wrong){.vcpu = vcpu, .offset = offset, .value = value};
	w->count++;
}

/* Counts the wrong words, and says what they are and which was the first. */
static void report_wrong(struct verify *v, const struct wrong *w, const char *what)
{
	if (!w->count)
		return;
	fprintf(stderr,
		"kvm-churn: round %u, generation %" PRIu64 ": %" PRIu64 " %s, "
		"first vCPU %u at %#" PRIx64 ": %#" PRIx64 "\n",
		v->round, v->generation, w->count, what, w->vcpu, w->offset, w->value);
	v->result->errors += w->count;
}

/* The word as it is in memory now: vCPUs write it behind the compiler's back. */
static uint64_t read_word(const struct verify *v, uint64_t offset, unsigned int vcpu)
{
	return *(volatile uint64_t *)(v->vm->mem + offset + GUEST_WORD(vcpu));
}

static uint64_t *noted_word(struct verify *v, size_t i, unsigned int vcpu)
{
	return &v->noted[i * v->vm->n_vcpus + vcpu];
}

static void note_words(struct verify *v)
{
	for (size_t i = 0; i < v->watched; i++) {
		for (unsigned int c = 0; c < v->vm->n_vcpus; c++)
			*noted_word(v, i, c) = read_word(v, v->watch[i], c);
	}
}

/* Compares the vCPUs' words in every @stride-th watched page, beginning with @first. */
static void expect_words(struct verify *v, uint64_t expected, size_t first, size_t stride,
			 const char *what)
{
	struct wrong wrong = {};

	for (size_t i = first; i < v->watched; i += stride) {
		for (unsigned int c = 0; c < v->vm->n_vcpus; c++) {
			uint64_t word = read_word(v, v->watch[i], c);

			if (word != expected)
				add_wrong(&wrong, c, v->watch[i], word);
		}
	}
	report_wrong(v, &wrong, what);
}

/* Runs the check on all vCPUs at once. */
static int check_in_guest(struct verify *v)
{
	struct wrong wrong = {};
	struct vm *vm = v->vm;
	int ret = 0;

	for (unsigned int c = 0; c < vm->n_vcpus; c++) {
		struct kvm_regs regs =
			guest_check_regs(vm->mem_bytes, c, v->watched, v->generation);

		vcpu_start(&vm->vcpus[c], &regs, VCPU_UNTIL_HALT);
	}
	for (unsigned int c = 0; c < vm->n_vcpus; c++) {
		int err = vcpu_wait(&vm->vcpus[c]);

		ret = ret ?: err;
	}
	if (ret)
		return ret;

	for (unsigned int c = 0; c < vm->n_vcpus; c++) {
		struct guest_check found = guest_check_result(&vm->vcpus[c].regs);

		if (found.mismatches && !wrong.count)
			wrong = (struct wrong){
				.vcpu = c,
				.offset = found.address,
				.value = found.value,
			};
		wrong.count += found.mismatches;
		v->result->pages_touched += v->watched;
	}
	report_wrong(v, &wrong, "words of dropped pages seen by vCPUs");
	return 0;
}

/* Lets go of the held pages; nobody may have written to them since they were noted. */
static int check_held(struct verify *v)
{
	struct wrong wrong = {};

	for (size_t i = 0; i < v->watched; i++) {
		int ret = hold_next(&v->hold, v->page);

		if (ret)
			return ret;
		for (unsigned int c = 0; c < v->vm->n_vcpus; c++) {
			uint64_t word = v->page[GUEST_WORD(c) / 8];

			if (word != *noted_word(v, i, c))
				add_wrong(&wrong, c, v->watch[i], word);
		}
	}
	report_wrong(v, &wrong, "words written to dropped pages");
	return 0;
}

static int quiet_step(struct verify *v)
{
	int ret;

	v->generation++;
	note_words(v);
	ret = hold_pages(&v->hold, v->vm->mem, v->watch, v->watched);
	if (ret)
		return ret;
	ret = churn_invalidate(v->vm, v->offset, v->o->chunk_mib * CHURN_MIB, NULL);
	if (ret)
		return ret;
	expect_words(v, 0, v->generation % v->watched, EARLY_STRIDE,
		     "words of dropped pages seen by the host");
	ret = check_in_guest(v);
	if (ret)
		return ret;
	expect_words(v, v->generation, 0, 1, "words of vCPUs not seen by the host");
	return check_held(v);
}

/* Drops the chunk one period from now, while all vCPUs write to it. */
static int race(struct verify *v)
{
	uint64_t period = v->o->period_us * 1000ull;
	uint64_t deadline = churn_now_ns() + period;
	struct vm *vm = v->vm;
	int ret, err;

	for (unsigned int c = 0; c < vm->n_vcpus; c++) {
		struct kvm_regs regs = guest_race_regs(vm->mem_bytes, c, v->watched,
						       v->watched * c / vm->n_vcpus, RACE_VALUE);

		vcpu_start(&vm->vcpus[c], &regs, VCPU_UNTIL_STOP);
	}
	churn_wait_until(deadline, period, v->result);
	ret = churn_invalidate(vm, v->offset, v->o->chunk_mib * CHURN_MIB,
			       &v->result->madvise_ns[v->round]);
	err = vm_stop_all(vm);
	for (unsigned int c = 0; c < vm->n_vcpus; c++)
		v->result->pages_touched += 0 - vm->vcpus[c].regs.rcx;
	return ret ?: err;
}

/* The chunk rests as a whole: its zaps must find nothing, and nothing must break. */
static int resting_round(struct verify *v)
{
	uint64_t period = v->o->period_us * 1000ull;

	churn_wait_until(churn_now_ns() + period, period, v->result);
	return churn_invalidate(v->vm, v->offset, v->o->chunk_mib * CHURN_MIB,
				&v->result->madvise_ns[v->round]);
}

static int verify_round(struct verify *v, const struct churn_schedule *s)
{
	uint64_t *list = guest_watch_list(v->vm->system);
	int ret;

	v->offset = churn_schedule_offset(s, v->round);
	v->watched = churn_watch_list(v->o, v->round, v->offset, v->watch);
	for (size_t i = 0; i < v->watched; i++)
		list[i] = GUEST_BASE + v->watch[i];
	if (!v->watched)
		return resting_round(v);

	for (unsigned int step = 0; step < 2; step++) {
		ret = quiet_step(v);
		if (ret || v->result->errors)
			return ret;
	}
	ret = race(v);
	if (ret)
		return ret;
	return quiet_step(v);
}

/**
 * churn_verify - run all rounds of a verification, or up to the first that finds a wrong word
 * @vm: a machine whose memory has been touched
 * @o: checked options
 * @s: their schedule
 * @result: filled as far as the rounds come; its errors count the wrong words
 *
 * The pace is the time the race gets in each round, it is not absolute as in a measurement.
 *
 * Return: 0 if the run came to its end, with errors or without; else a negative errno, printed.
 */
int churn_verify(struct vm *vm, const struct churn_options *o, const struct churn_schedule *s,
		 struct churn_result *result)
{
	/* One table more at each end: a chunk need not begin on a table's border. */
	size_t max_watched = (o->chunk_mib / 2 + 2) * CHURN_WATCH_PER_TABLE;
	struct verify *v = calloc(1, sizeof(*v));
	int ret;

	if (!v)
		return -ENOMEM;
	v->vm = vm;
	v->o = o;
	v->result = result;
	ret = hold_create(&v->hold, max_watched);
	if (ret)
		goto free_verify;

	for (v->round = 0; v->round < o->rounds; v->round++) {
		ret = verify_round(v, s);
		if (ret || result->errors)
			break;
		result->rounds++;
		if (o->writeback) {
			ret = vm_fill(vm, v->offset, s->chunk, &result->pages_touched);
			if (ret)
				break;
		}
	}
	hold_destroy(&v->hold);
free_verify:
	free(v);
	return ret;
}
