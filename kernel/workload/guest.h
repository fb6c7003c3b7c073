/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHURN_GUEST_H
#define CHURN_GUEST_H

#include <stddef.h>
#include <stdint.h>
#include <linux/kvm.h>

#include "schedule.h"

/*
 * Guest memory begins at 4 GiB, above everything that KVM may want to place below (APIC page, TSS,
 * identity map). The part that is churned comes first; the last 2 MiB are never invalidated and
 * hold page tables, code and the list of watched pages.
 */
#define GUEST_BASE (4ull << 30)
#define GUEST_SYSTEM_SIZE CHURN_TABLE

/* Each writer has a word of its own in each page, on a cache line of its own: nobody shares. */
#define GUEST_WORD(writer) ((writer)*64ull)

void guest_system_init(void *system, uint64_t mem_bytes);
uint64_t *guest_watch_list(void *system);
void guest_set_sregs(struct kvm_sregs *sregs, uint64_t mem_bytes);

struct kvm_regs guest_walk_regs(uint64_t mem_bytes, unsigned int writer, uint64_t start,
				uint64_t end, uint64_t at, uint64_t pages, uint64_t work);
struct kvm_regs guest_race_regs(uint64_t mem_bytes, unsigned int writer, size_t watched, size_t at,
				uint64_t value);
struct kvm_regs guest_check_regs(uint64_t mem_bytes, unsigned int writer, size_t watched,
				 uint64_t value);

/**
 * struct guest_check - what a vCPU that ran the check found
 * @mismatches:	watched pages that were not zero
 * @address:	offset of the first of them in guest memory, in bytes
 * @value:	what the vCPU read there
 */
struct guest_check {
	uint64_t mismatches;
	uint64_t address;
	uint64_t value;
};

struct guest_check guest_check_result(const struct kvm_regs *regs);

#endif
