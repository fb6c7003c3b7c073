// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run's surroundings: dom0's trace, the clock, and the signals that end a run early.
 */
#include "tracing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

/**
 * gnt_tracing - turn the Linux trace of this run off or on
 * @on: whether events are recorded from here on
 *
 * Does nothing where nobody traces, that is without LABD_TRACING_ON in the environment. Xen's own
 * trace is not affected.
 *
 * Return: 0 or a negative errno, printed.
 */
int gnt_tracing(bool on)
{
	const char *path = getenv("LABD_TRACING_ON");
	int fd, ret = 0;

	if (!path)
		return 0;
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, on ? "1" : "0", 1) != 1) {
		ret = -errno;
		fprintf(stderr, "tracing: %s: %m\n", path);
	}
	if (fd >= 0)
		close(fd);
	return ret;
}

static void on_signal(int sig)
{
	(void)sig;
	stopped = 1;
}

/**
 * gnt_catch_signals - let the signals that ask a program to end only raise a mark
 *
 * A domain outlives the program that made it, so the run must come to its clean-up.
 */
void gnt_catch_signals(void)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGHUP};
	struct sigaction action = {.sa_handler = on_signal};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		sigaction(signals[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

/**
 * gnt_stopped - whether a signal asked the run to end
 *
 * Return: true from the first such signal on.
 */
bool gnt_stopped(void)
{
	return stopped;
}

/**
 * gnt_now_ns - the clock that everything is timed by
 *
 * Return: CLOCK_MONOTONIC in nanoseconds.
 */
uint64_t gnt_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * UINT64_C(1000000000) + now.tv_nsec;
}
