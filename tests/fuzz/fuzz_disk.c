// SPDX-License-Identifier: GPL-2.0-only
/*
 * An image that a guest wrote, read as the host does. The first byte's top bit says that the
 * layout is put right, so that chunks are reached too; the next, that their checksums are.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/disk.h"
#include "base/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int count(void *arg, const struct frame *frame)
{
	if (frame->length > FRAME_PAYLOAD_MAX)
		abort();
	return 0;
}

/* The chunks of a part of the image; each is looked at only as far as the part goes. */
static void read_chunks(uint8_t *data, size_t size, bool fix)
{
	struct frame_reader reader;
	size_t length;

	if (frame_reader_init(&reader))
		abort();
	for (uint32_t sequence = 0; size >= DISK_CHUNK_HEADER; sequence++) {
		if (disk_chunk_length(data, sequence, &length))
			break;
		if (length > DISK_CHUNK_MAX)
			abort();
		if (length > size - DISK_CHUNK_HEADER)
			break;
		if (fix)
			disk_chunk_header(data, sequence, data + DISK_CHUNK_HEADER, length);
		if (disk_chunk_check(data, data + DISK_CHUNK_HEADER)) {
			if (fix)
				abort();
			break;
		}
		if (!length ||
		    frame_reader_push(&reader, data + DISK_CHUNK_HEADER, length, count, NULL))
			break;
		length = disk_chunk_sectors(length) * DISK_SECTOR;
		if (length > size)
			break;
		data += length;
		size -= length;
	}
	frame_reader_free(&reader);
}

static void check_layout(const uint8_t *sector, const struct disk_layout *layout)
{
	uint8_t again[DISK_SECTOR];

	if (!layout->in_sector || layout->out_sector < layout->in_sector ||
	    (uint64_t)layout->in_sector * DISK_SECTOR + layout->in_bytes >
		    (uint64_t)layout->out_sector * DISK_SECTOR ||
	    layout->sectors - layout->out_sector < DISK_CHUNK_SECTORS)
		abort();
	disk_layout_write(layout, again);
	if (memcmp(again, sector, 24))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct disk_layout layout;
	uint8_t *image;

	if (size < 1 + DISK_SECTOR)
		return 0;
	image = malloc(size - 1);
	memcpy(image, data + 1, size - 1);
	if (data[0] & 0x80) {
		put32(image, DISK_LAYOUT_MAGIC);
		put32(image + 20, crc32(0, image, 20));
	}
	if (!disk_layout_read(image, &layout))
		check_layout(image, &layout);
	read_chunks(image + DISK_SECTOR, size - 1 - DISK_SECTOR, data[0] & 0x40);
	free(image);
	return 0;
}
