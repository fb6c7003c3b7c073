// SPDX-License-Identifier: GPL-2.0-only
/* What every stage needs and libc lacks: clocks, whole files, random hex, checked numbers. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/util.h"

static int64_t clock_ns(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

/** mono_ns() - CLOCK_MONOTONIC in ns, for durations and deadlines */
int64_t mono_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

/** wall_ns() - CLOCK_REALTIME in ns since 1970, for what is stored and shown */
int64_t wall_ns(void)
{
	return clock_ns(CLOCK_REALTIME);
}

/**
 * read_file() - read a whole file, also one of proc or sysfs whose size is not known
 * @path: the file
 * @max: bytes at which the file is refused
 * @ret_text: its bytes and a NUL behind them; the caller frees
 * @ret_len: bytes without that NUL, may be NULL
 *
 * Return: 0, -EFBIG, or another negative errno.
 */
int read_file(const char *path, size_t max, char **ret_text, size_t *ret_len)
{
	size_t size = 4096, len = 0;
	char *text, *larger;
	ssize_t n;
	int fd, ret;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	text = malloc(size);
	ret = text ? 0 : -ENOMEM;
	while (!ret) {
		n = read(fd, text + len, size - 1 - len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			ret = -errno;
		if (n <= 0)
			break;
		len += n;
		if (len > max) {
			ret = -EFBIG;
		} else if (len == size - 1) {
			size *= 2;
			larger = realloc(text, size);
			if (larger)
				text = larger;
			else
				ret = -ENOMEM;
		}
	}
	close(fd);
	if (ret) {
		free(text);
		return ret;
	}
	text[len] = '\0';
	*ret_text = text;
	if (ret_len)
		*ret_len = len;
	return 0;
}

/**
 * read_tail() - read the last lines of a regular file, which may be growing
 * @max: bytes of them at most; a line that is cut by that is left out
 * @ret_text: their bytes and a NUL behind them; the caller frees
 * @ret_len: bytes without that NUL
 * @ret_left_out: bytes of the file that are in front of them
 *
 * Return: 0 or negative errno; -EINVAL for what is no regular file.
 */
int read_tail(const char *path, size_t max, char **ret_text, size_t *ret_len, size_t *ret_left_out)
{
	size_t len = 0, cut = 0;
	char *text = NULL, *line;
	struct stat st;
	ssize_t n = 0;
	off_t from;
	int fd, ret;

	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = fstat(fd, &st) ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
	if (!ret && !(text = malloc(max + 1)))
		ret = -ENOMEM;
	if (ret)
		goto out;
	from = st.st_size > (off_t)max ? st.st_size - (off_t)max : 0;
	while (len < max && (n = pread(fd, text + len, max - len, from + (off_t)len)) > 0)
		len += n;
	if (n < 0) {
		ret = -errno;
		goto out;
	}
	if (from) {
		line = memchr(text, '\n', len);
		cut = line ? (size_t)(line + 1 - text) : len;
	}
	memmove(text, text + cut, len - cut);
	text[len - cut] = '\0';
	*ret_text = text;
	*ret_len = len - cut;
	*ret_left_out = (size_t)from + cut;
	text = NULL;
out:
	free(text);
	close(fd);
	return ret;
}

/**
 * write_all() - write every byte
 *
 * Return: 0 or negative errno; some bytes may have gone out then.
 */
int write_all(int fd, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	while (len) {
		n = write(fd, p, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= n;
	}
	return 0;
}

/**
 * sync_dir_of() - make the names in a path's folder durable
 * @path: a file that was made, renamed or removed
 *
 * Return: 0 or negative errno.
 */
int sync_dir_of(const char *path)
{
	char dir[PATH_MAX];
	char *slash;
	int fd, ret = 0;

	if (snprintf(dir, sizeof(dir), "%s", path) >= (int)sizeof(dir))
		return -ENAMETOOLONG;
	slash = strrchr(dir, '/');
	if (slash)
		slash[slash == dir] = '\0';
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fsync(fd))
		ret = -errno;
	close(fd);
	return ret;
}

/**
 * write_file_atomic() - write a file that is either whole or not there
 * @path: the file; @path.tmp is used beside it
 * @mode: its permissions
 *
 * Return: 0 or negative errno.
 */
int write_file_atomic(const char *path, const void *data, size_t len, int mode)
{
	char tmp[PATH_MAX];
	int fd, ret;

	if (snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= (int)sizeof(tmp))
		return -ENAMETOOLONG;
	fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (fd < 0)
		return -errno;
	ret = write_all(fd, data, len);
	if (!ret && fsync(fd))
		ret = -errno;
	close(fd);
	if (!ret && rename(tmp, path))
		ret = -errno;
	if (ret)
		unlink(tmp);
	else
		ret = sync_dir_of(path);
	return ret;
}

/**
 * make_dir() - make a folder unless it is there
 *
 * Return: 0 or negative errno.
 */
int make_dir(const char *path, int mode)
{
	return mkdir(path, mode) && errno != EEXIST ? -errno : 0;
}

/** random_u64() - 64 bits from the kernel's generator; 0 or negative errno */
int random_u64(uint64_t *ret_value)
{
	uint64_t value;

	if (getrandom(&value, sizeof(value), 0) != sizeof(value))
		return -errno;
	*ret_value = value;
	return 0;
}

/**
 * hex_encode() - bytes as lower-case hex
 * @ret_hex: 2 * @len + 1 bytes
 */
void hex_encode(char *ret_hex, const uint8_t *data, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*ret_hex++ = digits[data[i] >> 4];
		*ret_hex++ = digits[data[i] & 15];
	}
	*ret_hex = '\0';
}

/**
 * random_hex() - a random name or secret
 * @ret_hex: 2 * @bytes + 1 bytes
 * @bytes: at most 64
 *
 * Return: 0 or negative errno.
 */
int random_hex(char *ret_hex, size_t bytes)
{
	uint8_t raw[64];

	if (bytes > sizeof(raw))
		return -EINVAL;
	if (getrandom(raw, bytes, 0) != (ssize_t)bytes)
		return -errno;
	hex_encode(ret_hex, raw, bytes);
	return 0;
}

/**
 * parse_i64() - a decimal number and nothing else
 *
 * Return: 0, -EINVAL when @text is no number, -ERANGE when it is outside of @min..@max.
 */
int parse_i64(const char *text, int64_t min, int64_t max, int64_t *ret_value)
{
	long long value;
	char *end;

	if (!(*text >= '0' && *text <= '9') && !(*text == '-' && text[1] >= '0' && text[1] <= '9'))
		return -EINVAL;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (*end)
		return -EINVAL;
	if (errno || value < min || value > max)
		return -ERANGE;
	*ret_value = value;
	return 0;
}

/** str_printf() - a formatted string for the caller to free, or NULL without memory */
char *str_printf(const char *fmt, ...)
{
	char *text;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	return n < 0 ? NULL : text;
}

/**
 * path_beside_program() - the path of a file in the folder that the running program is in
 *
 * Return: 0, or -ENAMETOOLONG with @ret_path empty.
 */
int path_beside_program(const char *name, char *ret_path, size_t size)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	self[n < 0 ? 0 : n] = '\0';
	slash = strrchr(self, '/');
	if (slash)
		*slash = '\0';
	if (snprintf(ret_path, size, "%s/%s", self, name) < (int)size)
		return 0;
	*ret_path = '\0';
	return -ENAMETOOLONG;
}
