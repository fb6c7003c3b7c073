/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BASE_FRAME_H
#define LABD_BASE_FRAME_H

#include <stddef.h>
#include <stdint.h>

/*
 * The wire between lab-agent and labd: a stream of frames, the same on every transport. A frame is
 * a 16-byte little-endian header { magic, type:16, zero:16, length, crc32 of the payload } and its
 * payload.
 *
 *   agent -> host   HELLO    JSON: proof of the kernel and its environment (once)
 *   host  -> agent  JOB      JSON: one run
 *   agent -> host   STARTED  JSON {"run":N}: the trace is on and the workload starts now
 *   agent -> host   FILE     JSON {"name":"capture","size":BYTES}: DATA of that many bytes follows
 *   agent -> host   DATA     raw bytes of the file announced last
 *   agent -> host   DONE     JSON: how the run ended
 *   host  -> agent  QUIT     empty: power off
 *   agent -> host   LOG      text, one line for the boot's log
 *   agent -> host   FULL     empty: the transport can hold no more; nothing follows
 *   host  -> agent  EVENTS   empty: which tracepoints has the kernel? Between runs, and only to an
 *                            agent whose HELLO says "lists_events": true
 *   agent -> host   EVENTS   JSON {"events":["system:event", ...]}: the answer
 */
#define FRAME_MAGIC 0x4642414cu /* "LABF" */
#define FRAME_HEADER_SIZE 16
#define FRAME_PAYLOAD_MAX (1u << 20)

enum frame_type {
	FRAME_HELLO = 1,
	FRAME_JOB,
	FRAME_STARTED,
	FRAME_FILE,
	FRAME_DATA,
	FRAME_DONE,
	FRAME_QUIT,
	FRAME_LOG,
	FRAME_FULL,
	FRAME_EVENTS,
};

struct frame {
	enum frame_type type;
	const uint8_t *payload;
	size_t length;
};

/**
 * struct frame_reader - incremental parser of a frame stream
 * @buffer: header and payload of the frame being received
 * @have: bytes in @buffer
 */
struct frame_reader {
	uint8_t *buffer;
	size_t have;
};

typedef int (*frame_fn)(void *arg, const struct frame *frame);

void frame_header(uint8_t ret_header[FRAME_HEADER_SIZE], enum frame_type type, const void *payload,
		  size_t length);
int frame_header_read(const uint8_t header[FRAME_HEADER_SIZE], struct frame *ret_frame);
int frame_write(int fd, enum frame_type type, const void *payload, size_t length);
int frame_reader_init(struct frame_reader *reader);
void frame_reader_free(struct frame_reader *reader);
int frame_reader_push(struct frame_reader *reader, const void *data, size_t length, frame_fn fn,
		      void *arg);

#endif
