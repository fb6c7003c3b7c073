// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the setup out of the trace: mapping all guest memory is hundreds of thousands of page
 * faults, none of which has anything to wait for.
 */
#include "tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/**
 * churn_tracing - turn the trace of this run off or on
 * @on: whether events are recorded from here on
 *
 * Does nothing where nobody traces, that is without LABD_TRACING_ON in the environment.
 *
 * Return: 0 or a negative errno, printed.
 */
int churn_tracing(bool on)
{
	const char *path = getenv("LABD_TRACING_ON");
	int fd, ret = 0;

	if (!path)
		return 0;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, on ? "1" : "0", 1) != 1) {
		ret = -errno;
		fprintf(stderr, "kvm-churn: %s: %m\n", path);
	}
	if (fd >= 0)
		close(fd);
	return ret;
}
