// SPDX-License-Identifier: GPL-2.0-only
/*
 * The spool: one thread per CPU moves whole ring-buffer pages, undecoded, into nameless files on a
 * tmpfs while the workload runs. When the room is used up the pages go nowhere, but they still go
 * and are counted: a ring that nobody empties would hide how much was lost.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "agent/spool.h"

#define PIPE_BYTES (1 << 20)

/* How long a reader leaves a ring alone that is readable but holds no full page yet. */
#define PARTIAL_PAGE_MS 20

struct reader {
	struct agent_spool *spool;
	struct agent_spooled out;
	pthread_t thread;
	bool running;
	bool full;
	int raw_fd;
	int pipe[2];
};

/**
 * struct agent_spool - all readers of one run
 * @limit: bytes over all CPUs
 * @used: bytes reserved so far, kept or not
 * @stop_fd: eventfd, readable when the trace is off
 * @null_fd: where pages go that nobody has room for
 */
struct agent_spool {
	unsigned int page_size;
	uint64_t limit;
	_Atomic uint64_t used;
	int stop_fd;
	int null_fd;
	int cpus;
	struct reader readers[];
};

/* Whether @bytes more may be kept. A CPU that was full once stays so: its file has no hole. */
static bool reserve(struct reader *reader, uint64_t bytes)
{
	struct agent_spool *spool = reader->spool;

	if (!reader->full && atomic_fetch_add(&spool->used, bytes) + bytes > spool->limit)
		reader->full = true;
	return !reader->full;
}

/* Account for @bytes that came, of which the file has received up to @end; a torn page is taken
 * back. */
static int settle(struct reader *reader, uint64_t bytes, uint64_t end)
{
	struct agent_spooled *out = &reader->out;
	uint64_t page = reader->spool->page_size;
	uint64_t kept = (end - out->size) / page * page;

	out->size += kept;
	if (kept == bytes)
		return 0;
	reader->full = true;
	out->lost_pages += (bytes - kept) / page;
	return ftruncate(out->fd, out->size) ? -errno : 0;
}

/* Empty the pipe, which holds @bytes in whole pages, into the file or else into nowhere. */
static int store(struct reader *reader, size_t bytes)
{
	bool keep = reserve(reader, bytes);
	loff_t end = reader->out.size;
	size_t left = bytes;
	ssize_t n;

	while (left) {
		n = splice(reader->pipe[0], NULL, keep ? reader->out.fd : reader->spool->null_fd,
			   keep ? &end : NULL, left, SPLICE_F_MOVE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0 && !keep)
			return n ? -errno : -EIO;
		if (n <= 0)
			keep = false; /* no space: the rest goes nowhere */
		else
			left -= n;
	}
	return settle(reader, bytes, end);
}

/* Take all full pages. Returns the bytes taken, 0 when there are none. */
static ssize_t take_pages(struct reader *reader)
{
	ssize_t n, total = 0;
	int ret;

	for (;;) {
		n = splice(reader->raw_fd, NULL, reader->pipe[1], NULL, PIPE_BYTES,
			   SPLICE_F_NONBLOCK | SPLICE_F_MOVE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			return -errno;
		if (n <= 0)
			return total;
		ret = store(reader, n);
		if (ret)
			return ret;
		total += n;
	}
}

/* Splicing leaves the page alone that the kernel still writes to; reading takes it as it is. */
static int take_rest(struct reader *reader)
{
	size_t page = reader->spool->page_size;
	ssize_t n, written;
	uint64_t end;
	void *buffer;
	int ret = 0;

	buffer = malloc(page);
	if (!buffer)
		return -ENOMEM;
	while (!ret) {
		n = read(reader->raw_fd, buffer, page);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			ret = n && errno != EAGAIN ? -errno : 0;
			break;
		}
		if ((size_t)n != page) {
			ret = -EPROTO;
			break;
		}
		end = reader->out.size;
		if (reserve(reader, page)) {
			written = pwrite(reader->out.fd, buffer, page, end);
			end += written > 0 ? written : 0;
		}
		ret = settle(reader, page, end);
	}
	free(buffer);
	return ret;
}

