/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BASE_UTIL_H
#define LABD_BASE_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

int64_t mono_ns(void);
int64_t wall_ns(void);

int read_file(const char *path, size_t max, char **ret_text, size_t *ret_len);
int read_tail(const char *path, size_t max, char **ret_text, size_t *ret_len, size_t *ret_left_out);
int write_file_atomic(const char *path, const void *data, size_t len, int mode);
int write_all(int fd, const void *data, size_t len);
int sync_dir_of(const char *path);
int make_dir(const char *path, int mode);
int path_beside_program(const char *name, char *ret_path, size_t size);

int random_u64(uint64_t *ret_value);
int random_hex(char *ret_hex, size_t bytes);
void hex_encode(char *ret_hex, const uint8_t *data, size_t len);

int parse_i64(const char *text, int64_t min, int64_t max, int64_t *ret_value);
char *str_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
