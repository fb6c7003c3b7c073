// SPDX-License-Identifier: GPL-2.0-only
/* The guest's frames reach the session in its time, however they were cut; nothing else does. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "bochs/boot_disk.h"
#include "bochs/bridge.h"
#include "bochs/tail.h"
#include "machine/bochs_args.h"

static struct bridge bridge;
static uint8_t told[512], wire[4096];
static size_t told_length;
static char seen[1024];

static size_t put(uint8_t *at, enum frame_type type, const char *payload)
{
	size_t length = strlen(payload);

	frame_header(at, type, payload, length);
	memcpy(at + FRAME_HEADER_SIZE, payload, length);
	return FRAME_HEADER_SIZE + length;
}

/* The guest was told two jobs. */
static void setup(void)
{
	told_length = put(told, FRAME_JOB, "{\"run\":1}");
	told_length += put(told + told_length, FRAME_JOB, "{\"run\":2}");
	told_length += put(told + told_length, FRAME_QUIT, "");
	ck_assert_int_eq(bridge_init(&bridge, told, told_length), 0);
	seen[0] = '\0';
}

static void teardown(void)
{
	bridge_free(&bridge);
}

static int note(void *arg, const struct frame *frame)
{
	size_t n = strlen(seen);

	snprintf(seen + n, sizeof(seen) - n, "%d:%.*s;", frame->type, (int)frame->length,
		 (const char *)frame->payload);
	return 0;
}

/* Takes what may go, @step bytes at a time, and returns it as text. */
static const char *receive(size_t step)
{
	struct frame_reader reader;
	const uint8_t *bytes;
	size_t n;

	seen[0] = '\0';
	ck_assert_int_eq(frame_reader_init(&reader), 0);
	while ((n = bridge_ready(&bridge, &bytes))) {
		n = n < step ? n : step;
		ck_assert_int_eq(frame_reader_push(&reader, bytes, n, note, NULL), 0);
		bridge_sent(&bridge, n);
	}
	ck_assert_uint_eq(reader.have, 0); /* whole frames only */
	frame_reader_free(&reader);
	return seen;
}

static int session_sends(enum frame_type type, const char *payload)
{
	uint8_t bytes[128];

	return bridge_session(&bridge, bytes, put(bytes, type, payload));
}

static size_t whole_life(void)
{
	size_t n = put(wire, FRAME_LOG, "up");

	n += put(wire + n, FRAME_HELLO, "{}");
	n += put(wire + n, FRAME_LOG, "one");
	n += put(wire + n, FRAME_STARTED, "{\"run\":1}");
	n += put(wire + n, FRAME_DATA, "bytes");
	n += put(wire + n, FRAME_DONE, "{\"run\":1}");
	n += put(wire + n, FRAME_STARTED, "{\"run\":2}");
	n += put(wire + n, FRAME_DONE, "{\"run\":2}");
	return n + put(wire + n, FRAME_LOG, "off");
}

/* Feeds @length bytes of the wire from *@at on, @cut at a time, as far as the gate lets them go. */
static void feed(size_t *at, size_t length, size_t cut, char *ret_seen)
{
	size_t n;

	*ret_seen = '\0';
	strcat(ret_seen, receive(7));
	while (*at < length && bridge_wants_more(&bridge)) {
		n = length - *at < cut ? length - *at : cut;
		ck_assert_int_eq(bridge_guest(&bridge, wire + *at, n), 0);
		*at += n;
		strcat(ret_seen, receive(7));
	}
}

START_TEST(gate_in_any_cut)
{
	size_t length = whole_life(), at;
	char got[1024];

	for (size_t cut = 1; cut <= length; cut++) {
		teardown();
		setup();
		at = 0;
		feed(&at, length, cut, got);
		ck_assert_str_eq(got, "8:up;1:{};");
		ck_assert(!bridge_complete(&bridge));
		ck_assert_int_eq(session_sends(FRAME_JOB, "{\"run\":1}"), 0);
		feed(&at, length, cut, got);
		ck_assert_str_eq(got, "8:one;3:{\"run\":1};5:bytes;6:{\"run\":1};");
		ck_assert(!bridge_complete(&bridge));
		ck_assert_int_eq(session_sends(FRAME_JOB, "{\"run\":2}"), 0);
		feed(&at, length, cut, got);
		ck_assert_str_eq(got, "3:{\"run\":2};6:{\"run\":2};");
		ck_assert(bridge_complete(&bridge) && !bridge.quit);
		ck_assert_int_eq(session_sends(FRAME_QUIT, ""), 0);
		ck_assert(bridge.quit);
		feed(&at, length, cut, got);
		ck_assert_str_eq(got, "8:off;");
		ck_assert_uint_eq(at, length);
	}
}
END_TEST

