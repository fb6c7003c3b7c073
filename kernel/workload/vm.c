// SPDX-License-Identifier: GPL-2.0-only
/*
 * The virtual machine: memory in one slot, vCPUs in long mode, threads on their CPUs.
 */
#include "vm.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "guest.h"

/* Where KVM may put three pages it needs on some Intel CPUs: below 4 GiB, far from guest memory. */
#define TSS_ADDRESS 0xfffbd000ul

#define MAX_CPUID 1024u

/* Since Linux 6.11, younger than the distribution's headers. */
#ifndef KVM_PRE_FAULT_MEMORY
#define KVM_CAP_PRE_FAULT_MEMORY 236
#define KVM_PRE_FAULT_MEMORY _IOWR(KVMIO, 0xd5, struct kvm_pre_fault_memory)
struct kvm_pre_fault_memory {
	__u64 gpa;
	__u64 size;
	__u64 flags;
	__u64 padding[5];
};
#endif

static int map_memory(struct vm *vm)
{
	uint64_t size = vm->mem_bytes + GUEST_SYSTEM_SIZE;
	struct kvm_userspace_memory_region region = {
		.guest_phys_addr = GUEST_BASE,
		.memory_size = size,
	};
	int ret;

	/*
	 * The host's page tables and KVM's leaf tables shall cover the same 2 MiB, so align.
	 * NORESERVE: small machines refuse 1 GiB of private memory at once otherwise.
	 */
	vm->map_size = size + CHURN_TABLE;
	vm->map = mmap(NULL, vm->map_size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (vm->map == MAP_FAILED) {
		ret = -errno;
		vm->map = NULL;
		fprintf(stderr, "kvm-churn: cannot map %zu bytes of guest memory: %m\n",
			vm->map_size);
		return ret;
	}
	vm->mem = (char *)(((uintptr_t)vm->map + CHURN_TABLE - 1) & ~(CHURN_TABLE - 1));
	vm->system = vm->mem + vm->mem_bytes;

	/* EINVAL is a kernel without huge pages: nothing to turn off. */
	if (madvise(vm->map, vm->map_size, MADV_NOHUGEPAGE) < 0 && errno != EINVAL) {
		ret = -errno;
		fprintf(stderr, "kvm-churn: MADV_NOHUGEPAGE: %m\n");
		return ret;
	}
	guest_system_init(vm->system, vm->mem_bytes);

	region.userspace_addr = (uintptr_t)vm->mem;
	if (ioctl(vm->vm_fd, KVM_SET_USER_MEMORY_REGION, &region) < 0) {
		ret = -errno;
		fprintf(stderr, "kvm-churn: KVM_SET_USER_MEMORY_REGION: %m\n");
		return ret;
	}
	return 0;
}

static int supported_cpuid(int kvm_fd, struct kvm_cpuid2 **ret_cpuid)
{
	for (unsigned int n = 128; n <= MAX_CPUID; n *= 2) {
		struct kvm_cpuid2 *cpuid;

		cpuid = calloc(1, sizeof(*cpuid) + n * sizeof(cpuid->entries[0]));
		if (!cpuid)
			return -ENOMEM;
		cpuid->nent = n;
		if (!ioctl(kvm_fd, KVM_GET_SUPPORTED_CPUID, cpuid)) {
			*ret_cpuid = cpuid;
			return 0;
		}
		free(cpuid);
		if (errno != E2BIG)
			return -errno;
	}
	return -E2BIG;
}

static int create_vcpu(struct vm *vm, struct vcpu *v, unsigned int id, struct kvm_cpuid2 *cpuid)
{
	int run_size = ioctl(vm->kvm_fd, KVM_GET_VCPU_MMAP_SIZE, 0);
	struct kvm_sregs sregs;
	int fd, ret;

	if (run_size < 0)
		return -errno;
	fd = ioctl(vm->vm_fd, KVM_CREATE_VCPU, id);
	if (fd < 0)
		return -errno;

	/* CPUID first: KVM refuses long mode to a CPU that does not claim it. */
	if (ioctl(fd, KVM_SET_CPUID2, cpuid) < 0 || ioctl(fd, KVM_GET_SREGS, &sregs) < 0) {
		ret = -errno;
		goto close_fd;
	}
	guest_set_sregs(&sregs, vm->mem_bytes);
	if (ioctl(fd, KVM_SET_SREGS, &sregs) < 0) {
		ret = -errno;
		goto close_fd;
	}
	ret = vcpu_init(v, id, fd, run_size);
	if (ret)
		vcpu_destroy(v);
	return ret;

close_fd:
	close(fd);
	return ret;
}

static int create_vcpus(struct vm *vm, const struct churn_options *o)
{
	struct kvm_cpuid2 *cpuid = NULL;
	int ret;

	ret = supported_cpuid(vm->kvm_fd, &cpuid);
	if (ret)
		goto report;
	while (vm->n_vcpus < o->vcpus) {
		ret = create_vcpu(vm, &vm->vcpus[vm->n_vcpus], vm->n_vcpus, cpuid);
		if (ret)
			goto free_cpuid;
		vm->n_vcpus++;
	}
	ret = create_vcpu(vm, &vm->filler, vm->n_vcpus, cpuid);
	vm->has_filler = !ret;
free_cpuid:
	free(cpuid);
report:
	if (ret) {
		errno = -ret;
		fprintf(stderr, "kvm-churn: cannot create vCPU %u: %m\n", vm->n_vcpus);
	}
	return ret;
}

/**
 * vm_create - make the machine
 * @vm: filled; destroy it with vm_destroy()
 * @o: checked options
 *
 * Return: 0, -ENODEV if this machine has no usable KVM, or another negative errno; every failure
 * but -ENODEV has been printed.
 */
int vm_create(struct vm *vm, const struct churn_options *o)
{
	int ret;

	*vm = (struct vm){.vm_fd = -1, .mem_bytes = o->mem_mib * CHURN_MIB};
	vm->kvm_fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (vm->kvm_fd < 0) {
		if (errno == ENOENT || errno == ENODEV || errno == ENXIO)
			return -ENODEV;
		ret = -errno;
		fprintf(stderr, "kvm-churn: /dev/kvm: %m\n");
		return ret;
	}
	if (ioctl(vm->kvm_fd, KVM_GET_API_VERSION, 0) != KVM_API_VERSION) {
		ret = -ENODEV;
		goto destroy;
	}
	vm->vm_fd = ioctl(vm->kvm_fd, KVM_CREATE_VM, 0);
	if (vm->vm_fd < 0 || ioctl(vm->vm_fd, KVM_SET_TSS_ADDR, TSS_ADDRESS) < 0) {
		ret = -errno;
		fprintf(stderr, "kvm-churn: cannot create a virtual machine: %m\n");
		goto destroy;
	}
	vm->can_map = ioctl(vm->vm_fd, KVM_CHECK_EXTENSION, KVM_CAP_PRE_FAULT_MEMORY) > 0;
	ret = map_memory(vm);
	if (ret)
		goto destroy;
	ret = create_vcpus(vm, o);
	if (ret)
		goto destroy;
	return 0;

destroy:
	vm_destroy(vm);
	return ret;
}

/**
 * vm_destroy - end all threads and release everything
 * @vm: a machine that vm_create() made
 */
void vm_destroy(struct vm *vm)
{
	for (unsigned int i = 0; i < vm->n_vcpus; i++)
		vcpu_destroy(&vm->vcpus[i]);
	if (vm->has_filler)
		vcpu_destroy(&vm->filler);
	if (vm->vm_fd >= 0)
		close(vm->vm_fd);
	close(vm->kvm_fd);
	if (vm->map)
		munmap(vm->map, vm->map_size);
}

/* The number of the @nth CPU this process may use, counted around. */
static int nth_cpu(const cpu_set_t *set, unsigned int nth)
{
	int cpu = -1;

	for (nth %= CPU_COUNT(set);; nth--) {
		do {
			cpu++;
		} while (!CPU_ISSET(cpu, set));
		if (!nth)
			return cpu;
	}
}

/**
 * vm_pin - start the vCPUs' threads, each on its CPU, and pin the caller as the invalidator
 * @vm: a new machine
 *
 * The CPUs are dealt in turn, to the invalidator last: it has one of its own where there is one
 * more CPU than vCPUs.
 *
 * Return: 0 or a negative errno, printed.
 */
int vm_pin(struct vm *vm)
{
	cpu_set_t allowed, own;
	int ret;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) < 0) {
		ret = -errno;
		goto report;
	}
	for (unsigned int i = 0; i < vm->n_vcpus; i++) {
		ret = vcpu_thread_start(&vm->vcpus[i], nth_cpu(&allowed, i));
		if (ret)
			goto report;
	}
	CPU_ZERO(&own);
	CPU_SET(nth_cpu(&allowed, vm->n_vcpus), &own);
	if (sched_setaffinity(0, sizeof(own), &own) < 0) {
		ret = -errno;
		goto report;
	}
	return 0;

