/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BASE_LOG_H
#define LABD_BASE_LOG_H

/*
 * Log lines go to stderr; when stderr is no terminal each starts with its syslog level, "<3>",
 * which systemd and most collectors understand.
 */
enum log_level {
	LOG_LEVEL_ERR = 3,
	LOG_LEVEL_WARN = 4,
	LOG_LEVEL_INFO = 6,
	LOG_LEVEL_DEBUG = 7,
};

void log_set_level(enum log_level max);
void log_print(enum log_level level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#define log_err(...) log_print(LOG_LEVEL_ERR, __VA_ARGS__)
#define log_warn(...) log_print(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_print(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_print(LOG_LEVEL_DEBUG, __VA_ARGS__)

#endif
