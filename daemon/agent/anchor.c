// SPDX-License-Identifier: GPL-2.0-only
/*
 * Anchors: records that a guest may put into Xen's trace. Each carries dom0's clock, so that the
 * host can place Xen's records, which have only a TSC, on the axis of the Linux events.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/anchor.h"
#include "agent/privcmd.h"
#include "base/util.h"

/* Xen's ABI. */
struct xen_hvm_xentrace {
	uint16_t event;
	uint16_t extra_bytes;
	uint32_t extra[7];
};

#define EVENT_ANCHOR 0x1ab
#define ANCHOR_WORDS 6

_Static_assert(sizeof(struct xen_hvm_xentrace) == 32, "Xen copies so many bytes");

/**
 * agent_anchors_open() - get ready to put anchors into Xen's trace
 * @anchors: ends with agent_anchors_close() whatever is returned
 * @tsc_khz: what the anchors say of the TSC's frequency; not positive for unknown
 *
 * Return: 0 or negative errno; -ENOENT without Xen.
 */
int agent_anchors_open(struct agent_anchors *anchors, int64_t tsc_khz)
{
	size_t size = sizeof(*anchors->record);

	*anchors = (struct agent_anchors){.fd = -1};
	if (tsc_khz > 0 && tsc_khz <= UINT32_MAX)
		anchors->tsc_khz = tsc_khz;
	anchors->fd = open(PRIVCMD, O_RDWR | O_CLOEXEC);
	if (anchors->fd < 0)
		return -errno;
	/* Xen walks our page tables but takes no fault: what it reads must be present. */
	anchors->record = mmap(NULL, size, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (anchors->record == MAP_FAILED) {
		anchors->record = NULL;
		return -errno;
	}
	return mlock(anchors->record, size) ? -errno : 0;
}

/** agent_anchors_close() - release what agent_anchors_open() took */
void agent_anchors_close(struct agent_anchors *anchors)
{
	if (anchors->fd >= 0)
		close(anchors->fd);
	if (anchors->record)
		munmap(anchors->record, sizeof(*anchors->record));
	anchors->fd = -1;
	anchors->record = NULL;
}

/**
 * agent_anchor() - put one anchor into the trace, on whatever CPU this runs
 *
 * It is lost, without an error, while Xen does not trace.
 *
 * Return: 0 or negative errno.
 */
int agent_anchor(struct agent_anchors *anchors)
{
	struct xen_hvm_xentrace *record = anchors->record;
	struct privcmd_hypercall call = {
		.op = HYPERVISOR_HVM_OP,
		.arg = {HVM_OP_XENTRACE, (uintptr_t)record},
	};
	int64_t before;

	*record = (struct xen_hvm_xentrace){
		.event = EVENT_ANCHOR,
		.extra_bytes = 4 * ANCHOR_WORDS,
		.extra = {anchors->seq, anchors->tsc_khz, 0, 0, (uint32_t)anchors->prev_after,
			  (uint32_t)(anchors->prev_after >> 32)},
	};
	before = mono_ns();
	record->extra[2] = (uint32_t)before;
	record->extra[3] = (uint32_t)(before >> 32);
	if (ioctl(anchors->fd, IOCTL_PRIVCMD_HYPERCALL, &call) < 0)
		return -errno;
	anchors->prev_after = mono_ns();
	anchors->seq++;
	return 0;
}

/**
 * agent_anchor_round() - put anchors into the trace of every CPU
 * @each: anchors per CPU, one behind the other
 *
 * dom0's virtual CPUs are pinned, so that each of them writes to the buffer of one real CPU. The
 * thread may run everywhere again in the end.
 *
 * Return: 0 or negative errno.
 */
int agent_anchor_round(struct agent_anchors *anchors, unsigned int each)
{
	cpu_set_t all, one;
	int ret = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return -errno;
	for (int cpu = 0; cpu < CPU_SETSIZE && !ret; cpu++) {
		if (!CPU_ISSET(cpu, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one))
			ret = -errno;
		for (unsigned int i = 0; i < each && !ret; i++)
			ret = agent_anchor(anchors);
	}
	if (sched_setaffinity(0, sizeof(all), &all) && !ret)
		ret = -errno;
	return ret;
}
