/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_HTTP_NUMFMT_H
#define LABD_HTTP_NUMFMT_H

#include <stddef.h>
#include <stdint.h>

#define NUMFMT_MAX 32

/**
 * struct num_scale - how the numbers of one table are written
 * @divisor: what a value is divided by
 * @unit: written once, in the table's title; "" for plain numbers
 * @decimals: behind the point
 */
struct num_scale {
	double divisor;
	char unit[24];
	int decimals;
};

void num_scale_choose(struct num_scale *ret_scale, const char *unit, const double *values,
		      size_t n);
void num_format(char ret_text[NUMFMT_MAX], const struct num_scale *scale, double value);
void num_delta(char ret_text[NUMFMT_MAX], double fraction);
void num_change(char ret_text[NUMFMT_MAX], double low, double high);
void num_percent(char ret_text[NUMFMT_MAX], double fraction);
void num_p(char ret_text[NUMFMT_MAX], double p);
void num_exact(char ret_text[NUMFMT_MAX], double value);
void num_duration(char ret_text[NUMFMT_MAX], int64_t ns);

#endif
