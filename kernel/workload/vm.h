/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHURN_VM_H
#define CHURN_VM_H

#include <stdint.h>

#include "options.h"
#include "vcpu.h"

/**
 * struct vm - the virtual machine
 * @kvm_fd:	/dev/kvm, owned
 * @vm_fd:	the machine, owned
 * @map:	the mapping that holds guest memory, owned
 * @map_size:	its size in bytes, with what alignment needed
 * @mem:	start of the churned memory in @map, aligned to a leaf table
 * @mem_bytes:	its size
 * @system:	start of the system area, right after the churned memory
 * @vcpus:	the vCPUs with threads
 * @n_vcpus:	their number
 * @filler:	one more vCPU, by which the invalidator itself fills guest memory
 * @has_filler:	@filler exists
 * @can_map:	KVM maps memory on request (KVM_PRE_FAULT_MEMORY)
 */
struct vm {
	int kvm_fd;
	int vm_fd;
	void *map;
	size_t map_size;
	char *mem;
	uint64_t mem_bytes;
	char *system;
	struct vcpu vcpus[CHURN_MAX_VCPUS];
	unsigned int n_vcpus;
	struct vcpu filler;
	bool has_filler;
	bool can_map;
};

int vm_create(struct vm *vm, const struct churn_options *o);
void vm_destroy(struct vm *vm);
int vm_pin(struct vm *vm);
int vm_fill(struct vm *vm, uint64_t offset, uint64_t size, uint64_t *pages_touched);
int vm_stop_all(struct vm *vm);

#endif
