/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STATS_VERDICT_H
#define LABD_STATS_VERDICT_H

#include <stddef.h>

enum verdict {
	VERDICT_NONE, /* descriptive: not in the plan's family */
	VERDICT_IMPROVED,
	VERDICT_REGRESSED,
	VERDICT_NO_CHANGE, /* none larger than @no_larger */
	VERDICT_INCONCLUSIVE,
};

/**
 * struct verdict_input - what a verdict is made from; NAN stands for what is not known
 * @better: -1 lower is better, 1 higher is better
 * @n: pairs used
 * @n_planned: rounds of the plan
 * @alpha: of the whole family
 * @p: of the plan's primary test, raw
 * @p_floor: the smallest p that @n pairs can reach
 * @p_holm: corrected over the family
 * @family_size: comparisons in the family; 0 for a comparison outside it
 * @delta: median(arm) / median(base) - 1; NAN when the base's median is 0
 * @shift: Hodges-Lehmann, in the metric's unit; its sign is the direction, 0 where there is none
 * @change_low, @change_high: its interval as fractions of the base's median
 * @floor: the machine's A/A floor, a fraction
 * @margin: a change that is small enough to be none, a fraction; NAN when the plan names none
 * @detectable: the smallest change that this design finds POWER_WANTED of the time, a fraction
 */
struct verdict_input {
	int better;
	size_t n;
	size_t n_planned;
	double alpha;
	double p;
	double p_floor;
	double p_holm;
	size_t family_size;
	double delta;
	double shift;
	double change_low;
	double change_high;
	double floor;
	double margin;
	double detectable;
};

#define VERDICT_TEXT_MAX 64
#define VERDICT_WHY_MAX 256

/**
 * struct verdict_result - a verdict in words
 * @text: "improved", "regressed", "no change larger than 1.8 %", "inconclusive", or "" for none
 * @why: one sentence for a person: what decided it; "" without a verdict
 * @no_larger: larger end of the shift's interval, a fraction; NAN without one
 */
struct verdict_result {
	enum verdict verdict;
	char text[VERDICT_TEXT_MAX];
	char why[VERDICT_WHY_MAX];
	double no_larger;
};

void verdict_make(const struct verdict_input *input, struct verdict_result *ret_result);

#endif
