// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/disk.h"
#include "bochs/bridge.h"

/* One chunk completes at most the largest frame, and holds the rest of them itself. */
#define OUT_MAX (FRAME_HEADER_SIZE + FRAME_PAYLOAD_MAX + DISK_CHUNK_MAX)

static int count_job(void *arg, const struct frame *frame)
{
	struct bridge *bridge = arg;

	bridge->jobs += frame->type == FRAME_JOB;
	return 0;
}

/**
 * bridge_init() - begin
 * @told: the frames that the guest was told; they stay the caller's and must live as long
 *
 * Return: 0, -EBADMSG when @told are no frames, or -ENOMEM.
 */
int bridge_init(struct bridge *bridge, const void *told, size_t length)
{
	int ret;

	*bridge = (struct bridge){.told = told, .told_length = length};
	ret = frame_reader_init(&bridge->session);
	if (ret)
		return ret;
	ret = frame_reader_init(&bridge->guest);
	if (ret)
		goto free_session;
	bridge->out = malloc(OUT_MAX);
	if (!bridge->out) {
		ret = -ENOMEM;
		goto free_guest;
	}
	ret = frame_reader_push(&bridge->session, told, length, count_job, bridge);
	if (!ret && bridge->session.have)
		ret = -EBADMSG;
	if (ret)
		goto free_out;
	return 0;

free_out:
	free(bridge->out);
free_guest:
	frame_reader_free(&bridge->guest);
free_session:
	frame_reader_free(&bridge->session);
	return ret;
}

/** bridge_free() - release what bridge_init() took */
void bridge_free(struct bridge *bridge)
{
	frame_reader_free(&bridge->session);
	frame_reader_free(&bridge->guest);
	free(bridge->out);
}

static size_t frame_size(const uint8_t *header)
{
	return FRAME_HEADER_SIZE + get32(header + 8);
}

/* Lets frames go up to one that the session has to answer. */
static void open_out(struct bridge *bridge)
{
	const uint8_t *header;

	while (!bridge->waits && bridge->out_open < bridge->out_length) {
		header = bridge->out + bridge->out_open;
		bridge->out_open += frame_size(header);
		if (get16(header + 4) != FRAME_HELLO && get16(header + 4) != FRAME_DONE)
			continue;
		bridge->done++;
		bridge->waits = !bridge->quit;
	}
}

static int take_session(void *arg, const struct frame *frame)
{
	struct bridge *bridge = arg;
	uint8_t header[FRAME_HEADER_SIZE];
	size_t size = FRAME_HEADER_SIZE + frame->length;
	const uint8_t *told = bridge->told + bridge->told_at;

	if (frame->type == FRAME_QUIT) {
		bridge->quit = true;
		bridge->waits = false;
		return 0;
	}
	frame_header(header, frame->type, frame->payload, frame->length);
	if (!bridge->waits || bridge->quit || size > bridge->told_length - bridge->told_at ||
	    memcmp(told, header, sizeof(header)) ||
	    memcmp(told + sizeof(header), frame->payload, frame->length))
		return -EPROTO;
	bridge->told_at += size;
	bridge->waits = false;
	return 0;
}

/**
 * bridge_session() - take what the session sends
 *
 * Return: 0; -EBADMSG when it is no frame, -EPROTO when it is another than the guest was told, or
 * comes before its turn.
 */
int bridge_session(struct bridge *bridge, const void *bytes, size_t length)
{
	int ret = frame_reader_push(&bridge->session, bytes, length, take_session, bridge);

	open_out(bridge);
	return ret;
}

/** bridge_wants_more() - whether bridge_guest() may be called: everything so far has gone out */
bool bridge_wants_more(const struct bridge *bridge)
{
	return bridge->out_sent == bridge->out_length;
}

static void put_frame(struct bridge *bridge, const struct frame *frame)
{
	uint8_t *to = bridge->out + bridge->out_length;

	frame_header(to, frame->type, frame->payload, frame->length);
	memcpy(to + FRAME_HEADER_SIZE, frame->payload, frame->length);
	bridge->out_length += FRAME_HEADER_SIZE + frame->length;
}

static int take_guest(void *arg, const struct frame *frame)
{
	put_frame(arg, frame);
	return 0;
}

/**
 * bridge_guest() - take what the guest wrote
 * @length: at most DISK_CHUNK_MAX
 *
 * Return: 0, or -EBADMSG when it is no frame.
 */
int bridge_guest(struct bridge *bridge, const void *bytes, size_t length)
{
	int ret;

	bridge->out_length = bridge->out_sent = bridge->out_open = 0;
	ret = frame_reader_push(&bridge->guest, bytes, length, take_guest, bridge);
	open_out(bridge);
	return ret;
}

/** bridge_full() - the guest found its disk full: what is unfinished will not come */
void bridge_full(struct bridge *bridge)
{
	static const struct frame full = {.type = FRAME_FULL, .payload = (const uint8_t *)""};

	bridge->out_length = bridge->out_sent = bridge->out_open = 0;
	put_frame(bridge, &full);
	open_out(bridge);
}

/**
 * bridge_ready() - what may go to the session now
 *
 * Return: bytes at *@ret_bytes, 0 for none.
 */
size_t bridge_ready(const struct bridge *bridge, const uint8_t **ret_bytes)
{
	*ret_bytes = bridge->out + bridge->out_sent;
	return bridge->out_open - bridge->out_sent;
}

/** bridge_sent() - so much of it went */
void bridge_sent(struct bridge *bridge, size_t length)
{
	bridge->out_sent += length;
}

/** bridge_complete() - whether the guest did everything and the session may know it */
bool bridge_complete(const struct bridge *bridge)
{
	return bridge->done > bridge->jobs;
}
