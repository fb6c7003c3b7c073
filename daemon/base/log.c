// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/log.h"

static enum log_level max_level = LOG_LEVEL_INFO;

/** log_set_level() - drop what is less important than @max; call before threads start */
void log_set_level(enum log_level max)
{
	max_level = max;
}

/** log_print() - one line; a line longer than 1 KiB is cut, so that it goes out by one write */
void log_print(enum log_level level, const char *fmt, ...)
{
	char line[1024];
	va_list args;
	size_t len = 0;
	int n;

	if (level > max_level)
		return;
	if (!isatty(STDERR_FILENO))
		len = snprintf(line, sizeof(line), "<%d>", level);
	va_start(args, fmt);
	n = vsnprintf(line + len, sizeof(line) - len - 1, fmt, args);
	va_end(args);
	if (n < 0)
		return;
	len += n;
	if (len > sizeof(line) - 2)
		len = sizeof(line) - 2;
	line[len++] = '\n';
	/* Nothing can be done about a log that cannot be written. */
	if (write(STDERR_FILENO, line, len) < 0)
		return;
}
