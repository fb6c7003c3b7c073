/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STORE_DATADIR_H
#define LABD_STORE_DATADIR_H

#include <stdint.h>

#define TOKEN_HEX_LEN 64

int datadir_open(const char *data_dir, int *ret_lock_fd);
int datadir_token(const char *data_dir, char ret_token[TOKEN_HEX_LEN + 1]);
int64_t datadir_free_bytes(const char *data_dir);

#endif