static void *reader_main(void *arg)
{
	struct reader *reader = arg;
	struct pollfd fds[] = {
		{.fd = reader->spool->stop_fd, .events = POLLIN},
		{.fd = reader->raw_fd, .events = POLLIN},
	};
	ssize_t n = 0;

	for (;;) {
		poll(fds, 2, -1);
		if (fds[0].revents)
			break;
		n = take_pages(reader);
		if (n < 0)
			break;
		if (!n)
			poll(fds, 1, PARTIAL_PAGE_MS);
	}
	/* Reading comes after splicing, or it would cost the full pages a copy more. */
	if (n >= 0)
		n = take_pages(reader);
	reader->out.error = n < 0 ? n : take_rest(reader);
	return NULL;
}

static int reader_start(struct reader *reader, struct agent_trace *trace, const char *dir, int cpu)
{
	int ret;

	reader->raw_fd = agent_trace_open_raw(trace, cpu);
	if (reader->raw_fd < 0)
		return reader->raw_fd;
	reader->out.fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (reader->out.fd < 0 || pipe2(reader->pipe, O_CLOEXEC))
		return -errno;
	/* Fewer pages at a time do as well where the limit for pipes is lower. */
	fcntl(reader->pipe[1], F_SETPIPE_SZ, PIPE_BYTES);
	ret = -pthread_create(&reader->thread, NULL, reader_main, reader);
	reader->running = !ret;
	return ret;
}

/**
 * agent_spool_start() - begin to empty the rings
 * @trace: set up, not yet recording
 * @dir: a folder on a tmpfs
 * @limit: bytes to keep over all CPUs
 * @ret_spool: ends with agent_spool_free()
 *
 * Return: 0 or negative errno.
 */
int agent_spool_start(struct agent_trace *trace, const char *dir, uint64_t limit,
		      struct agent_spool **ret_spool)
{
	struct agent_spool *spool;
	int ret = 0;

	spool = calloc(1, sizeof(*spool) + trace->cpus * sizeof(spool->readers[0]));
	if (!spool)
		return -ENOMEM;
	spool->page_size = trace->page_size;
	spool->limit = limit;
	spool->cpus = trace->cpus;
	for (int i = 0; i < spool->cpus; i++)
		spool->readers[i] = (struct reader){
			.spool = spool,
			.raw_fd = -1,
			.pipe = {-1, -1},
			.out.fd = -1,
		};
	spool->stop_fd = eventfd(0, EFD_CLOEXEC);
	spool->null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	if (spool->stop_fd < 0 || spool->null_fd < 0)
		ret = -errno;
	for (int i = 0; i < spool->cpus && !ret; i++)
		ret = reader_start(&spool->readers[i], trace, dir, i);
	if (ret) {
		agent_spool_free(spool);
		return ret;
	}
	*ret_spool = spool;
	return 0;
}

/**
 * agent_spool_drain() - take what is left and let go of the rings
 *
 * The trace must be off. Calling it again does nothing.
 */
void agent_spool_drain(struct agent_spool *spool)
{
	eventfd_write(spool->stop_fd, 1);
	for (int i = 0; i < spool->cpus; i++) {
		struct reader *reader = &spool->readers[i];

		if (reader->running)
			pthread_join(reader->thread, NULL);
		reader->running = false;
		if (reader->raw_fd >= 0)
			close(reader->raw_fd);
		reader->raw_fd = -1;
	}
}

/** agent_spool_cpu() - what came off a CPU; final after agent_spool_drain() */
const struct agent_spooled *agent_spool_cpu(const struct agent_spool *spool, int cpu)
{
	return &spool->readers[cpu].out;
}

/** agent_spool_free() - drain, and give the memory back; @spool may be NULL */
void agent_spool_free(struct agent_spool *spool)
{
	if (!spool)
		return;
	if (spool->stop_fd >= 0)
		agent_spool_drain(spool);
	for (int i = 0; i < spool->cpus; i++) {
		struct reader *reader = &spool->readers[i];

		for (int end = 0; end < 2; end++)
			if (reader->pipe[end] >= 0)
				close(reader->pipe[end]);
		if (reader->out.fd >= 0)
			close(reader->out.fd);
	}
	if (spool->null_fd >= 0)
		close(spool->null_fd);
	if (spool->stop_fd >= 0)
		close(spool->stop_fd);
	free(spool);
}
