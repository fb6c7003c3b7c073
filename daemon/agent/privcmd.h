/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_PRIVCMD_H
#define LABD_AGENT_PRIVCMD_H

#include <stdint.h>
#include <sys/ioctl.h>

/*
 * Hypercalls from user space: Linux's ABI as far as it is needed, since its header asks for Xen's,
 * which are elsewhere. Xen walks our page tables but takes no fault: memory that a call names must
 * be present and locked.
 */
struct privcmd_hypercall {
	uint64_t op;
	uint64_t arg[5];
};

#define PRIVCMD "/dev/xen/privcmd"
#define IOCTL_PRIVCMD_HYPERCALL _IOC(_IOC_NONE, 'P', 0, sizeof(struct privcmd_hypercall))

#define HYPERVISOR_XEN_VERSION 17
#define XEN_VERSION_COMMANDLINE 9
#define XEN_VERSION_BUILD_ID 10
#define HYPERVISOR_HVM_OP 34
#define HVM_OP_XENTRACE 11

#endif
