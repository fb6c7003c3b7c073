/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_JOB_H
#define LABD_AGENT_JOB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of one run; the plan's are tighter. */
#define AGENT_JOB_MAX_EVENTS 64
#define AGENT_JOB_MAX_ARGS 64
#define AGENT_JOB_MAX_TEXT 1024
#define AGENT_JOB_MAX_TIMEOUT_MS 3600000
#define AGENT_JOB_MAX_BUFFER_KIB (1u << 20)
#define AGENT_ERROR_SIZE 256

/* The class of a guest's own records in Xen's trace: the anchors are of it. */
#define AGENT_XEN_CLASS_GUEST 0x08000000u

/* Every kprobe of a job lives in this group, so that a crashed agent's can be told from other
 * people's. */
#define AGENT_KPROBE_GROUP "labd"

/**
 * struct agent_event - a tracepoint
 */
struct agent_event {
	char *system;
	char *name;
};

/**
 * struct agent_kprobe - a probe that exists for one run
 * @is_return: a kretprobe
 * @maxactive: of a kretprobe, 0 for the kernel's choice
 * @name: event name in AGENT_KPROBE_GROUP
 * @symbol: kernel symbol, without the offset
 * @location: symbol and offset, as the kernel reads it
 * @fetch: fetch arguments, "" for none
 */
struct agent_kprobe {
	bool is_return;
	unsigned int maxactive;
	char *name;
	char *symbol;
	char *location;
	char *fetch;
};

/**
 * struct agent_job - one run, parsed from the JOB frame
 *
 *	{"run":12,"workload":"kvm-churn","argv":["--mode","same"],"seed":"123","timeout_ms":60000,
 *	 "trace":{"events":["kvmmmu:kvm_tdp_mmu_zap_leafs"],"kprobes":["p:labd/zap
 *tdp_mmu_zap_leafs"], "buffer_kib_per_cpu":65536,"clock":"mono","xen_mask":135327744}}
 *
 * @argv: NULL-terminated; [0] is the workload's name
 * @seed: decimal u64 for LABD_SEED
 * @timeout_ms: of the workload alone
 * @clock: a trace clock that counts nanoseconds
 * @xen_mask: classes of records that Xen traces; 0, without the key, when it does not
 */
struct agent_job {
	int64_t run;
	char *workload;
	char *argv[AGENT_JOB_MAX_ARGS + 2];
	char *seed;
	unsigned int timeout_ms;
	struct agent_event events[AGENT_JOB_MAX_EVENTS];
	size_t n_events;
	struct agent_kprobe kprobes[AGENT_JOB_MAX_EVENTS];
	size_t n_kprobes;
	unsigned int buffer_kib;
	char *clock;
	uint32_t xen_mask;
};

int agent_job_parse(const void *text, size_t length, struct agent_job *ret_job, char *ret_error);
void agent_job_free(struct agent_job *job);

#endif
