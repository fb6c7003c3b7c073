// SPDX-License-Identifier: GPL-2.0-only
/*
 * The grant workloads' pure parts: grant-churn's command line, and what a seed decides.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "xen/workload/churn/options.h"
#include "xen/workload/common/pattern.h"

#define MAX_WORDS 16

static char message[200];

/* Parses @line, split at blanks, as the arguments after the program's name. */
static int parse(const char *line, const char *env_seed, struct gchurn_options *o)
{
	char buf[256], *argv[MAX_WORDS + 2] = {"grant-churn"};
	int argc = 1;

	ck_assert_uint_lt(strlen(line), sizeof(buf));
	strcpy(buf, line);
	for (char *word = strtok(buf, " "); word && argc <= MAX_WORDS; word = strtok(NULL, " "))
		argv[argc++] = word;
	message[0] = '\0';
	return gchurn_options_parse(argc, argv, env_seed, o, message, sizeof(message));
}

static struct gchurn_options parsed(const char *line, const char *env_seed)
{
	struct gchurn_options o;

	ck_assert_msg(!parse(line, env_seed, &o), "%s: %s", line, message);
	return o;
}

START_TEST(defaults)
{
	struct gchurn_options o = parsed("--batch 32", NULL);

	ck_assert_uint_eq(o.batch, 32);
	ck_assert_uint_eq(o.batches, 100);
	ck_assert_uint_eq(o.warmup, 10);
	ck_assert_uint_eq(o.seed, 1);
	ck_assert(o.check && !o.watch && !o.leaks_ok && !o.help);
}
END_TEST

START_TEST(everything)
{
	struct gchurn_options o = parsed("--batch 1024 --batches 50000 --warmup 0 --watch "
					 "--leaks-ok --seed 18446744073709551615",
					 "7");

	ck_assert_uint_eq(o.batch, 1024);
	ck_assert_uint_eq(o.batches, 50000);
	ck_assert_uint_eq(o.warmup, 0);
	ck_assert_uint_eq(o.seed, UINT64_MAX);
	ck_assert(o.check && o.watch && o.leaks_ok);

	ck_assert(!parsed("--batch 1 --no-check", NULL).check);
	ck_assert_uint_eq(parsed("--batch 1", "7").seed, 7);
	ck_assert(parsed("--help", NULL).help);
}
END_TEST

static const struct {
	const char *line;
	const char *env_seed;
	const char *sentence;
} mistakes[] = {
	{"", NULL, "--batch is missing"},
	{"--batch 0", NULL, "--batch must be a number from 1 to 1024, not \"0\""},
	{"--batch 1025", NULL, "--batch must be a number from 1 to 1024, not \"1025\""},
	{"--batch 0x8", NULL, "--batch must be a number from 1 to 1024, not \"0x8\""},
	{"--batch 8 --batches 50001", NULL,
	 "--batches must be a number from 1 to 50000, not \"50001\""},
	{"--batch 8 --warmup -1", NULL, "--warmup must be a number from 0 to 50000, not \"-1\""},
	{"--batch 8 --watch --no-check", NULL, "--watch is a check, it cannot go with --no-check"},
	{"--batch", NULL, "--batch needs a value"},
	{"--bathc 8", NULL, "--bathc is not an option, or takes no value"},
	{"--batch 8 16", NULL, "\"16\" is not an option"},
	{"--batch 8 --seed x", NULL, "--seed must be from 0 to 2^64-1, not \"x\""},
	{"--batch 8", "0x1", "LABD_SEED must be a number from 0 to 2^64-1, not \"0x1\""},
};

START_TEST(one_sentence_per_mistake)
{
	struct gchurn_options o = {.batch = 77};

	ck_assert_int_eq(parse(mistakes[_i].line, mistakes[_i].env_seed, &o), -EINVAL);
	ck_assert_str_eq(message, mistakes[_i].sentence);
	ck_assert_uint_eq(o.batch, 77);
}
END_TEST

static const unsigned int sizes[] = {1, 2, 8, 32, 1024};

/* Every batch has all pages of its third once, and none of the batch before. */
START_TEST(batches_take_turns)
{
	unsigned int n = sizes[_i], pages[1024];

	for (uint64_t batch = 0; batch < 7; batch++) {
		bool seen[1024] = {};

		gnt_batch_pages(42, batch, n, pages);
		for (unsigned int i = 0; i < n; i++) {
			ck_assert_uint_eq(pages[i] / n, batch % 3);
			ck_assert(!seen[pages[i] % n]);
			seen[pages[i] % n] = true;
		}
	}
}
END_TEST

START_TEST(order_is_a_function_of_the_seed)
{
	unsigned int a[32], b[32];

	gnt_batch_pages(1, 5, 32, a);
	gnt_batch_pages(1, 5, 32, b);
	ck_assert(!memcmp(a, b, sizeof(a)));
	gnt_batch_pages(2, 5, 32, b);
	ck_assert(memcmp(a, b, sizeof(a)));
	gnt_batch_pages(1, 8, 32, b);
	ck_assert(memcmp(a, b, sizeof(a)));
}
END_TEST

/* Another page, another turn, another seed: not one word may look right. */
START_TEST(contents_belong_to_one_page_and_turn)
{
	uint64_t page[GNT_PAGE / sizeof(uint64_t)] = {};

	ck_assert_uint_eq(gnt_pattern_check(1, 0, 0, page), GNT_WORDS);
	gnt_pattern_write(1, 3, 10, page);
	ck_assert_uint_eq(gnt_pattern_check(1, 3, 10, page), 0);
	ck_assert_uint_eq(gnt_pattern_check(1, 4, 10, page), GNT_WORDS);
	ck_assert_uint_eq(gnt_pattern_check(1, 3, 11, page), GNT_WORDS);
	ck_assert_uint_eq(gnt_pattern_check(2, 3, 10, page), GNT_WORDS);
	page[0] ^= 1;
	ck_assert_uint_eq(gnt_pattern_check(1, 3, 10, page), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("grant-churn");
	TCase *options = tcase_create("options");
	TCase *pattern = tcase_create("pattern");
	SRunner *runner;
	int failed;

	tcase_add_test(options, defaults);
	tcase_add_test(options, everything);
	tcase_add_loop_test(options, one_sentence_per_mistake, 0,
			    sizeof(mistakes) / sizeof(mistakes[0]));
	suite_add_tcase(suite, options);

	tcase_add_loop_test(pattern, batches_take_turns, 0, sizeof(sizes) / sizeof(sizes[0]));
	tcase_add_test(pattern, order_is_a_function_of_the_seed);
	tcase_add_test(pattern, contents_belong_to_one_page_and_turn);
	suite_add_tcase(suite, pattern);

	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
