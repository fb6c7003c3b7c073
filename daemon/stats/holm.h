/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STATS_HOLM_H
#define LABD_STATS_HOLM_H

#include <stddef.h>

int holm_adjust(const double *p, size_t n, double *ret_adjusted);

#endif
