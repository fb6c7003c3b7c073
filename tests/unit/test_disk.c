// SPDX-License-Identifier: GPL-2.0-only
/* The disk image between host and agent: its format, and the agent's pump on a plain file. */
#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/channel.h"
#include "agent/disk.h"
#include "base/bytes.h"
#include "base/frame.h"
#include "base/util.h"

#define MIB (1u << 20)

static const struct {
	uint64_t image, in;
	int ret;
	uint32_t out_sector;
} layouts[] = {
	{131 * 512, 1, 0, 2},
	{130 * 512, 0, 0, 1},
	{131 * 512 - 1, 1, -EINVAL, 0}, /* what is no whole sector does not count */
	{131 * 512, 513, -EINVAL, 0},
	{132 * 512, 513, 0, 3},
	{0, 0, -EINVAL, 0},
	{1ull << 41, 0, -EINVAL, 0},
	{(1ull << 41) - 512, 0, 0, 1},
	{1ull << 40, 1ull << 32, -EINVAL, 0},
	{1ull << 40, UINT64_MAX, -EINVAL, 0},
	{1ull << 40, (1ull << 32) - 1, 0, 1 + (1 << 23)},
};

START_TEST(layout)
{
	struct disk_layout made = {0}, seen = {0};
	uint8_t sector[DISK_SECTOR];

	ck_assert_int_eq(disk_layout_make(layouts[_i].image, layouts[_i].in, &made),
			 layouts[_i].ret);
	ck_assert_uint_eq(made.out_sector, layouts[_i].out_sector);
	if (layouts[_i].ret)
		return;
	disk_layout_write(&made, sector);
	ck_assert_int_eq(disk_layout_read(sector, &seen), 0);
	ck_assert_mem_eq(&made, &seen, sizeof(made));
}
END_TEST

/* Parts that overlap, though the checksum is right. */
START_TEST(layout_refused)
{
	static const struct disk_layout wrong[] = {
		{1000, 0, 10, 2},	   {1000, 1, 513, 2}, {1000, 3, 0, 2},
		{1000, 1, 10, 900},	   {0, 0, 0, 0},      {1000, UINT32_MAX, UINT32_MAX, 2},
		{1000, 1, 10, UINT32_MAX},
	};
	struct disk_layout made, untouched = {0};
	uint8_t sector[DISK_SECTOR];

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		disk_layout_write(&wrong[i], sector);
		ck_assert_int_eq(disk_layout_read(sector, &untouched), -EBADMSG);
	}
	ck_assert_int_eq(disk_layout_make(MIB, 100, &made), 0);
	for (size_t bit = 0; bit < 8 * 24; bit++) {
		disk_layout_write(&made, sector);
		sector[bit / 8] ^= 1 << bit % 8;
		ck_assert_int_eq(disk_layout_read(sector, &untouched), -EBADMSG);
	}
	ck_assert_uint_eq(untouched.sectors, 0);
}
END_TEST

START_TEST(chunk)
{
	static const size_t lengths[] = {0, 1, 496, 497, DISK_CHUNK_MAX};
	static uint8_t payload[DISK_CHUNK_MAX];
	uint8_t header[DISK_CHUNK_HEADER] = {0};
	size_t length = 1;

	ck_assert_int_eq(disk_chunk_length(header, 0, &length), -EAGAIN);
	memset(payload, 'p', sizeof(payload));
	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		disk_chunk_header(header, 7, payload, lengths[i]);
		ck_assert_int_eq(disk_chunk_length(header, 7, &length), 0);
		ck_assert_uint_eq(length, lengths[i]);
		ck_assert_int_eq(disk_chunk_check(header, payload), 0);
		ck_assert_int_eq(disk_chunk_length(header, 6, &length), -EBADMSG);
	}
	ck_assert_uint_eq(disk_chunk_sectors(0), 1);
	ck_assert_uint_eq(disk_chunk_sectors(496), 1);
	ck_assert_uint_eq(disk_chunk_sectors(497), 2);
	ck_assert_uint_eq(disk_chunk_sectors(DISK_CHUNK_MAX), DISK_CHUNK_SECTORS);
	put32(header + 8, DISK_CHUNK_MAX + 1);
	ck_assert_int_eq(disk_chunk_length(header, 7, &length), -EBADMSG);
}
END_TEST

