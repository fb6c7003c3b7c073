// SPDX-License-Identifier: GPL-2.0-only
/*
 * The checked transfer: bytes that say which seed and which place of the stream they belong to, so
 * that a page with anybody else's contents, or with older ones, shows.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tracing.h"
#include "wire.h"

enum {
	CHUNK = 65536,
	WORDS = CHUNK / 8,
};

/* A bijection of 64-bit words that leaves no pattern of its argument. */
static uint64_t scramble(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
	return x ^ x >> 32;
}

static void fill(uint64_t *words, uint64_t key, uint64_t offset)
{
	for (unsigned int i = 0; i < WORDS; i++)
		words[i] = scramble(key ^ (offset / 8 + i));
}

static size_t chunk_at(uint64_t offset, uint64_t bytes)
{
	return bytes - offset < CHUNK ? bytes - offset : CHUNK;
}

/**
 * net_stream_send - send the pattern
 * @fd: a socket
 * @seed: which pattern
 * @bytes: how much of it
 * @limit_s: seconds that it may take
 *
 * Return: 0 or a negative errno, -ETIMEDOUT past the limit.
 */
int net_stream_send(int fd, uint64_t seed, uint64_t bytes, unsigned int limit_s)
{
	uint64_t end = gnt_now_ns() + limit_s * UINT64_C(1000000000), key = scramble(seed);
	static uint64_t words[WORDS];
	int ret;

	for (uint64_t offset = 0; offset < bytes; offset += CHUNK) {
		if (gnt_now_ns() >= end)
			return -ETIMEDOUT;
		fill(words, key, offset);
		ret = net_write(fd, words, chunk_at(offset, bytes));
		if (ret)
			return ret;
	}
	return 0;
}

/**
 * net_stream_check - receive the pattern and count the bytes that are not as they were sent
 * @fd: a socket
 * @seed: which pattern
 * @bytes: how much of it
 * @limit_s: seconds that it may take
 * @ret_wrong: bytes that differ
 *
 * Return: 0 whether or not bytes differ, -EPROTO if the stream ends too early, or a negative errno.
 */
int net_stream_check(int fd, uint64_t seed, uint64_t bytes, unsigned int limit_s,
		     uint64_t *ret_wrong)
{
	uint64_t end = gnt_now_ns() + limit_s * UINT64_C(1000000000), key = scramble(seed);
	static uint64_t words[WORDS], got[WORDS];
	uint64_t wrong = 0;

	for (uint64_t offset = 0; offset < bytes; offset += CHUNK) {
		size_t size = chunk_at(offset, bytes), have = 0;

		fill(words, key, offset);
		while (have < size) {
			ssize_t n;

			if (gnt_now_ns() >= end)
				return -ETIMEDOUT;
			n = read(fd, (char *)got + have, size - have);
			if (n < 0)
				return -errno;
			if (!n)
				return -EPROTO;
			have += n;
		}
		if (!memcmp(words, got, size))
			continue;
		for (size_t i = 0; i < size; i++)
			wrong += ((char *)words)[i] != ((char *)got)[i];
	}
	*ret_wrong = wrong;
	return 0;
}
