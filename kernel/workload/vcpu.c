// SPDX-License-Identifier: GPL-2.0-only
/*
 * Runs one vCPU: a job is a set of registers and the way it is meant to end. A vCPU that leaves
 * KVM_RUN in any other way has found a fault of the machine or of KVM. It is reported with its
 * registers and fails the run, because a run that goes on without it would only look faster.
 */
#include "vcpu.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* No job takes this long; it only keeps a broken machine from hanging the run for ever. */
#define JOB_TIMEOUT_S 300

#define KICK_SIGNAL SIGUSR1

static void kicked(int sig)
{
	(void)sig; /* its arrival ends KVM_RUN, that is all */
}

static void dump(struct vcpu *v, const char *what)
{
	struct kvm_sregs sregs = {};
	struct kvm_regs r = {};

	ioctl(v->fd, KVM_GET_REGS, &r);
	ioctl(v->fd, KVM_GET_SREGS, &sregs);
	fprintf(stderr,
		"kvm-churn: vCPU %u %s, exit reason %u\n"
		"  rip %016llx rsp %016llx flags %08llx\n"
		"  rax %016llx rbx %016llx rcx %016llx rdx %016llx\n"
		"  rsi %016llx rdi %016llx rbp %016llx r8  %016llx\n"
		"  r9  %016llx r10 %016llx r11 %016llx\n"
		"  cr0 %08llx cr2 %016llx cr3 %016llx cr4 %08llx efer %04llx\n",
		v->id, what, v->run->exit_reason, r.rip, r.rsp, r.rflags, r.rax, r.rbx, r.rcx,
		r.rdx, r.rsi, r.rdi, r.rbp, r.r8, r.r9, r.r10, r.r11, sregs.cr0, sregs.cr2,
		sregs.cr3, sregs.cr4, sregs.efer);
	if (v->run->exit_reason == KVM_EXIT_INTERNAL_ERROR)
		fprintf(stderr, "  internal error %u\n", v->run->internal.suberror);
	if (v->run->exit_reason == KVM_EXIT_FAIL_ENTRY)
		fprintf(stderr, "  hardware entry failure %#llx\n",
			(unsigned long long)v->run->fail_entry.hardware_entry_failure_reason);
}

/* Runs the job in @v->regs to its end, on the calling thread. */
static int run_job(struct vcpu *v)
{
	int ret;

	if (ioctl(v->fd, KVM_SET_REGS, &v->regs) < 0) {
		ret = -errno;
		fprintf(stderr, "kvm-churn: vCPU %u: KVM_SET_REGS: %m\n", v->id);
		return ret;
	}
	for (;;) {
		if (ioctl(v->fd, KVM_RUN, 0) < 0) {
			if (errno != EINTR) {
				ret = -errno;
				dump(v, strerror(errno));
				return ret;
			}
			if (!atomic_load(&v->stop))
				continue; /* somebody else's signal */
			if (v->until == VCPU_UNTIL_STOP)
				break;
			dump(v, "was stopped before it halted");
			return -EINTR;
		}
		if (v->run->exit_reason == KVM_EXIT_HLT && v->until == VCPU_UNTIL_HALT)
			break;
		dump(v, "left the guest unasked");
		return -EIO;
	}
	if (ioctl(v->fd, KVM_GET_REGS, &v->regs) < 0) {
		ret = -errno;
		fprintf(stderr, "kvm-churn: vCPU %u: KVM_GET_REGS: %m\n", v->id);
		return ret;
	}
	return 0;
}

static void prepare_job(struct vcpu *v, const struct kvm_regs *regs, enum vcpu_until until)
{
	v->regs = *regs;
	v->until = until;
	v->run->immediate_exit = 0;
	atomic_store(&v->stop, false);
}

static void *vcpu_thread(void *arg)
{
	struct vcpu *v = arg;

	pthread_mutex_lock(&v->lock);
	for (;;) {
		int ret;

		while (v->state == VCPU_IDLE)
			pthread_cond_wait(&v->changed, &v->lock);
		if (v->state == VCPU_QUIT)
			break;
		pthread_mutex_unlock(&v->lock);
		ret = run_job(v);
		pthread_mutex_lock(&v->lock);
		v->result = ret;
		if (v->state == VCPU_BUSY)
			v->state = VCPU_IDLE;
		pthread_cond_signal(&v->changed);
	}
	pthread_mutex_unlock(&v->lock);
	return NULL;
}

/**
 * vcpu_init - make a vCPU that the caller can run
 * @v: filled; destroy it with vcpu_destroy()
 * @id: its number
 * @fd: from KVM_CREATE_VCPU, with its special registers set; owned by @v also on error
 * @run_size: from KVM_GET_VCPU_MMAP_SIZE, in bytes
 *
 * Return: 0 or a negative errno.
 */
