// SPDX-License-Identifier: GPL-2.0-only
/*
 * From numbers to one of four words, and the sentence that says why. A p above alpha is never taken
 * for "nothing happened": only an interval that lies within the plan's margin is. Pure.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "stats/verdict.h"

#define PERCENT_MAX 32
#define PART_MAX 160

/* "1.8 %"; with @sign "+1.8 %". */
static const char *percent(char text[PERCENT_MAX], double fraction, bool sign)
{
	double value = 100 * fraction;

	if (fabs(value) >= 1000)
		snprintf(text, PERCENT_MAX, sign ? "%+.0f %%" : "%.0f %%", value);
	else
		snprintf(text, PERCENT_MAX, sign ? "%+.3g %%" : "%.3g %%", value);
	return text;
}

/* By the floor's own measure: the distance of a ratio from 1. */
static bool beats_floor(const struct verdict_input *in)
{
	return isnan(in->floor) || fabs(in->delta) > in->floor;
}

/* The change beside the machine's own noise: what makes a small p a verdict, or takes it away. */
static void tell_floor(const struct verdict_input *in, char text[PART_MAX])
{
	char delta[PERCENT_MAX], floor[PERCENT_MAX];

	percent(delta, in->delta, true);
	percent(floor, in->floor, false);
	if (isnan(in->delta))
		snprintf(text, PART_MAX,
			 "the base's median is 0, so that there is no change in %% %s%s",
			 isnan(in->floor) ? "(noise floor unknown"
					  : "to hold against the A/A floor of ",
			 isnan(in->floor) ? ")" : floor);
	else if (isnan(in->floor))
		snprintf(text, PART_MAX, "the change is %s (noise floor unknown)", delta);
	else
		snprintf(text, PART_MAX, "the change of %s is %s the A/A floor of %s", delta,
			 beats_floor(in) ? "beyond" : "within", floor);
}

/* Too few pairs for any p that would do, or a p that is above alpha. */
static void tell_p(const struct verdict_input *in, char text[PART_MAX])
{
	double family_floor = in->p_floor * (double)in->family_size;
	char times[64] = "";

	if (isnan(in->p_holm)) {
		snprintf(text, PART_MAX, "The test has no p");
	} else if (in->p_floor > in->alpha ||
		   (family_floor > in->alpha &&
		    in->p_holm >= fmin(1, in->p * (double)in->family_size))) {
		/* The second: of a family's p, only the smallest is multiplied by its size. */
		if (in->family_size > 1)
			snprintf(times, sizeof(times), ", times %zu comparisons %.3g",
				 in->family_size, family_floor);
		snprintf(
			text, PART_MAX,
			"%zu of %zu planned pairs are too few: the smallest p of theirs is %.3g%s, "
			"above alpha %g",
			in->n, in->n_planned, in->p_floor, times, in->alpha);
	} else {
		snprintf(text, PART_MAX, "Holm's p %.3g is above alpha %g", in->p_holm, in->alpha);
	}
}

/* Why the interval does not say that nothing changed either. */
static void tell_margin(const struct verdict_input *in, double no_larger, char text[PART_MAX])
{
	char larger[PERCENT_MAX], margin[PERCENT_MAX];

	*text = '\0';
	if (isnan(in->margin) || isnan(no_larger))
		return;
	snprintf(text, PART_MAX, ", the interval reaches %s and the margin is %s",
		 percent(larger, no_larger, false), percent(margin, in->margin, false));
}

static void inconclusive(const struct verdict_input *in, bool significant,
			 struct verdict_result *result)
{
	char first[PART_MAX], second[PART_MAX] = "", margin[PART_MAX], detectable[PERCENT_MAX];

	result->verdict = VERDICT_INCONCLUSIVE;
	snprintf(result->text, sizeof(result->text), "inconclusive");
	if (!in->n) {
		snprintf(result->why, sizeof(result->why),
			 "No pair has a value of both arms, of %zu planned.", in->n_planned);
		return;
	}
	if (significant) {
		snprintf(first, sizeof(first), "Holm's p %.3g is within alpha %g, but ", in->p_holm,
			 in->alpha);
		if (beats_floor(in))
			snprintf(second, sizeof(second), "the change has no clear direction");
		else
			tell_floor(in, second);
	} else {
		tell_p(in, first);
	}
	tell_margin(in, result->no_larger, margin);
	if (isnan(in->detectable))
		snprintf(detectable, sizeof(detectable), "unknown");
	else
		percent(detectable, in->detectable, false);
	snprintf(result->why, sizeof(result->why), "%s%s%s; smallest detectable change: %s.", first,
		 second, margin, detectable);
}

/**
 * verdict_make() - judge one comparison by the plan's rules
 *
 * In this order: none outside the family; improved or regressed when the corrected p is within
 * alpha and the change beyond the machine's A/A floor, where that is known; no change larger than
 * the interval's larger end when that is within the margin; else inconclusive.
 */
void verdict_make(const struct verdict_input *in, struct verdict_result *ret_result)
{
	struct verdict_result result = {.verdict = VERDICT_NONE};
	bool significant = in->n && in->p_holm <= in->alpha;
	char text[PART_MAX], larger[PERCENT_MAX], margin[PERCENT_MAX];

	result.no_larger = isnan(in->change_low) || isnan(in->change_high)
				   ? NAN
				   : fmax(fabs(in->change_low), fabs(in->change_high));
	if (!in->family_size) {
		/* Descriptive. */
	} else if (significant && beats_floor(in) && in->better &&
		   (in->shift < 0 || in->shift > 0)) {
		result.verdict =
			(in->shift > 0) == (in->better > 0) ? VERDICT_IMPROVED : VERDICT_REGRESSED;
		snprintf(result.text, sizeof(result.text), "%s",
			 result.verdict == VERDICT_IMPROVED ? "improved" : "regressed");
		tell_floor(in, text);
		snprintf(result.why, sizeof(result.why),
			 "Holm's p %.3g is within alpha %g, and %s.", in->p_holm, in->alpha, text);
	} else if (in->n && result.no_larger <= in->margin) {
		result.verdict = VERDICT_NO_CHANGE;
		percent(larger, result.no_larger, false);
		snprintf(result.text, sizeof(result.text), "no change larger than %s", larger);
		snprintf(
			result.why, sizeof(result.why),
			"The shift's interval lies within %s of the base's median, and the margin is %s.",
			larger, percent(margin, in->margin, false));
	} else {
		inconclusive(in, significant, &result);
	}
	*ret_result = result;
}