/* The session's frames may come cut, too. */
START_TEST(job_in_any_cut)
{
	uint8_t job[64];
	size_t length = put(job, FRAME_JOB, "{\"run\":1}"), n = put(wire, FRAME_HELLO, "{}");

	for (size_t cut = 0; cut <= length; cut++) {
		teardown();
		setup();
		ck_assert_int_eq(bridge_guest(&bridge, wire, n), 0);
		ck_assert_str_eq(receive(100), "1:{};");
		ck_assert_int_eq(bridge_session(&bridge, job, cut), 0);
		ck_assert(bridge.waits == (cut < length));
		ck_assert_int_eq(bridge_session(&bridge, job + cut, length - cut), 0);
		ck_assert(!bridge.waits);
	}
}
END_TEST

START_TEST(wrong_jobs)
{
	static const struct {
		enum frame_type type;
		const char *payload;
	} cases[] = {
		{FRAME_JOB, "{\"run\":2}"},  {FRAME_JOB, "{\"run\":1} "},
		{FRAME_JOB, "{\"run\":1"},   {FRAME_JOB, ""},
		{FRAME_DONE, "{\"run\":1}"}, {FRAME_LOG, ""},
	};
	size_t n = put(wire, FRAME_HELLO, "{}");

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		teardown();
		setup();
		ck_assert_int_eq(bridge_guest(&bridge, wire, n), 0);
		receive(100);
		ck_assert_int_eq(session_sends(cases[i].type, cases[i].payload), -EPROTO);
	}
	/* Before its turn, and no frame at all. */
	teardown();
	setup();
	ck_assert_int_eq(session_sends(FRAME_JOB, "{\"run\":1}"), -EPROTO);
	ck_assert_int_eq(bridge_session(&bridge, "sixteen bytes or more", 21), -EBADMSG);
}
END_TEST

START_TEST(quit_before_the_jobs)
{
	size_t n = put(wire, FRAME_HELLO, "{}");

	ck_assert_int_eq(bridge_guest(&bridge, wire, n), 0);
	receive(100);
	ck_assert_int_eq(session_sends(FRAME_QUIT, ""), 0);
	ck_assert(bridge.quit && !bridge_complete(&bridge));
	ck_assert_int_eq(session_sends(FRAME_JOB, "{\"run\":1}"), -EPROTO);
}
END_TEST

START_TEST(guest_garbage)
{
	size_t n = put(wire, FRAME_LOG, "good");

	memset(wire + n, 'x', 100);
	ck_assert_int_eq(bridge_guest(&bridge, wire, n + 100), -EBADMSG);
	ck_assert_str_eq(receive(3), "8:good;");
	ck_assert(bridge_wants_more(&bridge));
}
END_TEST

/* The largest frames, and a chunk that completes one and holds others. */
START_TEST(huge_frames)
{
	size_t size = FRAME_HEADER_SIZE + FRAME_PAYLOAD_MAX, at = 0, got = 0, n;
	uint8_t *stream = calloc(3, size);
	const uint8_t *bytes;

	memset(stream + FRAME_HEADER_SIZE, 'a', FRAME_PAYLOAD_MAX);
	frame_header(stream, FRAME_DATA, stream + FRAME_HEADER_SIZE, FRAME_PAYLOAD_MAX);
	memcpy(stream + size, stream, size);
	for (n = 2 * size; n + 32 <= 3 * size;)
		n += put(stream + n, FRAME_LOG, "0123456789abcdef");
	while (at < n) {
		size_t cut = n - at < DISK_CHUNK_MAX ? n - at : DISK_CHUNK_MAX, ready;

		ck_assert(bridge_wants_more(&bridge));
		ck_assert_int_eq(bridge_guest(&bridge, stream + at, cut), 0);
		at += cut;
		ready = bridge_ready(&bridge, &bytes);
		ck_assert(!memcmp(bytes, stream + got, ready));
		bridge_sent(&bridge, ready);
		got += ready;
	}
	ck_assert_uint_eq(got, n);
	free(stream);
}
END_TEST

