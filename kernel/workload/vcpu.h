/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHURN_VCPU_H
#define CHURN_VCPU_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/kvm.h>

/* How a job of a vCPU is meant to end. Every other end is an error. */
enum vcpu_until {
	VCPU_UNTIL_HALT,
	VCPU_UNTIL_STOP,
};

enum vcpu_state {
	VCPU_IDLE,
	VCPU_BUSY,
	VCPU_QUIT,
};

/**
 * struct vcpu - one vCPU and, unless the caller runs it himself, the thread that runs it
 * @id:		number of the vCPU, from 0; also the writer's number in guest memory
 * @fd:		the vCPU, owned
 * @run:	the page shared with KVM, owned
 * @run_size:	size of @run in bytes
 * @has_thread:	@thread exists and must be joined
 * @thread:	runs the jobs
 * @lock:	guards @state and @result
 * @changed:	signalled at each change of @state
 * @state:	idle, busy with a job, or told to end
 * @until:	how the job is meant to end
 * @stop:	the caller wants the job to end
 * @result:	of the last job: 0 or a negative errno
 * @regs:	the job's registers; after the job those of its end
 */
struct vcpu {
	unsigned int id;
	int fd;
	struct kvm_run *run;
	size_t run_size;

	bool has_thread;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	enum vcpu_state state;
	enum vcpu_until until;
	atomic_bool stop;
	int result;
	struct kvm_regs regs;
};

int vcpu_init(struct vcpu *v, unsigned int id, int fd, size_t run_size);
int vcpu_thread_start(struct vcpu *v, int cpu);
void vcpu_destroy(struct vcpu *v);
int vcpu_run(struct vcpu *v, const struct kvm_regs *regs, enum vcpu_until until);
void vcpu_start(struct vcpu *v, const struct kvm_regs *regs, enum vcpu_until until);
void vcpu_stop(struct vcpu *v);
int vcpu_wait(struct vcpu *v);
bool vcpu_ended(struct vcpu *v);

#endif
