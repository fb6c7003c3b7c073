// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/util.h"

static void finish(struct sha256_ctx *ctx, char ret_hex[SHA256_HEX_LEN + 1])
{
	uint8_t digest[SHA256_DIGEST_SIZE];

	sha256_digest(ctx, sizeof(digest), digest);
	hex_encode(ret_hex, digest, sizeof(digest));
}

/** sha256_hex() - hash of bytes in memory, lower-case hex */
void sha256_hex(const void *data, size_t len, char ret_hex[SHA256_HEX_LEN + 1])
{
	struct sha256_ctx ctx;

	sha256_init(&ctx);
	sha256_update(&ctx, len, data);
	finish(&ctx, ret_hex);
}

/** sha256_file_hex() - hash of a file, lower-case hex; 0 or negative errno */
int sha256_file_hex(const char *path, char ret_hex[SHA256_HEX_LEN + 1])
{
	uint8_t buffer[65536];
	struct sha256_ctx ctx;
	ssize_t n;
	int fd, ret = 0;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	sha256_init(&ctx);
	do {
		n = read(fd, buffer, sizeof(buffer));
		if (n > 0)
			sha256_update(&ctx, n, buffer);
		else if (n < 0 && errno != EINTR)
			ret = -errno;
	} while (!ret && n);
	close(fd);
	if (!ret)
		finish(&ctx, ret_hex);
	return ret;
}