report:
	errno = -ret;
	fprintf(stderr, "kvm-churn: cannot pin the threads: %m\n");
	return ret;
}

/* Has KVM install SPTEs for a range whose pages are there. */
static int map_range(struct vm *vm, uint64_t offset, uint64_t size)
{
	struct kvm_pre_fault_memory range = {.gpa = GUEST_BASE + offset, .size = size};

	/* KVM moves the range's start forward as far as it comes before it has to return. */
	while (range.size) {
		if (ioctl(vm->filler.fd, KVM_PRE_FAULT_MEMORY, &range) < 0 && errno != EINTR &&
		    errno != EAGAIN) {
			int ret = -errno;

			fprintf(stderr, "kvm-churn: KVM_PRE_FAULT_MEMORY: %m\n");
			return ret;
		}
	}
	return 0;
}

/**
 * vm_fill - bring in each page of a range of guest memory, and have KVM map it
 * @vm: the machine
 * @offset: start of the range in bytes
 * @size: its size in bytes
 * @pages_touched: the pages brought in are added to it
 *
 * Write faults by the host bring back the pages, but KVM's leaf tables stay empty until a vCPU
 * comes by. So KVM is asked to map the range, or, where it cannot be asked, the filler writes it
 * too. That works anywhere, but leaves and enters the guest for each page, which costs many times
 * as much where virtualization is emulated.
 *
 * Return: 0 or a negative errno, printed.
 */