START_TEST(full)
{
	size_t n = put(wire, FRAME_LOG, "good"), cut = n - 1;

	ck_assert_int_eq(bridge_guest(&bridge, wire, cut), 0);
	ck_assert_str_eq(receive(100), "");
	bridge_full(&bridge);
	ck_assert_str_eq(receive(100), "9:;");
}
END_TEST

START_TEST(told_must_be_frames)
{
	struct bridge other;

	ck_assert_int_eq(bridge_init(&other, told, told_length - 1), -EBADMSG);
	ck_assert_int_eq(bridge_init(&other, "no frames, but long enough", 26), -EBADMSG);
}
END_TEST

/* A disk of 1 MiB with the told frames on it. */
static int make_disk(struct disk_layout *ret_layout)
{
	char path[] = "/tmp/labd-disk-XXXXXX";
	uint8_t sector[DISK_SECTOR];
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	unlink(path);
	ck_assert_int_eq(ftruncate(fd, 1 << 20), 0);
	ck_assert_int_eq(disk_layout_make(1 << 20, told_length, ret_layout), 0);
	disk_layout_write(ret_layout, sector);
	ck_assert_int_eq(pwrite(fd, sector, sizeof(sector), 0), DISK_SECTOR);
	ck_assert_int_eq(pwrite(fd, told, told_length, ret_layout->in_sector * DISK_SECTOR),
			 told_length);
	return fd;
}

/* Returns the sector behind the chunk; only @written bytes of it come to the disk. */
static uint64_t put_chunk(int fd, uint64_t sector, uint32_t sequence, const void *payload,
			  size_t length, size_t written)
{
	uint8_t chunk[DISK_CHUNK_HEADER + 2000];

	disk_chunk_header(chunk, sequence, payload, length);
	memcpy(chunk + DISK_CHUNK_HEADER, payload, length);
	if (written > DISK_CHUNK_HEADER + length)
		written = DISK_CHUNK_HEADER + length;
	ck_assert_int_eq(pwrite(fd, chunk, written, sector * DISK_SECTOR), written);
	return sector + disk_chunk_sectors(length);
}

START_TEST(disk_tail)
{
	static struct tail tail;
	struct disk_layout layout;
	int fd = make_disk(&layout), ret;
	uint64_t at = layout.out_sector, next;
	char payload[1500];
	size_t length;
	void *frames;

	memset(payload, 'p', sizeof(payload));
	ck_assert_int_eq(tail_open(&tail, fd), 0);
	ck_assert_int_eq(tail_told(&tail, &frames, &length), 0);
	ck_assert_uint_eq(length, told_length);
	ck_assert(!memcmp(frames, told, length));
	free(frames);
	ck_assert_int_eq(tail_next(&tail, &length), -EAGAIN);
	/* A chunk counts when all of it is there; one whose end never comes never does. */
	put_chunk(fd, at, 0, payload, 1500, 512);
	ck_assert_int_eq(tail_next(&tail, &length), -EAGAIN);
	next = put_chunk(fd, at, 0, payload, 1500, SIZE_MAX);
	ck_assert_int_eq(tail_next(&tail, &length), 0);
	ck_assert_uint_eq(length, 1500);
	ck_assert(!memcmp(tail.payload, payload, length));
	ck_assert_int_eq(tail_next(&tail, &length), -EAGAIN);
	next = put_chunk(fd, next, 1, payload, 1, SIZE_MAX);
	at = put_chunk(fd, next, 2, payload, 0, SIZE_MAX);
	ck_assert_int_eq(tail_next(&tail, &length), 0);
	ck_assert_uint_eq(length, 1);
	ck_assert_int_eq(tail_next(&tail, &length), 0);
	ck_assert_uint_eq(length, 0); /* full */
	/* Something else is forgiven for a while only. */
	put_chunk(fd, at, 7, payload, 1, SIZE_MAX);
	for (int i = 0; (ret = tail_next(&tail, &length)) == -EAGAIN; i++)
		ck_assert_int_lt(i, 1000);
	ck_assert_int_eq(ret, -EBADMSG);
	close(fd);
}
END_TEST

