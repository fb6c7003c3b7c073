// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/frame.h"
#include "base/util.h"

/**
 * frame_header() - the header in front of a payload
 * @length: at most FRAME_PAYLOAD_MAX
 */
void frame_header(uint8_t ret_header[FRAME_HEADER_SIZE], enum frame_type type, const void *payload,
		  size_t length)
{
	put32(ret_header, FRAME_MAGIC);
	put16(ret_header + 4, type);
	put16(ret_header + 6, 0);
	put32(ret_header + 8, length);
	put32(ret_header + 12, length ? crc32(0, payload, length) : 0);
}

/**
 * frame_header_read() - take a header apart
 * @ret_frame: its type and length
 *
 * Return: 0, or -EBADMSG for a wrong magic, type or length.
 */
int frame_header_read(const uint8_t header[FRAME_HEADER_SIZE], struct frame *ret_frame)
{
	uint32_t length = get32(header + 8);
	uint16_t type = get16(header + 4);

	if (get32(header) != FRAME_MAGIC || type < FRAME_HELLO || type > FRAME_EVENTS ||
	    get16(header + 6) || length > FRAME_PAYLOAD_MAX)
		return -EBADMSG;
	*ret_frame = (struct frame){.type = type, .length = length};
	return 0;
}

/**
 * frame_write() - send one frame over a blocking descriptor
 *
 * Return: 0, -EMSGSIZE for a payload over the limit, or the write's negative errno.
 */
int frame_write(int fd, enum frame_type type, const void *payload, size_t length)
{
	uint8_t header[FRAME_HEADER_SIZE];
	int ret;

	if (length > FRAME_PAYLOAD_MAX)
		return -EMSGSIZE;
	frame_header(header, type, payload, length);
	ret = write_all(fd, header, sizeof(header));
	return ret ?: write_all(fd, payload, length);
}

/** frame_reader_init() - 0 or -ENOMEM; free with frame_reader_free() */
int frame_reader_init(struct frame_reader *reader)
{
	reader->have = 0;
	reader->buffer = malloc(FRAME_HEADER_SIZE + FRAME_PAYLOAD_MAX);
	return reader->buffer ? 0 : -ENOMEM;
}

/** frame_reader_free() - release the buffer */
void frame_reader_free(struct frame_reader *reader)
{
	free(reader->buffer);
	reader->buffer = NULL;
}

/**
 * frame_reader_push() - take bytes as they come and hand out each whole frame
 * @fn: called per frame, whose payload is valid during the call; a negative return ends the push
 * with it
 *
 * Return: 0, -EBADMSG for a wrong magic, type, length or checksum (the stream cannot be trusted
 * from there on), or what @fn returned.
 */
int frame_reader_push(struct frame_reader *reader, const void *data, size_t length, frame_fn fn,
		      void *arg)
{
	const uint8_t *bytes = data;
	struct frame frame;
	size_t want, n;
	int ret;

	while (length) {
		want = FRAME_HEADER_SIZE;
		if (reader->have >= FRAME_HEADER_SIZE)
			want += get32(reader->buffer + 8);
		n = want - reader->have < length ? want - reader->have : length;
		memcpy(reader->buffer + reader->have, bytes, n);
		reader->have += n;
		bytes += n;
		length -= n;
		if (reader->have < FRAME_HEADER_SIZE)
			break;

		if (frame_header_read(reader->buffer, &frame))
			goto bad;
		frame.payload = reader->buffer + FRAME_HEADER_SIZE;
		if (reader->have < FRAME_HEADER_SIZE + frame.length)
			continue;
		if (get32(reader->buffer + 12) !=
		    (frame.length ? crc32(0, frame.payload, frame.length) : 0))
			goto bad;
		reader->have = 0;
		ret = fn(arg, &frame);
		if (ret < 0)
			return ret;
	}
	return 0;

bad:
	/* Nothing of a bad header may size the next read. */
	reader->have = 0;
	return -EBADMSG;
}
