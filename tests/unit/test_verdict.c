// SPDX-License-Identifier: GPL-2.0-only
/* The four verdicts: which numbers make which, and the sentence that goes with it. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "base/util.h"
#include "stats/verdict.h"

/* Each case is one of the two below with some numbers changed. */
#pragma GCC diagnostic ignored "-Woverride-init"

/* A clear change downwards of a metric that is better when lower: 5 v 5, family of 3. */
#define CLEAR                                                                                 \
	.better = -1, .n = 5, .n_planned = 5, .alpha = .05, .p = .0079, .p_floor = 2 / 252.0, \
	.p_holm = .0238, .family_size = 3, .delta = -.846, .shift = -3e6, .change_low = -.9,  \
	.change_high = -.8, .floor = .012, .margin = NAN, .detectable = .023

/* Nothing seen. */
#define QUIET                                                                               \
	.better = -1, .n = 5, .n_planned = 5, .alpha = .05, .p = .42, .p_floor = 2 / 252.0, \
	.p_holm = .84, .family_size = 3, .delta = .004, .shift = 10, .change_low = -.018,   \
	.change_high = .011, .floor = .012, .margin = .02, .detectable = .023

#define P_WITHIN "Holm's p 0.0238 is within alpha 0.05"
#define SMALLEST "; smallest detectable change: 2.3 %."

static const struct {
	struct verdict_input input;
	enum verdict verdict;
	const char *text;
	const char *why;
	double no_larger;
} cases[] = {
	{{CLEAR},
	 VERDICT_IMPROVED,
	 "improved",
	 P_WITHIN ", and the change of -84.6 % is beyond the A/A floor of 1.2 %.",
	 .9},
	{{CLEAR, .better = 1},
	 VERDICT_REGRESSED,
	 "regressed",
	 P_WITHIN ", and the change of -84.6 % is beyond the A/A floor of 1.2 %.",
	 .9},
	{{CLEAR, .delta = .3, .shift = 1},
	 VERDICT_REGRESSED,
	 "regressed",
	 P_WITHIN ", and the change of +30 % is beyond the A/A floor of 1.2 %.",
	 .9},
	{{CLEAR, .delta = 20.5, .shift = 1, .better = 1},
	 VERDICT_IMPROVED,
	 "improved",
	 P_WITHIN ", and the change of +2050 % is beyond the A/A floor of 1.2 %.",
	 .9},
	{{CLEAR, .floor = NAN},
	 VERDICT_IMPROVED,
	 "improved",
	 P_WITHIN ", and the change is -84.6 % (noise floor unknown).",
	 .9},
	/* Exactly alpha is within, exactly the floor is not beyond. */
	{{CLEAR, .p_holm = .05},
	 VERDICT_IMPROVED,
	 "improved",
	 "Holm's p 0.05 is within alpha 0.05, and the change of -84.6 % is beyond the A/A floor of 1.2 %.",
	 .9},
	{{CLEAR, .floor = .846},
	 VERDICT_INCONCLUSIVE,
	 "inconclusive",
	 P_WITHIN ", but the change of -84.6 % is within the A/A floor of 84.6 %" SMALLEST,
	 .9},
	/* The corrected p decides, not the raw one. */
	{{CLEAR, .p_holm = .0501},
	 VERDICT_INCONCLUSIVE,
	 "inconclusive",
	 "Holm's p 0.0501 is above alpha 0.05" SMALLEST,
	 .9},
	{{CLEAR, .family_size = 0, .p_holm = NAN}, VERDICT_NONE, "", "", .9},
	{{CLEAR, .shift = 0},
	 VERDICT_INCONCLUSIVE,
	 "inconclusive",
	 P_WITHIN ", but the change has no clear direction" SMALLEST,
	 .9},
	/* A base of 0: a direction, and no fraction of anything. */
	{{CLEAR, .delta = NAN, .change_low = NAN, .change_high = NAN, .floor = NAN},
	 VERDICT_IMPROVED,
	 "improved",
	 P_WITHIN
	 ", and the base's median is 0, so that there is no change in % (noise floor unknown).",
	 NAN},
	{{CLEAR, .delta = NAN, .change_low = NAN, .change_high = NAN, .detectable = NAN},
	 VERDICT_INCONCLUSIVE,
	 "inconclusive",
	 P_WITHIN
	 ", but the base's median is 0, so that there is no change in % to hold against the A/A floor "
	 "of 1.2 %; smallest detectable change: unknown.",
	 NAN},

	{{QUIET},
	 VERDICT_NO_CHANGE,
	 "no change larger than 1.8 %",
	 "The shift's interval lies within 1.8 % of the base's median, and the margin is 2 %.",
	 .018},
	{{QUIET, .margin = .018},
	 VERDICT_NO_CHANGE,
	 "no change larger than 1.8 %",
	 "The shift's interval lies within 1.8 % of the base's median, and the margin is 1.8 %.",
	 .018},
	{{QUIET, .margin = .017},
	 VERDICT_INCONCLUSIVE,
	 "inconclusive",
	 "Holm's p 0.84 is above alpha 0.05, the interval reaches 1.8 % and the margin is 1.7 %" SMALLEST,
	 .018},
	/* Never from a large p alone. */
	{{QUIET, .margin = NAN},
	 VERDICT_INCONCLUSIVE,
	 "inconclusive",
	 "Holm's p 0.84 is above alpha 0.05" SMALLEST,
	 .018},
	{{QUIET, .change_low = NAN, .change_high = NAN},
	 VERDICT_INCONCLUSIVE,
	 "inconclusive",
	 "Holm's p 0.84 is above alpha 0.05" SMALLEST,
	 NAN},
	/* The upper end counts too. */
	{{QUIET, .change_high = .05},
	 VERDICT_INCONCLUSIVE,
	 "inconclusive",
	 "Holm's p 0.84 is above alpha 0.05, the interval reaches 5 % and the margin is 2 %" SMALLEST,
	 .05},
	/* A small p within the floor, and within the margin as well. */
	{{QUIET, .p_holm = .0238},
	 VERDICT_NO_CHANGE,
	 "no change larger than 1.8 %",
	 "The shift's interval lies within 1.8 % of the base's median, and the margin is 2 %.",
	 .018},

	/* Void pairs have left too few. */
	{{QUIET, .n = 3, .p_floor = .1, .margin = NAN, .detectable = NAN},
	 VERDICT_INCONCLUSIVE,
	 "inconclusive",
	 "3 of 5 planned pairs are too few: the smallest p of theirs is 0.1, times 3 comparisons 0.3, "
	 "above alpha 0.05; smallest detectable change: unknown.",
	 .018},
	{{QUIET, .n = 3, .p_floor = .1, .family_size = 1, .margin = NAN},
	 VERDICT_INCONCLUSIVE,
	 "inconclusive",
	 "3 of 5 planned pairs are too few: the smallest p of theirs is 0.1, above alpha 0.05" SMALLEST,
	 .018},
	{{QUIET, .n = 0, .p = NAN, .p_floor = 1, .p_holm = 1, .delta = NAN, .shift = NAN,
	  .change_low = NAN, .change_high = NAN, .detectable = NAN},
	 VERDICT_INCONCLUSIVE,
	 "inconclusive",
	 "No pair has a value of both arms, of 5 planned.",
	 NAN},
};

