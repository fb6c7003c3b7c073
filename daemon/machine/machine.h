/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_MACHINE_MACHINE_H
#define LABD_MACHINE_MACHINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From being told to power off to the end of the machine; in the machine's time. */
#define BOOT_POWER_OFF_MS 30000

/* How a boot ended. The names are stored and shown; they do not change. */
enum boot_state {
	BOOT_RUNNING,
	BOOT_OK,
	BOOT_PANIC,
	BOOT_OOPS,
	BOOT_HUNG,
	BOOT_WRONG_KERNEL,
	BOOT_TIMEOUT, /* "boot-timeout" */
	BOOT_WORKLOAD_FAILED,
	BOOT_LOST_CONNECTION,
	BOOT_INFRA_FAILED,
	BOOT_DISTURBED,
	BOOT_CANCELLED,
};

const char *boot_state_name(enum boot_state state);

/**
 * struct boot_request - everything that one boot needs; strings stay the caller's
 * @kernel: bzImage; dom0's when there is a hypervisor
 * @image: initramfs
 * @build_id: GNU build-id that the kernel must show, hex
 * @hypervisor: Xen's ELF file, NULL for a kernel on the machine itself
 * @hypervisor_build_id: what the hypervisor must show, hex; NULL without one
 * @hypervisor_cmdline: declared additions to its command line, or NULL
 * @token: what the kernel's command line must carry as labd.token=
 * @cmdline: declared additions, or NULL
 * @jobs: array of the objects that boot_run() will be given, in this order: a machine that takes no
 * messages while it runs is told all of them at power-on
 * @runtime_dir: private folder that exists, 0700
 * @console_path: file that receives the console, each line behind its time since power-on
 * ("[   1.234] ")
 * @cancel_fd: readable when the boot must end now, -1 for never
 * @boot_timeout_ms: power-on to HELLO
 * @hang_timeout_ms: silence of agent and console that counts as a hang while no run has a timeout
 * of its own
 * @stall_timeout_ms: of the host's time: how long a machine's own clock may stand still
 * @limit_ms: power-on to power-off, beyond all other limits
 *
 * Limits but @stall_timeout_ms are in the machine's time (see struct machine_transport).
 */
struct boot_request {
	const char *kernel;
	const char *image;
	const char *build_id;
	const char *hypervisor;
	const char *hypervisor_build_id;
	const char *hypervisor_cmdline;
	const char *token;
	const char *cmdline;
	const json_t *jobs;
	const char *runtime_dir;
	const char *console_path;
	int cancel_fd;
	unsigned int boot_timeout_ms;
	unsigned int hang_timeout_ms;
	unsigned int stall_timeout_ms;
	uint64_t limit_ms;
};

/**
 * struct boot_end - how it ended
 * @detail: one sentence: why, with the console line that shows it
 * @console_lines: the console's lines around the cause (or its last ones), newline-separated
 */
struct boot_end {
	enum boot_state state;
	char detail[256];
	char console_lines[4096];
};

struct machine;
struct boot;

/**
 * struct machine_transport - a machine that is powered on; the session closes the descriptors
 * @console_fd: what the kernel's serial console says
 * @hypervisor_fd: what the hypervisor's says, -1 without one
 * @agent_fd: a stream socket to the agent, with a send timeout
 * @messages_fd: what the machine's program says on stderr, -1 for none
 * @pid_fd: readable when the machine's program ended, -1 for none; closed by the driver's kill
 * @pid: for people
 * @clock_ns: a page of its own, mapped shared, that begins with the machine's time since power-on;
 * only ever grows; NULL when that is the host's. The session unmaps it
 */
struct machine_transport {
	int console_fd;
	int hypervisor_fd;
	int agent_fd;
	int messages_fd;
	int pid_fd;
	int pid;
	const _Atomic int64_t *clock_ns;
};

/**
 * struct machine_ops - a driver
 * @name: as the spec's "machine" says it
 * @version: of the driver's behaviour; stored with each boot
 * @deterministic: what a boot does is a function of the kernel, the image and the request's texts,
 * so the lab puts nothing of its own into those: no random token, no number of its database
 * @describe: what the machine is, with a hypervisor or without:
 * {"driver","emulated":bool,"clock":"…","argv":[…]} and its version; new reference
 * @capacity: so many machines may run side by side without a change in what each measures; NULL
 * for one
 * @boot: power on; <0 errno
 * @kill: power off at once; may be called at any time after boot, more than once
 */
struct machine_ops {
	const char *name;
	unsigned int version;
	bool deterministic;
	unsigned int (*capacity)(void);
	int (*describe)(bool hypervisor, json_t **ret_description);
	int (*boot)(const struct boot_request *request, struct machine_transport *ret_transport);
	void (*kill)(struct machine_transport *transport);
};

const struct machine_ops *machine_find(const char *name);
const struct machine_ops *const *machine_list(size_t *ret_count);

/*
 * A boot's life, the same for each driver. boot_start() powers on; boot_wait_hello() proves the
 * kernel; boot_run() does one run; boot_finish() powers off, reads the console on for a while so
 * that a late oops wins, classifies and frees. A negative return of the middle two means that the
 * boot is over: call boot_finish() for the reason. A machine that cannot be powered on is an end
 * like any other. All of them are called from one thread, with SIGPIPE ignored.
 */
int boot_start(const struct machine_ops *ops, const struct boot_request *request,
	       struct boot **ret_boot);
int boot_wait_hello(struct boot *boot, json_t **ret_hello);

/**
 * struct run_request - one run
 * @job: the JOB frame's object (see agent/job.h)
 * @capture_path: file to receive the capture; it appears whole and fsynced, or not at all (also
 * when the agent had none to send)
 * @xen_path: the same for the hypervisor's capture, NULL when none is asked for
 * @capture_max: bytes at which a capture is refused
 * @timeout_ms: JOB to DONE, shipping included
 * @started: called once when the workload starts, may be NULL
 */
struct run_request {
	const json_t *job;
	const char *capture_path;
	const char *xen_path;
	uint64_t capture_max;
	unsigned int timeout_ms;
	void (*started)(void *arg);
	void *arg;
};

int boot_run(struct boot *boot, const struct run_request *request, json_t **ret_done);
int boot_list_events(struct boot *boot, json_t **ret_events);
void boot_finish(struct boot *boot, struct boot_end *ret_end);

#endif
