// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/disk.h"

#define LAYOUT_SIZE 24 /* magic, the four numbers, checksum */
#define CHECKED_HEADER 12

static uint64_t sectors_of(uint64_t bytes)
{
	return bytes / DISK_SECTOR + !!(bytes % DISK_SECTOR);
}

/* No part may overlap another, and the largest chunk must have room. */
static int check_layout(const struct disk_layout *layout)
{
	uint64_t in_end = layout->in_sector + sectors_of(layout->in_bytes);
	uint64_t need = (uint64_t)layout->out_sector + DISK_CHUNK_SECTORS + DISK_RESERVED_SECTORS;

	if (!layout->in_sector || in_end > layout->out_sector || need > layout->sectors)
		return -EINVAL;
	return 0;
}

/**
 * disk_layout_make() - divide an image
 * @in_bytes: of the frames for the agent
 *
 * Return: 0, or -EINVAL when the image is too small for the frames and one chunk, or has more
 * sectors than a number here can hold.
 */
int disk_layout_make(uint64_t image_bytes, uint64_t in_bytes, struct disk_layout *ret_layout)
{
	uint64_t sectors = image_bytes / DISK_SECTOR, out_sector = 1 + sectors_of(in_bytes);
	struct disk_layout layout = {
		.sectors = sectors,
		.in_sector = 1,
		.in_bytes = in_bytes,
		.out_sector = out_sector,
	};

	if (sectors > UINT32_MAX || in_bytes > UINT32_MAX || check_layout(&layout))
		return -EINVAL;
	*ret_layout = layout;
	return 0;
}

/** disk_layout_write() - the image's first sector */
void disk_layout_write(const struct disk_layout *layout, uint8_t ret_sector[DISK_SECTOR])
{
	memset(ret_sector, 0, DISK_SECTOR);
	put32(ret_sector, DISK_LAYOUT_MAGIC);
	put32(ret_sector + 4, layout->sectors);
	put32(ret_sector + 8, layout->in_sector);
	put32(ret_sector + 12, layout->in_bytes);
	put32(ret_sector + 16, layout->out_sector);
	put32(ret_sector + 20, crc32(0, ret_sector, LAYOUT_SIZE - 4));
}

/**
 * disk_layout_read() - what the image's first sector says
 *
 * Return: 0, or -EBADMSG when it is no such sector or the parts do not fit each other.
 */
int disk_layout_read(const uint8_t sector[DISK_SECTOR], struct disk_layout *ret_layout)
{
	struct disk_layout layout = {
		.sectors = get32(sector + 4),
		.in_sector = get32(sector + 8),
		.in_bytes = get32(sector + 12),
		.out_sector = get32(sector + 16),
	};

	if (get32(sector) != DISK_LAYOUT_MAGIC ||
	    get32(sector + 20) != crc32(0, sector, LAYOUT_SIZE - 4) || check_layout(&layout))
		return -EBADMSG;
	*ret_layout = layout;
	return 0;
}

/** disk_chunk_sectors() - sectors of a chunk, its header included */
size_t disk_chunk_sectors(size_t payload_length)
{
	return sectors_of(DISK_CHUNK_HEADER + payload_length);
}

static uint32_t chunk_checksum(const uint8_t *header, const void *payload, size_t length)
{
	uLong sum = crc32(0, header, CHECKED_HEADER);

	/* Without a buffer crc32() would start anew. */
	return length ? crc32(sum, payload, length) : sum;
}

/**
 * disk_chunk_header() - the header in front of a payload
 * @length: at most DISK_CHUNK_MAX; 0 says that the image is full
 */
void disk_chunk_header(uint8_t ret_header[DISK_CHUNK_HEADER], uint32_t sequence,
		       const void *payload, size_t length)
{
	put32(ret_header, DISK_CHUNK_MAGIC);
	put32(ret_header + 4, sequence);
	put32(ret_header + 8, length);
	put32(ret_header + 12, chunk_checksum(ret_header, payload, length));
}

/**
 * disk_chunk_length() - whether a chunk begins here, and how long its payload is
 * @sequence: that it must have
 * @ret_length: at most DISK_CHUNK_MAX; 0 says, once disk_chunk_check() agrees, that the image is
 * full
 *
 * Return: 0, -EAGAIN while nothing was written here, or -EBADMSG for anything but that chunk.
 */
int disk_chunk_length(const uint8_t header[DISK_CHUNK_HEADER], uint32_t sequence,
		      size_t *ret_length)
{
	static const uint8_t nothing[DISK_CHUNK_HEADER];
	uint32_t length = get32(header + 8);

	if (!memcmp(header, nothing, sizeof(nothing)))
		return -EAGAIN;
	if (get32(header) != DISK_CHUNK_MAGIC || get32(header + 4) != sequence ||
	    length > DISK_CHUNK_MAX)
		return -EBADMSG;
	*ret_length = length;
	return 0;
}

/**
 * disk_chunk_check() - whether all of a chunk is there
 * @header: that disk_chunk_length() took
 * @payload: of that length
 *
 * Return: 0, or -EAGAIN while it is not.
 */
int disk_chunk_check(const uint8_t header[DISK_CHUNK_HEADER], const void *payload)
{
	return get32(header + 12) == chunk_checksum(header, payload, get32(header + 8)) ? 0
											: -EAGAIN;
}
