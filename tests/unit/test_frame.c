// SPDX-License-Identifier: GPL-2.0-only
/* Frames survive any cut of the stream; anything that is none is refused. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/frame.h"

static struct frame_reader reader;
static char seen[256];
static int stop_at;

static void setup(void)
{
	ck_assert_int_eq(frame_reader_init(&reader), 0);
	seen[0] = '\0';
	stop_at = -1;
}

static void teardown(void)
{
	frame_reader_free(&reader);
}

static int note(void *arg, const struct frame *frame)
{
	size_t n = strlen(seen);

	snprintf(seen + n, sizeof(seen) - n, "%d:%.*s;", frame->type, (int)frame->length,
		 (const char *)frame->payload);
	return (int)frame->type == stop_at ? -ECANCELED : 0;
}

static size_t put(uint8_t *at, enum frame_type type, const char *payload)
{
	size_t length = strlen(payload);

	frame_header(at, type, payload, length);
	memcpy(at + FRAME_HEADER_SIZE, payload, length);
	return FRAME_HEADER_SIZE + length;
}

START_TEST(any_cut)
{
	uint8_t stream[128];
	size_t n = put(stream, FRAME_HELLO, "{}");

	n += put(stream + n, FRAME_QUIT, "");
	n += put(stream + n, FRAME_DATA, "bytes");
	for (size_t first = 0; first <= n; first++) {
		for (size_t second = first; second <= n; second++) {
			seen[0] = '\0';
			ck_assert_int_eq(frame_reader_push(&reader, stream, first, note, NULL), 0);
			ck_assert_int_eq(frame_reader_push(&reader, stream + first, second - first,
							   note, NULL),
					 0);
			ck_assert_int_eq(
				frame_reader_push(&reader, stream + second, n - second, note, NULL),
				0);
			ck_assert_str_eq(seen, "1:{};7:;5:bytes;");
		}
	}
}
END_TEST

/* One wrong bit anywhere in a frame: never handed out. (Bits of the length may ask for more bytes.)
 */
START_TEST(one_wrong_bit)
{
	uint8_t stream[64], copy[64];
	size_t n = put(stream, FRAME_DATA, "payload");
	int ret;

	for (size_t bit = 0; bit < 8 * n; bit++) {
		if (bit / 8 == 4)
			continue; /* the type: another valid one is another frame */
		teardown();
		setup();
		memcpy(copy, stream, n);
		copy[bit / 8] ^= 1 << bit % 8;
		ret = frame_reader_push(&reader, copy, n, note, NULL);
		ck_assert(ret == -EBADMSG || !ret);
		ck_assert_str_eq(seen, "");
	}
}
END_TEST

START_TEST(limits)
{
	uint8_t header[FRAME_HEADER_SIZE], *big = calloc(1, FRAME_PAYLOAD_MAX + 1);
	struct frame_reader other;

	frame_header(header, FRAME_DATA, big, FRAME_PAYLOAD_MAX);
	ck_assert_int_eq(frame_reader_push(&reader, header, sizeof(header), note, NULL), 0);
	ck_assert_int_eq(frame_reader_push(&reader, big, FRAME_PAYLOAD_MAX, note, NULL), 0);
	ck_assert_str_ne(seen, "");
	frame_header(header, FRAME_DATA, big, FRAME_PAYLOAD_MAX + 1);
	ck_assert_int_eq(frame_reader_push(&reader, header, sizeof(header), note, NULL), -EBADMSG);
	ck_assert_int_eq(frame_write(1, FRAME_DATA, big, FRAME_PAYLOAD_MAX + 1), -EMSGSIZE);
	ck_assert_int_eq(frame_reader_init(&other), 0);
	frame_header(header, 0, NULL, 0);
	ck_assert_int_eq(frame_reader_push(&other, header, sizeof(header), note, NULL), -EBADMSG);
	frame_header(header, FRAME_EVENTS, NULL, 0);
	ck_assert_int_eq(frame_reader_push(&other, header, sizeof(header), note, NULL), 0);
	frame_header(header, FRAME_EVENTS + 1, NULL, 0);
	ck_assert_int_eq(frame_reader_push(&other, header, sizeof(header), note, NULL), -EBADMSG);
	frame_reader_free(&other);
	free(big);
}
END_TEST

START_TEST(callback_ends_it)
{
	uint8_t stream[64];
	size_t n = put(stream, FRAME_LOG, "a");

	n += put(stream + n, FRAME_DONE, "b");
	n += put(stream + n, FRAME_LOG, "c");
	stop_at = FRAME_DONE;
	ck_assert_int_eq(frame_reader_push(&reader, stream, n, note, NULL), -ECANCELED);
	ck_assert_str_eq(seen, "8:a;6:b;");
}
END_TEST

START_TEST(written_is_read)
{
	uint8_t stream[64];
	int fds[2];
	ssize_t n;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	ck_assert_int_eq(frame_write(fds[0], FRAME_JOB, "job", 3), 0);
	ck_assert_int_eq(frame_write(fds[0], FRAME_QUIT, NULL, 0), 0);
	n = read(fds[1], stream, sizeof(stream));
	ck_assert_int_eq(n, 2 * FRAME_HEADER_SIZE + 3);
	ck_assert_int_eq(frame_reader_push(&reader, stream, n, note, NULL), 0);
	ck_assert_str_eq(seen, "2:job;7:;");
	close(fds[0]);
	close(fds[1]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("frame");
	TCase *tcase = tcase_create("frame");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, any_cut);
	tcase_add_test(tcase, one_wrong_bit);
	tcase_add_test(tcase, limits);
	tcase_add_test(tcase, callback_ends_it);
	tcase_add_test(tcase, written_is_read);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