/* One wrong bit of header or payload: never a chunk. */
START_TEST(chunk_wrong_bit)
{
	uint8_t header[DISK_CHUNK_HEADER], payload[5];
	size_t length;

	for (size_t bit = 0; bit < 8 * (sizeof(header) + sizeof(payload)); bit++) {
		memcpy(payload, "bytes", 5);
		disk_chunk_header(header, 1, payload, 5);
		if (bit / 8 < sizeof(header))
			header[bit / 8] ^= 1 << bit % 8;
		else
			payload[bit / 8 - sizeof(header)] ^= 1 << bit % 8;
		ck_assert(disk_chunk_length(header, 1, &length) == -EBADMSG || length > 5 ||
			  disk_chunk_check(header, payload) == -EAGAIN);
	}
	/* A header of which only the first half is there yet is no "full". */
	disk_chunk_header(header, 1, payload, 5);
	memset(header + 8, 0, 8);
	ck_assert_int_eq(disk_chunk_length(header, 1, &length), 0);
	ck_assert_uint_eq(length, 0);
	ck_assert_int_eq(disk_chunk_check(header, payload), -EAGAIN);
}
END_TEST

static char path[] = "/tmp/labd-disk-XXXXXX";
static int image = -1;
static struct agent_link agent;
static struct disk_layout disk;
static struct frame_reader reader;
static char seen[512];

static size_t put(uint8_t *at, enum frame_type type, const void *payload, size_t length)
{
	frame_header(at, type, payload, length);
	memcpy(at + FRAME_HEADER_SIZE, payload, length);
	return FRAME_HEADER_SIZE + length;
}

/* An image of that size with two jobs, the second of @second bytes, and QUIT. */
static void make_image(uint64_t size, size_t second)
{
	uint8_t sector[DISK_SECTOR], *frames = malloc(second + 1000);
	char *job = malloc(second);
	size_t n;

	memset(job, 'j', second);
	n = put(frames, FRAME_JOB, "first", 5);
	n += put(frames + n, FRAME_JOB, job, second);
	n += put(frames + n, FRAME_QUIT, "", 0);
	ck_assert_int_eq(disk_layout_make(size, n, &disk), 0);
	disk_layout_write(&disk, sector);
	ck_assert_int_eq(pwrite(image, sector, sizeof(sector), 0), sizeof(sector));
	ck_assert_int_eq(pwrite(image, frames, n, disk.in_sector * DISK_SECTOR), n);
	ck_assert_int_eq(ftruncate(image, size), 0);
	free(frames);
	free(job);
}

static int note(void *arg, const struct frame *frame)
{
	size_t n = strlen(seen);

	snprintf(seen + n, sizeof(seen) - n, "%d:%zu;", frame->type, frame->length);
	return arg ? -ECANCELED : 0;
}

/* The next frame from the host, as note() writes it. */
static const char *receive(void)
{
	uint8_t byte;

	seen[0] = '\0';
	while (read(agent.in, &byte, 1) == 1)
		if (frame_reader_push(&reader, &byte, 1, note, &reader))
			break;
	return seen;
}

/* The frames that the chunks hold; "full" when they end so, "open" when within a frame. */
static const char *stream(void)
{
	static uint8_t bytes[DISK_CHUNK_SECTORS * DISK_SECTOR];
	uint32_t sector = disk.out_sector;
	size_t length;
	int ret;

	seen[0] = '\0';
	reader.have = 0;
	for (uint32_t sequence = 0;; sequence++) {
		ck_assert(pread(image, bytes, sizeof(bytes), (off_t)sector * DISK_SECTOR) > 0);
		ret = disk_chunk_length(bytes, sequence, &length);
		if (ret == -EAGAIN)
			break;
		ck_assert_int_eq(ret, 0);
		ck_assert_int_eq(disk_chunk_check(bytes, bytes + DISK_CHUNK_HEADER), 0);
		if (!length) {
			strcat(seen, "full");
			break;
		}
		sector += disk_chunk_sectors(length);
		ck_assert_uint_le(sector, disk.sectors - DISK_RESERVED_SECTORS);
		ck_assert_int_eq(
			frame_reader_push(&reader, bytes + DISK_CHUNK_HEADER, length, note, NULL),
			0);
	}
	if (reader.have)
		strcat(seen, "open");
	return seen;
}

