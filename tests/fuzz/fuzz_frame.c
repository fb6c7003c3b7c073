// SPDX-License-Identifier: GPL-2.0-only
/*
 * The agent's stream: the first byte says how it is cut, and with its top bit that checksums are
 * put right, so that payloads are reached too. Each cut must hand out the same frames.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/frame.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int hash(void *arg, const struct frame *frame)
{
	uLong *sum = arg;

	*sum = crc32(*sum, (const Bytef *)&frame->type, sizeof(frame->type));
	*sum = crc32(*sum, frame->payload, frame->length);
	return 0;
}

static uLong read_cut(const uint8_t *data, size_t size, size_t cut)
{
	struct frame_reader reader;
	uLong sum = 0;
	size_t n;

	if (frame_reader_init(&reader))
		abort();
	for (; size; data += n, size -= n) {
		n = cut < size ? cut : size;
		if (frame_reader_push(&reader, data, n, hash, &sum))
			break;
	}
	frame_reader_free(&reader);
	return sum;
}

static void fix_checksums(uint8_t *data, size_t size)
{
	uint32_t length, crc;

	while (size >= FRAME_HEADER_SIZE) {
		memcpy(&length, data + 8, sizeof(length));
		if (length > size - FRAME_HEADER_SIZE)
			return;
		crc = length ? crc32(0, data + FRAME_HEADER_SIZE, length) : 0;
		memcpy(data + 12, &crc, sizeof(crc));
		data += FRAME_HEADER_SIZE + length;
		size -= FRAME_HEADER_SIZE + length;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *copy;

	if (size < 2)
		return 0;
	copy = malloc(size - 1);
	memcpy(copy, data + 1, size - 1);
	if (data[0] & 0x80)
		fix_checksums(copy, size - 1);
	if (read_cut(copy, size - 1, size) != read_cut(copy, size - 1, 1 + (data[0] & 0x7f)))
		abort();
	free(copy);
	return 0;
}
