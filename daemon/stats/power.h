/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STATS_POWER_H
#define LABD_STATS_POWER_H

#include <stddef.h>

/* The share of experiments that find an effect which is called detectable. */
#define POWER_WANTED 0.8

int power_rank(size_t n, double alpha, double shift_sd, double *ret_power);
int power_detectable_sd(size_t n, double alpha, double *ret_sd);
int power_detectable_paired_sd(size_t n, double alpha, double *ret_sd);

#endif