static void setup(void)
{
	strcpy(path + strlen(path) - 6, "XXXXXX");
	image = mkstemp(path);
	ck_assert_int_ge(image, 0);
	ck_assert_int_eq(frame_reader_init(&reader), 0);
	signal(SIGPIPE, SIG_IGN);
}

static void teardown(void)
{
	close(image);
	unlink(path);
	frame_reader_free(&reader);
}

static void start(void)
{
	ck_assert_int_eq(agent_channel_disk.open(path, 1000, &agent), 0);
}

/* Returns how the pump ended, which is a child. */
static int hang_up(void)
{
	int status;

	close(agent.out);
	close(agent.in);
	ck_assert_int_gt(wait(&status), 0);
	return WEXITSTATUS(status);
}

START_TEST(jobs_in_order)
{
	char *data = calloc(1, FRAME_PAYLOAD_MAX);

	make_image(8 * MIB, 700);
	start();
	ck_assert_int_eq(frame_write(agent.out, FRAME_HELLO, "{}", 2), 0);
	ck_assert_str_eq(receive(), "2:5;");
	ck_assert_int_eq(frame_write(agent.out, FRAME_STARTED, "{}", 2), 0);
	ck_assert_int_eq(agent_channel_disk.settle(agent.out), 0);
	ck_assert_str_eq(stream(), "1:2;3:2;");
	ck_assert_int_eq(frame_write(agent.out, FRAME_FILE, "{}", 2), 0);
	ck_assert_int_eq(frame_write(agent.out, FRAME_DATA, data, FRAME_PAYLOAD_MAX), 0);
	ck_assert_int_eq(frame_write(agent.out, FRAME_DONE, "1", 1), 0);
	ck_assert_str_eq(receive(), "2:700;");
	ck_assert_int_eq(frame_write(agent.out, FRAME_LOG, "line", 4), 0);
	ck_assert_int_eq(frame_write(agent.out, FRAME_DONE, "12", 2), 0);
	ck_assert_str_eq(receive(), "7:0;");
	/* What it is told comes after what it said is on the disk. */
	ck_assert_str_eq(stream(), "1:2;3:2;4:2;5:1048576;6:1;8:4;6:2;");
	ck_assert_int_eq(hang_up(), 0);
	free(data);
}
END_TEST

START_TEST(large_job)
{
	make_image(8 * MIB, FRAME_PAYLOAD_MAX);
	start();
	ck_assert_int_eq(frame_write(agent.out, FRAME_HELLO, "", 0), 0);
	ck_assert_str_eq(receive(), "2:5;");
	ck_assert_int_eq(frame_write(agent.out, FRAME_DONE, "", 0), 0);
	ck_assert_str_eq(receive(), "2:1048576;");
	ck_assert_int_eq(hang_up(), 0);
}
END_TEST

/* All sizes around what fits: the image says "full" exactly when something is missing. */
START_TEST(full)
{
	char *data = calloc(1, FRAME_PAYLOAD_MAX);
	const char *text;

	make_image((256 + _i) * DISK_SECTOR, 10);
	start();
	ck_assert_int_eq(frame_write(agent.out, FRAME_HELLO, "", 0), 0);
	ck_assert_str_eq(receive(), "2:5;");
	frame_write(agent.out, FRAME_DATA, data, 100000);
	frame_write(agent.out, FRAME_DONE, "", 0);
	receive();
	if (*seen) {
		ck_assert_str_eq(seen, "2:10;");
		ck_assert_str_eq(stream(), "1:0;5:100000;6:0;");
		ck_assert_int_eq(hang_up(), 0);
	} else {
		ck_assert_int_eq(hang_up(), 1);
		text = stream();
		ck_assert_ptr_nonnull(strstr(text, "full"));
		ck_assert_ptr_null(strstr(text, "6:0;"));
	}
	free(data);
}
END_TEST

