// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines over TCP with a limit on every wait.
 */
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int finish_connect(int fd, const struct sockaddr_in *to, unsigned int limit_ms)
{
	struct pollfd poller = {.fd = fd, .events = POLLOUT};
	socklen_t size = sizeof(int);
	int n, error;

	if (!connect(fd, (const struct sockaddr *)to, sizeof(*to)))
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	n = poll(&poller, 1, limit_ms);
	if (n < 0)
		return -errno;
	if (!n)
		return -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size))
		return -errno;
	return -error;
}

/**
 * net_set_limit - limit how long one read or write may take
 * @fd: a socket
 * @limit_s: seconds
 *
 * Return: 0 or a negative errno.
 */
int net_set_limit(int fd, unsigned int limit_s)
{
	struct timeval limit = {.tv_sec = limit_s};

	if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
	    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)))
		return -errno;
	return 0;
}

/**
 * net_connect - connect to a port
 * @address: dotted IPv4 address
 * @port: of TCP
 * @limit_ms: milliseconds to wait at most
 * @ret_fd: a blocking socket, each of whose reads and writes is limited to NET_STREAM_LIMIT_S
 *
 * Return: 0 or a negative errno, nothing printed: callers try again.
 */
int net_connect(const char *address, unsigned int port, unsigned int limit_ms, int *ret_fd)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
	int fd, ret;

	if (inet_pton(AF_INET, address, &to.sin_addr) != 1)
		return -EINVAL;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	ret = finish_connect(fd, &to, limit_ms);
	if (!ret && fcntl(fd, F_SETFL, 0))
		ret = -errno;
	if (!ret)
		ret = net_set_limit(fd, NET_STREAM_LIMIT_S);
	if (ret)
		close(fd);
	else
		*ret_fd = fd;
	return ret;
}

/**
 * net_write - write all of it
 * @fd: a socket or file
 * @data: what
 * @size: bytes
 *
 * Return: 0 or a negative errno, -EAGAIN past the socket's limit.
 */
int net_write(int fd, const void *data, size_t size)
{
	const char *at = data;
	ssize_t n;

	while (size) {
		n = write(fd, at, size);
		if (n < 0)
			return -errno;
		at += n;
		size -= n;
	}
	return 0;
}

/**
 * net_write_line - write one line
 * @fd: a socket
 * @fmt: as for printf(), without the line's end
 *
 * Return: 0 or a negative errno.
 */
int net_write_line(int fd, const char *fmt, ...)
{
	char line[NET_LINE];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0 || n + 1 >= (int)sizeof(line))
		return -EMSGSIZE;
	line[n++] = '\n';
	return net_write(fd, line, n);
}

/**
 * net_read_line - read one line, and nothing behind it
 * @fd: a socket
 * @line: the line, without its end
 * @size: bytes of @line
 *
 * Return: 0, -EPROTO for a line that is cut off or too long, or another negative errno.
 */
int net_read_line(int fd, char *line, size_t size)
{
	size_t length = 0;
	ssize_t n;

	/* Byte by byte: what follows the line belongs to somebody else. */
	while (length < size) {
		n = read(fd, line + length, 1);
		if (n < 0)
			return -errno;
		if (!n)
			return -EPROTO;
		if (line[length] == '\n') {
			line[length] = '\0';
			return 0;
		}
		length++;
	}
	return -EPROTO;
}
