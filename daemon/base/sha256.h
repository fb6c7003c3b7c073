/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BASE_SHA256_H
#define LABD_BASE_SHA256_H

#include <stddef.h>

#define SHA256_HEX_LEN 64

void sha256_hex(const void *data, size_t len, char ret_hex[SHA256_HEX_LEN + 1]);
int sha256_file_hex(const char *path, char ret_hex[SHA256_HEX_LEN + 1]);

#endif
