/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_CAPTURE_TRACEDAT_READ_H
#define LABD_CAPTURE_TRACEDAT_READ_H

#include <stddef.h>
#include <stdint.h>

/*
 * Reader of trace.dat version 6 (trace-cmd.dat.v6(5)). The file is mapped, and everything below
 * points into the map. It may come from anywhere: every length in it is checked.
 */
#define TRACEDAT_MAX_CPUS 512
#define TRACEDAT_MAX_FORMATS 16384
#define TRACEDAT_MAX_BUFFERS 64 /* trace instances beside the top one */
#define TRACEDAT_MAX_NAME 128
#define TRACEDAT_MAX_CPUSTAT (1u << 20)

/**
 * struct tracedat_format - format file of one event
 * @system: made of letters, digits, '_', '-' and '.', as @name
 * @id: what the event's records start with
 * @text: the file, not NUL-terminated
 */
struct tracedat_format {
	char system[TRACEDAT_MAX_NAME];
	char name[TRACEDAT_MAX_NAME];
	uint16_t id;
	const char *text;
	size_t size;
};

/**
 * struct tracedat_span - raw pages of one CPU in one trace instance
 * @size: bytes; the last page may be cut off behind its records
 */
struct tracedat_span {
	unsigned int cpu;
	const uint8_t *pages;
	uint64_t size;
};

/**
 * struct tracedat_file - a capture, open
 * @map: what tracedat_close() unmaps, NULL for memory of the caller
 * @page_size: of a ring-buffer page, 4 KiB to 64 KiB
 * @n_cpus: CPUs that the file speaks of
 * @formats: sorted by id
 * @cpustat: the ring's statistics per CPU as text, NULL if the file has none
 * @clock: trace clock, "mono" for example, "" if the file does not say
 * @uname: of the machine, "" if the file does not say
 */
struct tracedat_file {
	void *map;
	size_t map_size;
	uint32_t page_size;
	unsigned int n_cpus;
	struct tracedat_format *formats;
	size_t n_formats;
	struct tracedat_span *spans;
	size_t n_spans;
	char *cpustat;
	char clock[32];
	char uname[256];
};

int tracedat_open(const char *path, struct tracedat_file **ret_file, char *ret_error,
		  size_t error_size);
int tracedat_parse(const uint8_t *data, size_t size, struct tracedat_file **ret_file,
		   char *ret_error, size_t error_size);
void tracedat_close(struct tracedat_file *file);
const struct tracedat_format *tracedat_find_format(const struct tracedat_file *file, uint16_t id);

#endif