START_TEST(no_such_disk)
{
	static struct tail tail;
	struct disk_layout layout;
	int fd = make_disk(&layout);

	ck_assert_int_eq(pwrite(fd, "x", 1, 4), 1);
	ck_assert_int_eq(tail_open(&tail, fd), -EBADMSG);
	ck_assert_int_eq(ftruncate(fd, 100), 0);
	ck_assert_int_eq(tail_open(&tail, fd), -EIO);
	close(fd);
}
END_TEST

static int temporary(const void *bytes, size_t length)
{
	char path[] = "/tmp/labd-boot-XXXXXX";
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	unlink(path);
	ck_assert_int_eq(write(fd, bytes, length), length);
	return fd;
}

static void read_disk(char *const *files, const char *script, char **ret_bytes, size_t *ret_length)
{
	int fd = temporary("", 0), grub = temporary(script, strlen(script));
	char path[32];

	ck_assert_int_eq(boot_disk_make(fd, grub, files, STDERR_FILENO), 0);
	snprintf(path, sizeof(path), "/dev/fd/%d", fd);
	ck_assert_int_eq(read_file(path, 16 << 20, ret_bytes, ret_length), 0);
	close(fd);
	close(grub);
}

/* The same bytes a second later; the files lie where the script says that they are. */
START_TEST(boot_disk)
{
	char first[] = "/tmp/labd-first-XXXXXX", second[] = "/tmp/labd-second-XXXXXX";
	char *const files[] = {first, second, NULL}, *const missing[] = {"/nowhere", NULL};
	char bytes[513], *one, *two;
	size_t length, other;
	int fd = mkstemp(first), fd2 = mkstemp(second);

	if (access("/usr/lib/grub/i386-pc/boot.img", R_OK))
		goto unlink; /* this host has no GRUB */
	memset(bytes, 'f', sizeof(bytes));
	ck_assert_int_eq(write(fd, bytes, 513), 513);
	ck_assert_int_eq(write(fd2, "second", 6), 6);
	read_disk(files, "boot\n", &one, &length);
	usleep(1100000);
	read_disk(files, "boot\n", &two, &other);
	ck_assert_uint_eq(length, (BOCHS_FILES_SECTOR + 3) * BOCHS_SECTOR);
	ck_assert_uint_eq(length, other);
	ck_assert(!memcmp(one, two, length));
	ck_assert(!memcmp(one + BOCHS_FILES_SECTOR * BOCHS_SECTOR, bytes, 513));
	ck_assert(!memcmp(one + (BOCHS_FILES_SECTOR + 2) * BOCHS_SECTOR, "second\0", 7));
	free(two);
	read_disk(files, "halt\n", &two, &other);
	ck_assert(length != other || memcmp(one, two, length));
	free(one);
	free(two);
	ck_assert_int_eq(boot_disk_make(fd, fd2, missing, STDERR_FILENO), -ENOENT);
unlink:
	close(fd);
	close(fd2);
	unlink(first);
	unlink(second);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bochs_bridge");
	TCase *tcase = tcase_create("bridge");
	SRunner *runner = srunner_create(suite);
	int failed;

	suite_add_tcase(suite, tcase);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, gate_in_any_cut);
	tcase_add_test(tcase, job_in_any_cut);
	tcase_add_test(tcase, wrong_jobs);
	tcase_add_test(tcase, quit_before_the_jobs);
	tcase_add_test(tcase, guest_garbage);
	tcase_add_test(tcase, huge_frames);
	tcase_add_test(tcase, full);
	tcase_add_test(tcase, told_must_be_frames);
	tcase_add_test(tcase, disk_tail);
	tcase_add_test(tcase, no_such_disk);
	tcase_add_test(tcase, boot_disk);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
