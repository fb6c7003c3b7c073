// SPDX-License-Identifier: GPL-2.0-only
/* Numbers for people. Pure. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "http/numfmt.h"

/* More digits than this before the point are hard to read beside each other. */
#define DIGITS_MAX 1e6

static const struct {
	double divisor;
	const char *unit;
} times[] = {
	{1e9, "s"},
	{1e6, "ms"},
	{1e3, "us"},
	{1, "ns"},
};

static void range(const double *values, size_t n, double *ret_min, double *ret_max, int *ret_whole)
{
	*ret_min = INFINITY;
	*ret_max = 0;
	*ret_whole = 1;
	for (size_t i = 0; i < n; i++) {
		double size = fabs(values[i]);

		if (!isfinite(size) || size == 0)
			continue;
		if (size < *ret_min)
			*ret_min = size;
		if (size > *ret_max)
			*ret_max = size;
		if (size != floor(size))
			*ret_whole = 0;
	}
}

/**
 * num_scale_choose() - one scale for all numbers of a table
 * @unit: of the values: "ns" is scaled to what reads well, "1" (a count) is not written
 * @values: all that the table shows; zeros do not matter
 */
void num_scale_choose(struct num_scale *ret_scale, const char *unit, const double *values, size_t n)
{
	double min, max;
	int whole;

	range(values, n, &min, &max, &whole);
	ret_scale->divisor = 1;
	snprintf(ret_scale->unit, sizeof(ret_scale->unit), "%s", strcmp(unit, "1") ? unit : "");
	if (!strcmp(unit, "ns")) {
		size_t i = 0;

		/* The largest unit in which the smallest number is at least 1, unless the largest
		 * gets unwieldy. */
		while (i + 1 < ARRAY_SIZE(times) && min / times[i].divisor < 1 &&
		       max / times[i + 1].divisor < DIGITS_MAX)
			i++;
		ret_scale->divisor = times[i].divisor;
		snprintf(ret_scale->unit, sizeof(ret_scale->unit), "%s",
			 max > 0 ? times[i].unit : "ns");
		whole = ret_scale->divisor == 1 && whole;
	}
	min /= ret_scale->divisor;
	if (whole || max / ret_scale->divisor >= DIGITS_MAX)
		ret_scale->decimals = 0;
	else
		ret_scale->decimals = min >= 1000 ? 0 : min >= 100 ? 1 : min >= 1 ? 2 : 3;
}

/** num_format() - a value in its table's scale */
void num_format(char ret_text[NUMFMT_MAX], const struct num_scale *scale, double value)
{
	double scaled = value / scale->divisor;

	if (fabs(scaled) < 1e15)
		snprintf(ret_text, NUMFMT_MAX, "%.*f", scaled == 0 ? 0 : scale->decimals, scaled);
	else
		snprintf(ret_text, NUMFMT_MAX, "%.6g", scaled);
}

/** num_delta() - a signed fraction as per cent: -0.846 is "-84.6%" */
void num_delta(char ret_text[NUMFMT_MAX], double fraction)
{
	double percent = fraction * 100;

	if (fabs(percent) < 0.05)
		snprintf(ret_text, NUMFMT_MAX, "0.0%%");
	else if (fabs(percent) < 9999.95)
		snprintf(ret_text, NUMFMT_MAX, "%+.1f%%", percent);
	else
		snprintf(ret_text, NUMFMT_MAX, "x%.4g", fraction + 1);
}

/** num_change() - an interval of signed fractions: "-85.1..-84.0%", "-" when an end is NAN */
void num_change(char ret_text[NUMFMT_MAX], double low, double high)
{
	if (isnan(low) || isnan(high))
		snprintf(ret_text, NUMFMT_MAX, "-");
	else if (fabs(low) < 99.9995 && fabs(high) < 99.9995)
		snprintf(ret_text, NUMFMT_MAX, "%+.1f..%+.1f%%", 100 * low, 100 * high);
	else
		snprintf(ret_text, NUMFMT_MAX, "x%.4g..x%.4g", low + 1, high + 1);
}

/** num_percent() - a fraction that has no direction, or "-" for NAN: 0.0182 is "1.82 %" */
void num_percent(char ret_text[NUMFMT_MAX], double fraction)
{
	double percent = fraction * 100;

	if (isnan(fraction))
		snprintf(ret_text, NUMFMT_MAX, "-");
	else
		snprintf(ret_text, NUMFMT_MAX, "%.3g %%", percent);
}

/** num_p() - a probability as tables have it: ".0079", "1.1e-05", "1"; "-" for NAN */
void num_p(char ret_text[NUMFMT_MAX], double p)
{
	char text[NUMFMT_MAX];

	if (isnan(p))
		snprintf(ret_text, NUMFMT_MAX, "-");
	else if (p > 0 && p < 0.001)
		snprintf(ret_text, NUMFMT_MAX, "%.1e", p);
	else if (p >= 0.99995)
		snprintf(ret_text, NUMFMT_MAX, "%.4g", p);
	else {
		snprintf(text, sizeof(text), "%.4f", p);
		snprintf(ret_text, NUMFMT_MAX, "%s", text + 1);
	}
}

/** num_exact() - the fewest digits that read back as the very same double */
void num_exact(char ret_text[NUMFMT_MAX], double value)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(ret_text, NUMFMT_MAX, "%.*g", digits, value);
		if (strtod(ret_text, NULL) == value)
			return;
	}
}

/** num_duration() - "9 min 19 s", "3.5 s", "250 ms" */
void num_duration(char ret_text[NUMFMT_MAX], int64_t ns)
{
	long long s = (long long)((ns + 500000000) / 1000000000);

	if (ns < 1000000000)
		snprintf(ret_text, NUMFMT_MAX, "%lld ms", (long long)(ns / 1000000));
	else if (ns < 60000000000)
		snprintf(ret_text, NUMFMT_MAX, "%.1f s", (double)ns / 1e9);
	else if (s < 3600)
		snprintf(ret_text, NUMFMT_MAX, "%lld min %lld s", s / 60, s % 60);
	else
		snprintf(ret_text, NUMFMT_MAX, "%lld h %lld min", s / 3600, s / 60 % 60);
}
