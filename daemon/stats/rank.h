/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STATS_RANK_H
#define LABD_STATS_RANK_H

#include <stddef.h>

/* Values of one arm that the exact tests take. */
#define RANK_MAX_N 100

int rank_test(const double *base, size_t n_base, const double *arm, size_t n_arm, double *ret_p);
double rank_test_floor(size_t n_base, size_t n_arm);
int rank_distribution(size_t n_base, size_t n_arm, double *ret_cdf);
int signed_rank_test(const double *differences, size_t n, double *ret_p);
int signed_rank_distribution(size_t n, double *ret_cdf);
double signed_rank_floor(size_t n);

#endif