START_TEST(verdicts)
{
	struct verdict_result result;

	verdict_make(&cases[_i].input, &result);
	ck_assert_str_eq(result.why, cases[_i].why);
	ck_assert_str_eq(result.text, cases[_i].text);
	ck_assert_int_eq(result.verdict, cases[_i].verdict);
	if (isnan(cases[_i].no_larger))
		ck_assert_double_nan(result.no_larger);
	else
		ck_assert_double_eq(result.no_larger, cases[_i].no_larger);
}
END_TEST

/* The longest numbers there are leave no sentence without its end. */
START_TEST(sentences_fit)
{
	struct verdict_input input = {CLEAR,
				      .p_holm = 1.23e-100,
				      .delta = -123456789012.,
				      .n = 100,
				      .n_planned = 100,
				      .floor = 987654321098.,
				      .alpha = 1.2345e-10,
				      .margin = 123456789.,
				      .change_low = -1e12,
				      .detectable = 1e12};
	struct verdict_result result;

	for (int i = 0; i < 2; i++) {
		verdict_make(&input, &result);
		ck_assert_int_eq(result.verdict, VERDICT_INCONCLUSIVE);
		ck_assert_uint_lt(strlen(result.why), sizeof(result.why) - 1);
		ck_assert_int_eq(result.why[strlen(result.why) - 1], '.');
		input.p_holm = .123456;
		input.p_floor = 1.2345e-10;
		input.family_size = 2048;
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("verdict");
	TCase *tcase = tcase_create("verdict");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_loop_test(tcase, verdicts, 0, ARRAY_SIZE(cases));
	tcase_add_test(tcase, sentences_fit);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
