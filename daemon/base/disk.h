/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BASE_DISK_H
#define LABD_BASE_DISK_H

#include <stddef.h>
#include <stdint.h>

/*
 * The frames' way on a machine that has nothing but a disk: an image that host and agent share. All
 * numbers are little-endian.
 *
 *   sector 0          struct disk_layout and its checksum, written by the host before power-on
 *   from @in_sector   @in_bytes of frames for the agent: JOB... QUIT, written before power-on too
 *   from @out_sector  to the image's end, chunks of the agent's frame stream, one behind the other,
 *                     each at a sector's beginning:
 *                     { magic, sequence from 0, length, crc32 } payload, zeroes
 *
 * A chunk holds bytes of the stream, not frames: frames may span chunks. Its checksum is that of
 * the header's first three numbers and the payload. The host reads a chunk as soon as the checksum
 * is right, so the agent may write its sectors in any order.
 *
 * A chunk without payload says that the image is full: the agent had more to send, and nothing
 * follows. The stream may end within a frame then, and the host puts a FULL frame in the place of
 * what is unfinished. No other chunk takes the last DISK_RESERVED_SECTORS, so that there is always
 * room for this one.
 */
#define DISK_SECTOR 512
#define DISK_LAYOUT_MAGIC 0x4b53444cu /* "LDSK" */
#define DISK_CHUNK_MAGIC 0x4b48434cu  /* "LCHK" */
#define DISK_CHUNK_HEADER 16
#define DISK_CHUNK_SECTORS 128
#define DISK_CHUNK_MAX (DISK_CHUNK_SECTORS * DISK_SECTOR - DISK_CHUNK_HEADER)
#define DISK_RESERVED_SECTORS 1

/**
 * struct disk_layout - what is where on the image
 * @sectors: of the image
 * @in_sector: first of the host's frames
 * @in_bytes: of them
 * @out_sector: first of the agent's chunks
 */
struct disk_layout {
	uint32_t sectors;
	uint32_t in_sector;
	uint32_t in_bytes;
	uint32_t out_sector;
};

int disk_layout_make(uint64_t image_bytes, uint64_t in_bytes, struct disk_layout *ret_layout);
void disk_layout_write(const struct disk_layout *layout, uint8_t ret_sector[DISK_SECTOR]);
int disk_layout_read(const uint8_t sector[DISK_SECTOR], struct disk_layout *ret_layout);

size_t disk_chunk_sectors(size_t payload_length);
void disk_chunk_header(uint8_t ret_header[DISK_CHUNK_HEADER], uint32_t sequence,
		       const void *payload, size_t length);
int disk_chunk_length(const uint8_t header[DISK_CHUNK_HEADER], uint32_t sequence,
		      size_t *ret_length);
int disk_chunk_check(const uint8_t header[DISK_CHUNK_HEADER], const void *payload);

#endif
