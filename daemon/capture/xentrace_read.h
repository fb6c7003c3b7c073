/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_CAPTURE_XENTRACE_READ_H
#define LABD_CAPTURE_XENTRACE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Reader of the stream that xentrace writes: windows of one CPU's buffer each, a CPU-change record
 * ahead of every one. The file is mapped, and what is read points into the map. It may come from
 * anywhere: every length in it is checked.
 */
#define XENTRACE_MAX_CPUS 512

/**
 * struct xentrace_file - a capture, open
 * @map: what xentrace_close() unmaps, NULL for memory of the caller
 */
struct xentrace_file {
	void *map;
	size_t map_size;
	const uint8_t *data;
	size_t size;
};

/**
 * struct xentrace_record - one record, still in the map
 * @id: class, subclass and number, 28 bits
 * @n: 32-bit words at @words, at most 7
 * @words: little-endian, not aligned
 * @tsc: 0 without @has_tsc
 */
struct xentrace_record {
	unsigned int cpu;
	uint32_t id;
	unsigned int n;
	bool has_tsc;
	uint64_t tsc;
	const uint8_t *words;
};

/**
 * struct xentrace_lost - what a lost-records record says
 * @domid: running when the loss ended, as @vcpu
 * @first_tsc: of the first record that found no room
 */
struct xentrace_lost {
	uint32_t count;
	unsigned int domid;
	unsigned int vcpu;
	uint64_t first_tsc;
};

/**
 * struct xentrace_walk - a walk over all records, in the stream's order
 * @at: offset of the next record, @end: end of its window
 */
struct xentrace_walk {
	const struct xentrace_file *file;
	size_t at;
	size_t end;
	unsigned int cpu;
	char *error;
	size_t error_size;
};

bool xentrace_starts(const uint8_t *data, size_t size);
bool xentrace_is_file(const char *path);
int xentrace_parse(const uint8_t *data, size_t size, struct xentrace_file **ret_file,
		   char *ret_error, size_t error_size);
int xentrace_open(const char *path, struct xentrace_file **ret_file, char *ret_error,
		  size_t error_size);
void xentrace_close(struct xentrace_file *file);

void xentrace_start(struct xentrace_walk *walk, const struct xentrace_file *file, char *ret_error,
		    size_t error_size);
int xentrace_next(struct xentrace_walk *walk, struct xentrace_record *ret_record);
bool xentrace_lost(const struct xentrace_record *record, struct xentrace_lost *ret_lost);
uint32_t xentrace_word(const struct xentrace_record *record, unsigned int i);

#endif