/* It never ends well for an agent that goes on where the disk cannot. */
START_TEST(full_ends_it)
{
	char *data = calloc(1, FRAME_PAYLOAD_MAX);

	make_image(MIB / 2, 10);
	start();
	ck_assert_int_eq(frame_write(agent.out, FRAME_HELLO, "", 0), 0);
	ck_assert_str_eq(receive(), "2:5;");
	ck_assert_int_eq(frame_write(agent.out, FRAME_DATA, data, FRAME_PAYLOAD_MAX), -EPIPE);
	ck_assert_int_eq(agent_channel_disk.settle(agent.out), -EPIPE);
	ck_assert_int_eq(hang_up(), 1);
	ck_assert_str_eq(stream(), "1:0;fullopen");
	free(data);
}
END_TEST

START_TEST(nothing_left_to_tell)
{
	make_image(MIB, 10);
	start();
	for (int i = 0; i < 4; i++)
		frame_write(agent.out, FRAME_DONE, "", 0);
	ck_assert_str_eq(receive(), "2:5;");
	ck_assert_str_eq(receive(), "2:10;");
	ck_assert_str_eq(receive(), "7:0;");
	ck_assert_str_eq(receive(), "");
	ck_assert_int_eq(hang_up(), 1);
}
END_TEST

START_TEST(agent_makes_no_sense)
{
	char byte;

	make_image(MIB, 10);
	start();
	ck_assert_int_eq(write_all(agent.out, "these bytes are no frame", 24), 0);
	ck_assert_int_le(read(agent.in, &byte, 1), 0);
	ck_assert_int_eq(hang_up(), 1);
}
END_TEST

START_TEST(no_disk)
{
	struct agent_link none = {-1, -1};

	ck_assert_int_eq(agent_channel_disk.open("/tmp/labd-disk-none", 10, &none), -ENOENT);
	ck_assert_int_eq(ftruncate(image, MIB), 0);
	ck_assert_int_eq(agent_channel_disk.open(path, 10, &none), -EBADMSG);
	make_image(MIB, 10);
	ck_assert_int_eq(ftruncate(image, MIB - 1), 0);
	ck_assert_int_eq(agent_channel_disk.open(path, 10, &none), -EBADMSG);
	ck_assert_int_eq(none.out, -1);
}
END_TEST

/* Settling waits for whoever has not taken it yet, and only for him. */
START_TEST(settle_waits)
{
	int fds[2];
	char byte;

	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(agent_channel_disk.settle(fds[1]), 0);
	ck_assert_int_eq(write_all(fds[1], "x", 1), 0);
	if (!fork()) {
		usleep(200000);
		_exit(read(fds[0], &byte, 1) != 1);
	}
	int64_t before = mono_ns();

	ck_assert_int_eq(agent_channel_disk.settle(fds[1]), 0);
	ck_assert_int_ge(mono_ns() - before, 100000000);
	ck_assert_int_eq(agent_channel_disk.settle(-1), -EBADF);
	wait(NULL);
	close(fds[1]);
	close(fds[0]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("disk");
	TCase *format = tcase_create("format"), *pump = tcase_create("pump");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(format, layout, 0, ARRAY_SIZE(layouts));
	tcase_add_test(format, layout_refused);
	tcase_add_test(format, chunk);
	tcase_add_test(format, chunk_wrong_bit);
	suite_add_tcase(suite, format);

	tcase_add_checked_fixture(pump, setup, teardown);
	tcase_add_test(pump, jobs_in_order);
	tcase_add_test(pump, large_job);
	tcase_add_loop_test(pump, full, -60, 0);
	tcase_add_test(pump, full_ends_it);
	tcase_add_test(pump, nothing_left_to_tell);
	tcase_add_test(pump, agent_makes_no_sense);
	tcase_add_test(pump, no_disk);
	tcase_add_test(pump, settle_waits);
	suite_add_tcase(suite, pump);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
