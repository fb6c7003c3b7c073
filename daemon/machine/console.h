/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_MACHINE_CONSOLE_H
#define LABD_MACHINE_CONSOLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The log of one boot: what the kernel says on its serial console, and marked as such what its
 * hypervisor, the machine's program, the agent and the lab say. The first two are searched for the
 * ways in which each of them tells that it is in trouble.
 */
struct console;

#define CONSOLE_FILE_MAX (8u << 20)
#define CONSOLE_LINE_SHOWN 160

/* How lines begin that are not the kernel's own, behind their time. */
#define CONSOLE_MARK_XEN "(xen) "
#define CONSOLE_OWN_XEN "(XEN) " /* as Xen begins its lines itself */

enum console_source {
	CONSOLE_SERIAL,
	CONSOLE_XEN,
	CONSOLE_PROGRAM, /* the emulator's own messages */
	CONSOLE_AGENT,
	CONSOLE_LAB,
	CONSOLE_N_SOURCES,
};

/* What kernel or hypervisor said about itself; a later one outranks those before it. */
enum console_cause {
	CONSOLE_FINE,
	CONSOLE_HANG,	/* hung task, lockup or RCU stall, as the kernel's watchdogs report them */
	CONSOLE_REBOOT, /* a second banner */
	CONSOLE_OOPS,
	CONSOLE_CRASH, /* Xen saw its first domain die, whose own last words say more */
	CONSOLE_PANIC,
};

/**
 * struct console_report - what was seen so far; all text is printable ASCII
 * @cause: the gravest
 * @line: the line that showed it, empty when fine
 * @first: the first line that showed an oops or a panic: a panic's true reason is often an oops.
 *         Xen's word of a crash is none, as it may be read before the panic that it followed
 * @program_line: last line of the machine's program
 * @lines: lines around the cause, or the last ones when there is none (filled in by console_end())
 * @bytes: of the kernel's and the hypervisor's console
 * @echoed: lines of the kernel that the hypervisor's console repeated, which are not in the file
 * @dropped: bytes that the file's limit, or a full disk, kept out of the file
 * @error: first errno of writing the file, 0 for none
 */
struct console_report {
	enum console_cause cause;
	char line[CONSOLE_LINE_SHOWN];
	char first[CONSOLE_LINE_SHOWN];
	char program_line[CONSOLE_LINE_SHOWN];
	char lines[4096];
	uint64_t bytes;
	uint64_t echoed;
	uint64_t dropped;
	int error;
};

int console_open(const char *path, int64_t power_on_ns, struct console **ret_console);
void console_feed(struct console *console, enum console_source source, const void *data,
		  size_t length);
const struct console_report *console_report(const struct console *console);
void console_end(struct console *console);
void console_free(struct console *console);

#endif
