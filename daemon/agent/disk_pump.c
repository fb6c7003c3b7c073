// SPDX-License-Identifier: GPL-2.0-only
/*
 * Between the agent's pipes and the disk: what the agent sends is written in chunks, and whenever
 * it waits for the host, which is after HELLO and after each DONE, it is given the next frame that
 * the host left for it. The pump sleeps in tee() while there is nothing to write, so that it does
 * nothing beside a measurement; and it takes bytes out of the pipe only once they are on the disk,
 * so that the agent sees by the empty pipe that nothing is left to do.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/disk.h"
#include "base/frame.h"
#include "base/util.h"

/**
 * struct pump - one pump's life
 * @in: from the agent
 * @out: to the agent
 * @peek: a pipe of its own: what is in @in, not yet taken from there
 * @told: bytes of the host's frames that the agent was given
 * @sector: of the next chunk
 * @sequence: of the next chunk
 * @part: of the host's frames
 * @chunk: header and payload; the latter is parsed where it is, for @reader
 */
struct pump {
	const struct agent_disk *disk;
	const struct disk_layout *layout;
	int in;
	int out;
	int peek[2];
	uint32_t told;
	uint32_t sector;
	uint32_t sequence;
	struct frame_reader reader;
	uint8_t part[DISK_SECTOR];
	uint8_t chunk[DISK_CHUNK_SECTORS * DISK_SECTOR];
};

/* The host's next bytes, up to the end of their sector; they stay valid until the next call. */
static int host_bytes(struct pump *pump, size_t max, const uint8_t **ret_data, size_t *ret_n)
{
	const struct disk_layout *layout = pump->layout;
	size_t at = pump->told % DISK_SECTOR, n = DISK_SECTOR - at;
	int ret;

	if (max > layout->in_bytes - pump->told)
		return -EBADMSG;
	ret = pump->disk->ops->read(pump->disk, layout->in_sector + pump->told / DISK_SECTOR, 1,
				    pump->part);
	if (ret)
		return ret;
	*ret_data = pump->part + at;
	*ret_n = n < max ? n : max;
	pump->told += *ret_n;
	return 0;
}

/* The host's next frame as it is; whether its payload is whole, the agent's own reader sees. */
static int tell_agent(struct pump *pump)
{
	uint8_t header[FRAME_HEADER_SIZE];
	struct frame frame;
	const uint8_t *data;
	size_t n;
	int ret;

	for (size_t have = 0; have < sizeof(header); have += n) {
		ret = host_bytes(pump, sizeof(header) - have, &data, &n);
		if (ret)
			return ret;
		memcpy(header + have, data, n);
	}
	ret = frame_header_read(header, &frame);
	ret = ret ?: write_all(pump->out, header, sizeof(header));
	for (size_t left = frame.length; !ret && left; left -= n) {
		ret = host_bytes(pump, left, &data, &n);
		if (ret)
			return ret;
		ret = write_all(pump->out, data, n);
	}
	return ret;
}

static int on_frame(void *arg, const struct frame *frame)
{
	if (frame->type == FRAME_HELLO || frame->type == FRAME_DONE)
		return tell_agent(arg);
	return 0;
}

/* The chunk's payload is in its place; without room for it the chunk that says so is written. */
static int write_chunk(struct pump *pump, size_t length)
{
	uint32_t room = pump->layout->sectors - DISK_RESERVED_SECTORS - pump->sector;
	bool full = disk_chunk_sectors(length) > room;
	size_t count, end;
	int ret;

	if (full)
		length = 0;
	count = disk_chunk_sectors(length);
	end = DISK_CHUNK_HEADER + length;
	memset(pump->chunk + end, 0, count * DISK_SECTOR - end);
	disk_chunk_header(pump->chunk, pump->sequence++, pump->chunk + DISK_CHUNK_HEADER, length);
	ret = pump->disk->ops->write(pump->disk, pump->sector, count, pump->chunk);
	pump->sector += count;
	return ret ?: full ? -ENOSPC : 0;
}

/* Whole, for all of it is in the pipe. */
static int take(int fd, void *data, size_t length)
{
	ssize_t n;

	for (uint8_t *at = data; length; at += n, length -= n) {
		n = read(fd, at, length);
		if (n <= 0)
			return n ? -errno : -EIO;
	}
	return 0;
}

static int pump_all(struct pump *pump)
{
	uint8_t *payload = pump->chunk + DISK_CHUNK_HEADER;
	ssize_t n;
	int ret;

	for (;;) {
		n = tee(pump->in, pump->peek[1], DISK_CHUNK_MAX, 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		ret = take(pump->peek[0], payload, n);
		ret = ret ?: write_chunk(pump, n);
		ret = ret ?: frame_reader_push(&pump->reader, payload, n, on_frame, pump);
		ret = ret ?: take(pump->in, payload, n);
		if (ret)
			return ret;
	}
}

/**
 * agent_disk_layout() - what the host made of the disk
 *
 * Return: 0, -EBADMSG when it is none of the host's, or another negative errno.
 */
int agent_disk_layout(const struct agent_disk *disk, struct disk_layout *ret_layout)
{
	uint8_t sector[DISK_SECTOR];
	struct disk_layout layout;
	int ret;

	ret = disk->ops->read(disk, 0, 1, sector);
	ret = ret ?: disk_layout_read(sector, &layout);
	if (!ret && layout.sectors > disk->sectors)
		ret = -EBADMSG;
	if (!ret)
		*ret_layout = layout;
	return ret;
}

/**
 * agent_disk_pump() - move frames until the agent closes its end
 * @in: from the agent; a pipe
 * @out: to the agent
 *
 * Return: 0, -ENOSPC when the disk is full (it says so then), -EBADMSG when a side's frames make no
 * sense, or another negative errno.
 */
int agent_disk_pump(const struct agent_disk *disk, const struct disk_layout *layout, int in,
		    int out)
{
	struct pump *pump = calloc(1, sizeof(*pump));
	int ret;

	if (!pump)
		return -ENOMEM;
	pump->disk = disk;
	pump->layout = layout;
	pump->in = in;
	pump->out = out;
	pump->sector = layout->out_sector;
	ret = frame_reader_init(&pump->reader);
	if (ret)
		goto out;
	ret = pipe2(pump->peek, O_CLOEXEC) ? -errno : 0;
	if (ret)
		goto out;
	ret = pump_all(pump);
	close(pump->peek[0]);
	close(pump->peek[1]);
out:
	frame_reader_free(&pump->reader);
	free(pump);
	return ret;
}
