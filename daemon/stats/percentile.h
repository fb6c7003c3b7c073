/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STATS_PERCENTILE_H
#define LABD_STATS_PERCENTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Below this many values a p99.9 is the maximum under another name, and is refused. */
#define P999_MIN_N 1000
/* From this many values a distribution-free two-sided 95 % interval for p99.9 exists. */
#define P999_INTERVAL_N 3688

void sort_i64(int64_t *values, size_t n);
size_t nearest_rank(size_t n, unsigned int per_mille);
int percentile_i64(const int64_t *sorted, size_t n, unsigned int per_mille, int64_t *ret_value);
int median_i64(const int64_t *sorted, size_t n, double *ret_median);
int median_f64(double *values, size_t n, double *ret_median);
int p999_interval(size_t n, size_t *ret_low_rank, size_t *ret_high_rank);

#endif
