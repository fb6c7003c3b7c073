/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_CAPTURE_CONVERT_H
#define LABD_CAPTURE_CONVERT_H

#include <stddef.h>

int capture_copy(const char *from, const char *to, char *ret_error, size_t size);
int capture_to_v6(const char *from, const char *to, char *ret_error, size_t error_size);

#endif