int vm_fill(struct vm *vm, uint64_t offset, uint64_t size, uint64_t *pages_touched)
{
	uint64_t end = offset + size;
	struct kvm_regs regs;
	int ret;

	if (madvise(vm->mem + offset, size, MADV_POPULATE_WRITE) < 0) {
		ret = -errno;
		fprintf(stderr, "kvm-churn: MADV_POPULATE_WRITE (Linux 5.14): %m\n");
		return ret;
	}
	if (vm->can_map) {
		ret = map_range(vm, offset, size);
	} else {
		regs = guest_walk_regs(vm->mem_bytes, vm->filler.id, offset, end, offset,
				       size / CHURN_PAGE, 0);
		ret = vcpu_run(&vm->filler, &regs, VCPU_UNTIL_HALT);
	}
	if (!ret)
		*pages_touched += size / CHURN_PAGE;
	return ret;
}

/**
 * vm_stop_all - end the jobs of all vCPUs
 * @vm: a machine whose vCPUs run endless jobs
 *
 * Return: 0 with the last registers in the vCPUs, or the first vCPU's negative errno, printed.
 */
int vm_stop_all(struct vm *vm)
{
	int ret = 0;

	for (unsigned int i = 0; i < vm->n_vcpus; i++)
		vcpu_stop(&vm->vcpus[i]);
	for (unsigned int i = 0; i < vm->n_vcpus; i++) {
		int err = vcpu_wait(&vm->vcpus[i]);

		ret = ret ?: err;
	}
	return ret;
}
