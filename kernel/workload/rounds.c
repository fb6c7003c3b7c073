// SPDX-License-Identifier: GPL-2.0-only
/*
 * The measured rounds: the vCPUs walk over all guest memory without a pause, while the calling
 * thread invalidates chunks at a fixed pace.
 */
#include "rounds.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>

#include "guest.h"

#define NS_PER_S 1000000000ull

/**
 * churn_now_ns - read the monotonic clock
 *
 * Return: nanoseconds.
 */
uint64_t churn_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NS_PER_S + now.tv_nsec;
}

/**
 * churn_wait_until - sleep until a round's time has come, and note how late it then is
 * @deadline_ns: on the monotonic clock
 * @period_ns: the pace, which decides what is late
 * @result: its late_rounds and late_max_ns are updated
 */
void churn_wait_until(uint64_t deadline_ns, uint64_t period_ns, struct churn_result *result)
{
	struct timespec until = {
		.tv_sec = deadline_ns / NS_PER_S,
		.tv_nsec = deadline_ns % NS_PER_S,
	};
	uint64_t late;

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
	late = churn_now_ns() - deadline_ns;
	if (late > period_ns / 10)
		result->late_rounds++;
	if (late > result->late_max_ns)
		result->late_max_ns = late;
}

/**
 * churn_invalidate - drop a range of guest memory
 * @vm: the machine
 * @offset: start of the range in bytes
 * @size: its size in bytes
 * @ret_ns: how long it took, in nanoseconds; may be NULL
 *
 * Return: 0 or a negative errno, printed.
 */
int churn_invalidate(struct vm *vm, uint64_t offset, uint64_t size, uint64_t *ret_ns)
{
	uint64_t start = churn_now_ns();

	if (madvise(vm->mem + offset, size, MADV_DONTNEED) < 0) {
		int ret = -errno;

		fprintf(stderr, "kvm-churn: MADV_DONTNEED: %m\n");
		return ret;
	}
	if (ret_ns)
		*ret_ns = churn_now_ns() - start;
	return 0;
}

static bool any_ended(struct vm *vm)
{
	for (unsigned int i = 0; i < vm->n_vcpus; i++) {
		if (vcpu_ended(&vm->vcpus[i]))
			return true;
	}
	return false;
}

static int invalidate_at_pace(struct vm *vm, const struct churn_options *o,
			      const struct churn_schedule *s, struct churn_result *result)
{
	uint64_t period = o->period_us * 1000ull;
	uint64_t deadline = churn_now_ns() + period + churn_start_delay_ns(o);
	int ret;

	for (unsigned int round = 0; round < o->rounds; round++, deadline += period) {
		uint64_t offset = churn_schedule_offset(s, round);

		churn_wait_until(deadline, period, result);
		if (any_ended(vm))
			return -EIO;
		ret = churn_invalidate(vm, offset, s->chunk, &result->madvise_ns[round]);
		if (ret)
			return ret;
		result->rounds++;
		if (o->writeback) {
			ret = vm_fill(vm, offset, s->chunk, &result->pages_touched);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/* The vCPUs still get what the kernel keeps back from real-time threads: 5 % of each second. */
static int take_priority(int policy)
{
	const struct sched_param param = {.sched_priority = policy == SCHED_FIFO};

	if (!sched_setscheduler(0, policy, &param))
		return 0;
	fprintf(stderr, "kvm-churn: cannot set the invalidator's priority: %m\n");
	return -errno;
}

/**
 * churn_measure - run all rounds of a measurement
 * @vm: a machine whose memory has been touched
 * @o: checked options
 * @s: their schedule
 * @result: filled as far as the rounds come
 *
 * Deadlines are absolute: a late round does not move the ones after it.
 *
 * Return: 0 or a negative errno, printed.
 */
int churn_measure(struct vm *vm, const struct churn_options *o, const struct churn_schedule *s,
		  struct churn_result *result)
{
	unsigned int order[CHURN_MAX_VCPUS];
	int ret, err;

	churn_start_order(o, order);
	for (unsigned int i = 0; i < vm->n_vcpus; i++) {
		unsigned int v = order[i];
		struct kvm_regs regs =
			guest_walk_regs(vm->mem_bytes, v, 0, vm->mem_bytes,
					churn_start_page(o, v) * CHURN_PAGE, 0, o->work);

		vcpu_start(&vm->vcpus[v], &regs, VCPU_UNTIL_STOP);
	}
	ret = o->fifo ? take_priority(SCHED_FIFO) : 0;
	if (!ret)
		ret = invalidate_at_pace(vm, o, s, result);
	if (o->fifo)
		take_priority(SCHED_OTHER);
	err = vm_stop_all(vm);

	/* An endless walk counts its pages down from zero. */
	for (unsigned int i = 0; i < vm->n_vcpus; i++)
		result->pages_touched += 0 - vm->vcpus[i].regs.rcx;
	return ret ?: err;
}
