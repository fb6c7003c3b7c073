/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_CAPTURE_TRACEDAT_WRITE_H
#define LABD_CAPTURE_TRACEDAT_WRITE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Writer of trace.dat version 6, the file that trace-cmd and KernelShark open. It knows nothing of
 * tracefs: the caller brings tracefs' texts and, per CPU, a file of raw ring-buffer pages. The
 * file's size is known before its first byte, so that it can be announced and then streamed.
 */

/* Option ids of the format that labd writes. */
enum tracedat_option_id {
	TRACEDAT_OPTION_CPUSTAT = 2,
	TRACEDAT_OPTION_TRACECLOCK = 4,
	TRACEDAT_OPTION_UNAME = 5,
	TRACEDAT_OPTION_VERSION = 9,
};

/**
 * struct tracedat_blob - bytes of the caller
 */
struct tracedat_blob {
	const void *data;
	size_t size;
};

/**
 * struct tracedat_system - a folder of tracefs' events/ and the format files of its events
 */
struct tracedat_system {
	const char *name;
	const struct tracedat_blob *formats;
	size_t n_formats;
};

/**
 * struct tracedat_option - one option; the reader skips an id that it does not know
 */
struct tracedat_option {
	enum tracedat_option_id id;
	struct tracedat_blob data;
};

/**
 * struct tracedat_cpu - the raw pages of one CPU
 * @fd: read from offset 0 with pread(); may be -1 when @size is 0
 * @size: bytes, whole pages
 */
struct tracedat_cpu {
	int fd;
	uint64_t size;
};

/**
 * struct tracedat - everything in one file; all pointers stay the caller's
 * @page_size: of a ring-buffer page; a power of two
 * @ftrace_formats: of the "ftrace" system, which the format keeps apart
 * @kallsyms: may be empty
 * @cpus: index is the CPU's number
 */
struct tracedat {
	uint32_t page_size;
	struct tracedat_blob header_page;
	struct tracedat_blob header_event;
	const struct tracedat_blob *ftrace_formats;
	size_t n_ftrace_formats;
	const struct tracedat_system *systems;
	size_t n_systems;
	struct tracedat_blob kallsyms;
	struct tracedat_blob printk_formats;
	struct tracedat_blob saved_cmdlines;
	const struct tracedat_option *options;
	size_t n_options;
	const struct tracedat_cpu *cpus;
	size_t n_cpus;
};

/* Receives the file's bytes in order; a negative errno ends the writing with it. */
typedef int (*tracedat_out_fn)(void *arg, const void *data, size_t size);

int tracedat_size(const struct tracedat *file, uint64_t *ret_size);
int tracedat_write(const struct tracedat *file, tracedat_out_fn out, void *arg);

#endif