int vcpu_init(struct vcpu *v, unsigned int id, int fd, size_t run_size)
{
	pthread_condattr_t attr;

	*v = (struct vcpu){.id = id, .fd = fd, .run_size = run_size};
	pthread_mutex_init(&v->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&v->changed, &attr);
	pthread_condattr_destroy(&attr);

	v->run = mmap(NULL, run_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (v->run == MAP_FAILED) {
		v->run = NULL;
		return -errno;
	}
	return 0;
}

/**
 * vcpu_thread_start - give a vCPU its own pinned thread
 * @v: an initialized vCPU
 * @cpu: number of the host's CPU to run on
 *
 * Return: 0 or a negative errno.
 */
int vcpu_thread_start(struct vcpu *v, int cpu)
{
	/* No SA_RESTART: the signal must end KVM_RUN. */
	struct sigaction action = {.sa_handler = kicked};
	pthread_attr_t attr;
	cpu_set_t set;
	int ret;

	sigaction(KICK_SIGNAL, &action, NULL);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
	ret = -pthread_create(&v->thread, &attr, vcpu_thread, v);
	pthread_attr_destroy(&attr);
	v->has_thread = !ret;
	return ret;
}

/**
 * vcpu_destroy - end the thread and close the vCPU
 * @v: a vCPU after vcpu_init(), with whatever result
 */
void vcpu_destroy(struct vcpu *v)
{
	if (v->has_thread) {
		vcpu_stop(v);
		pthread_mutex_lock(&v->lock);
		v->state = VCPU_QUIT;
		pthread_cond_signal(&v->changed);
		pthread_mutex_unlock(&v->lock);
		pthread_join(v->thread, NULL);
	}
	pthread_cond_destroy(&v->changed);
	pthread_mutex_destroy(&v->lock);
	if (v->run)
		munmap(v->run, v->run_size);
	close(v->fd);
}

/**
 * vcpu_run - run a job on the calling thread
 * @v: a vCPU without a thread
 * @regs: the job's registers
 * @until: how it is meant to end
 *
 * Return: 0 with the last registers in @v->regs, or a negative errno; the failure has been printed.
 */
int vcpu_run(struct vcpu *v, const struct kvm_regs *regs, enum vcpu_until until)
{
	prepare_job(v, regs, until);
	return run_job(v);
}

/**
 * vcpu_start - hand a job to a vCPU's thread
 * @v: an idle vCPU with a thread
 * @regs: the job's registers
 * @until: how it is meant to end
 */
void vcpu_start(struct vcpu *v, const struct kvm_regs *regs, enum vcpu_until until)
{
	pthread_mutex_lock(&v->lock);
	prepare_job(v, regs, until);
	v->result = 0;
	v->state = VCPU_BUSY;
	pthread_cond_signal(&v->changed);
	pthread_mutex_unlock(&v->lock);
}

/**
 * vcpu_stop - ask a vCPU to leave the guest
 * @v: a vCPU with a thread, busy or idle
 *
 * Works however far the thread is: immediate_exit stops a KVM_RUN that has not begun yet, the
 * signal one that has.
 */
void vcpu_stop(struct vcpu *v)
{
	atomic_store(&v->stop, true);
	v->run->immediate_exit = 1;
	pthread_kill(v->thread, KICK_SIGNAL);
}

/**
 * vcpu_wait - wait for the end of a job
 * @v: a vCPU with a thread
 *
 * Return: 0 with the last registers in @v->regs, -ETIMEDOUT, or another negative errno; the failure
 * has been printed.
 */
int vcpu_wait(struct vcpu *v)
{
	struct timespec until;
	int ret = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += JOB_TIMEOUT_S;
	pthread_mutex_lock(&v->lock);
	while (v->state == VCPU_BUSY && !ret)
		ret = -pthread_cond_timedwait(&v->changed, &v->lock, &until);
	if (v->state != VCPU_BUSY)
		ret = v->result;
	pthread_mutex_unlock(&v->lock);
	if (ret == -ETIMEDOUT)
		fprintf(stderr, "kvm-churn: vCPU %u did not end its job within %d s\n", v->id,
			JOB_TIMEOUT_S);
	return ret;
}

/**
 * vcpu_ended - tell whether a job has ended
 * @v: a vCPU with a thread
 *
 * For jobs that only end when they are stopped: having ended means having failed.
 *
 * Return: true if no job is running.
 */
bool vcpu_ended(struct vcpu *v)
{
	bool ended;

	pthread_mutex_lock(&v->lock);
	ended = v->state != VCPU_BUSY;
	pthread_mutex_unlock(&v->lock);
	return ended;
}
