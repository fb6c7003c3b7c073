// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvm-churn's pure parts: its command line, and what a seed decides.
 */
#include <check.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/workload/options.h"
#include "kernel/workload/schedule.h"

#define MAX_WORDS 24

static char message[200];

/* Parses @line, split at blanks, as the arguments after the program's name. */
static int parse(const char *line, const char *env_seed, struct churn_options *o)
{
	char buf[256], *argv[MAX_WORDS + 2] = {"kvm-churn"};
	int argc = 1;

	ck_assert_uint_lt(strlen(line), sizeof(buf));
	strcpy(buf, line);
	for (char *word = strtok(buf, " "); word && argc <= MAX_WORDS; word = strtok(NULL, " "))
		argv[argc++] = word;
	message[0] = '\0';
	return churn_options_parse(argc, argv, env_seed, o, message, sizeof(message));
}

static struct churn_options parsed(const char *line)
{
	struct churn_options o;

	ck_assert_msg(!parse(line, NULL, &o), "%s: %s", line, message);
	return o;
}

START_TEST(defaults)
{
	struct churn_options o = parsed("--mode same --chunk-mib 16");

	ck_assert_int_eq(o.mode, CHURN_SAME);
	ck_assert_uint_eq(o.chunk_mib, 16);
	ck_assert_uint_eq(o.vcpus, 4);
	ck_assert_uint_eq(o.mem_mib, 1024);
	ck_assert_uint_eq(o.rounds, 400);
	ck_assert_uint_eq(o.period_us, 5000);
	ck_assert_uint_eq(o.work, 4000);
	ck_assert_uint_eq(o.seed, 1);
	ck_assert(!o.writeback && !o.fifo && !o.verify && !o.help);
}
END_TEST

START_TEST(everything)
{
	struct churn_options o =
		parsed("--mode sweep --chunk-mib 1 --vcpus 16 --mem-mib 65536 "
		       "--rounds 100000 --period-us 100 --writeback --fifo --verify "
		       "--seed 18446744073709551615");

	ck_assert_int_eq(o.mode, CHURN_SWEEP);
	ck_assert_str_eq(churn_mode_name(o.mode), "sweep");
	ck_assert_uint_eq(o.vcpus, 16);
	ck_assert_uint_eq(o.mem_mib, 65536);
	ck_assert_uint_eq(o.rounds, 100000);
	ck_assert_uint_eq(o.period_us, 100);
	ck_assert(o.seed == UINT64_MAX);
	ck_assert(o.writeback && o.fifo && o.verify);
}
END_TEST

START_TEST(seed_from_environment)
{
	struct churn_options o;

	ck_assert_int_eq(parse("--mode same --chunk-mib 4", "77", &o), 0);
	ck_assert_uint_eq(o.seed, 77);
	ck_assert_int_eq(parse("--mode same --chunk-mib 4 --seed 5", "77", &o), 0);
	ck_assert_uint_eq(o.seed, 5);
	ck_assert_int_eq(parse("--mode same --chunk-mib 4", "0x7", &o), -EINVAL);
	ck_assert(strstr(message, "LABD_SEED"));
}
END_TEST

START_TEST(help_needs_nothing_else)
{
	ck_assert(parsed("--help").help);
}
END_TEST

/* Each line is one mistake; the message must name @names. */
static const struct {
	const char *line;
	const char *names;
} mistakes[] = {
	{"", "--mode"},
	{"--mode", "--mode"},
	{"--mode both --chunk-mib 16", "both"},
	{"--mode same", "--chunk-mib"},
	{"--mode same --chunk-mib 0", "--chunk-mib"},
	{"--mode same --chunk-mib 1025 --mem-mib 4096", "--chunk-mib"},
	{"--mode same --chunk-mib 16x", "16x"},
	{"--mode same --chunk-mib -1", "-1"},
	{"--mode same --chunk-mib +1", "+1"},
	{"--mode same --chunk-mib 0x10", "0x10"},
	{"--mode same --chunk-mib 16 --vcpus 0", "--vcpus"},
	{"--mode same --chunk-mib 16 --vcpus 17", "--vcpus"},
	{"--mode same --chunk-mib 1 --mem-mib 1", "--mem-mib"},
	{"--mode same --chunk-mib 1 --mem-mib 3", "--mem-mib"},
	{"--mode same --chunk-mib 16 --mem-mib 8", "--mem-mib"},
	{"--mode sweep --chunk-mib 3", "multiple"},
	{"--mode same --chunk-mib 16 --rounds 0", "--rounds"},
	{"--mode same --chunk-mib 16 --rounds 100001", "--rounds"},
	{"--mode same --chunk-mib 16 --rounds 99999999999999999999999", "--rounds"},
	{"--mode same --chunk-mib 16 --period-us 99", "--period-us"},
	{"--mode same --chunk-mib 16 --period-us 1000001", "--period-us"},
	{"--mode same --chunk-mib 16 --work 1000001", "--work"},
	{"--mode same --chunk-mib 16 --seed 18446744073709551616", "--seed"},
	{"--mode same --chunk-mib 16 --verify=1", "--verify"},
	{"--mode same --chunk-mib 16 --turbo", "--turbo"},
	{"--mode same --chunk-mib 16 -v", "-v"},
	{"--mode same --chunk-mib 16 more", "more"},
};

START_TEST(one_sentence_per_mistake)
{
	struct churn_options o, untouched;

	memset(&o, 0x5a, sizeof(o));
	memset(&untouched, 0x5a, sizeof(untouched));
	ck_assert_int_eq(parse(mistakes[_i].line, NULL, &o), -EINVAL);
	ck_assert_msg(strstr(message, mistakes[_i].names), "\"%s\" does not name %s", message,
		      mistakes[_i].names);
	ck_assert_mem_eq(&o, &untouched, sizeof(o));
}
END_TEST

START_TEST(same_chunk_is_aligned_and_inside)
{
	static const unsigned int chunks[] = {1, 2, 3, 4, 16, 63, 64};
	struct churn_options o = parsed("--mode same --chunk-mib 1 --mem-mib 64");
	uint64_t seen = 0;

	o.chunk_mib = chunks[_i];
	for (o.seed = 0; o.seed < 2000; o.seed++) {
		struct churn_schedule s;
		uint64_t offset;

		churn_schedule_init(&s, &o);
		offset = churn_schedule_offset(&s, 0);
		ck_assert_uint_eq(offset % CHURN_TABLE, 0);
		ck_assert_uint_le(offset + o.chunk_mib * CHURN_MIB, 64 * CHURN_MIB);
		ck_assert_uint_eq(churn_schedule_offset(&s, 399), offset);
		seen |= UINT64_C(1) << (offset / CHURN_TABLE);
	}
	/* The seed reaches each place where the chunk fits. */
	ck_assert_uint_eq(seen, (UINT64_C(1) << ((64 - chunks[_i]) / 2 + 1)) - 1);
}
END_TEST

START_TEST(sweep_visits_each_chunk_once_a_turn)
{
	struct churn_options o = parsed("--mode sweep --chunk-mib 4 --mem-mib 128");

	for (o.seed = 0; o.seed < 50; o.seed++) {
		struct churn_schedule s;
		uint64_t seen = 0;

		churn_schedule_init(&s, &o);
		for (unsigned int round = 0; round < 32; round++) {
			uint64_t offset = churn_schedule_offset(&s, round);

			ck_assert_uint_eq(offset % (4 * CHURN_MIB), 0);
			ck_assert_uint_lt(offset, 128 * CHURN_MIB);
			ck_assert_uint_eq(offset, churn_schedule_offset(&s, round + 32));
			ck_assert_uint_eq(churn_schedule_offset(&s, round + 1),
					  (offset + 4 * CHURN_MIB) % (128 * CHURN_MIB));
			seen |= UINT64_C(1) << (offset / (4 * CHURN_MIB));
		}
		ck_assert_uint_eq(seen, 0xffffffff);
	}
}
END_TEST

START_TEST(start_is_a_function_of_the_seed)
{
	struct churn_options o = parsed("--mode same --chunk-mib 16 --vcpus 8");
	unsigned int order[8], again[8], different = 0;

	for (o.seed = 1; o.seed < 200; o.seed++) {
		unsigned int seen = 0;

		churn_start_order(&o, order);
		churn_start_order(&o, again);
		ck_assert_mem_eq(order, again, sizeof(order));
		for (unsigned int i = 0; i < 8; i++) {
			ck_assert_uint_lt(churn_start_page(&o, i), 262144);
			ck_assert_uint_lt(order[i], 8);
			seen |= 1u << order[i];
			different += order[i] != i;
		}
		ck_assert_uint_eq(seen, 0xff);
		ck_assert_uint_lt(churn_start_delay_ns(&o), 5000000);
	}
	ck_assert_uint_gt(different, 1000);
	ck_assert_uint_ne(churn_start_page(&o, 0), churn_start_page(&o, 1));
}
END_TEST

/*
 * The arms of one round must do the same on every machine and in every build: the draws of a seed
 * are part of what a stored result means, so they may not change unnoticed.
 */
START_TEST(draws_are_fixed)
{
	struct churn_options o = parsed("--mode same --chunk-mib 16 --seed 7");
	struct churn_schedule s;

	churn_schedule_init(&s, &o);
	ck_assert_uint_eq(s.first / CHURN_MIB, 518);
	ck_assert_uint_eq(churn_start_page(&o, 0), 57161);
	ck_assert_uint_eq(churn_start_delay_ns(&o), 2757182);
}
END_TEST

START_TEST(watch_list_spans_each_table)
{
	static uint64_t list[CHURN_WATCH_MAX], next[CHURN_WATCH_MAX];
	struct churn_options o = parsed("--mode same --chunk-mib 16 --seed 3");
	unsigned int rested = 0;

	for (unsigned int round = 0; round < 400; round++) {
		uint64_t offset = 432 * CHURN_MIB;
		size_t n = churn_watch_list(&o, round, offset, list);
		size_t m;

		ck_assert_uint_eq(n % CHURN_WATCH_PER_TABLE, 0);
		ck_assert_uint_le(n, 8 * CHURN_WATCH_PER_TABLE);
		rested += 8 - n / CHURN_WATCH_PER_TABLE;
		for (size_t i = 0; i < n; i++) {
			ck_assert_uint_eq(list[i] % CHURN_PAGE, 0);
			ck_assert_uint_ge(list[i], offset);
			ck_assert_uint_lt(list[i], offset + 16 * CHURN_MIB);
			if (i)
				ck_assert_uint_gt(list[i], list[i - 1]);
			if (i % CHURN_WATCH_PER_TABLE == 0)
				ck_assert_uint_eq(list[i] % CHURN_TABLE, 0);
			if (i % CHURN_WATCH_PER_TABLE == CHURN_WATCH_PER_TABLE - 1)
				ck_assert_uint_eq(list[i] % CHURN_TABLE, CHURN_TABLE - CHURN_PAGE);
		}

		/* A table that is watched in two rounds is watched at the same pages. */
		m = churn_watch_list(&o, round + 1, offset, next);
		for (size_t i = 0; i < m; i += 8) {
			for (size_t j = 0; j < n; j += 8) {
				if (list[j] == next[i])
					ck_assert_mem_eq(&list[j], &next[i], 8 * sizeof(list[0]));
			}
		}
	}
	/* One in four of 3200; five standard deviations are about 120. */
	ck_assert_uint_gt(rested, 680);
	ck_assert_uint_lt(rested, 920);
}
END_TEST

START_TEST(watch_list_fits)
{
	static uint64_t list[CHURN_WATCH_MAX + 1];
	struct churn_options o = parsed("--mode sweep --chunk-mib 1023 --mem-mib 4092");
	size_t most = 0;

	for (unsigned int round = 0; round < 100; round++) {
		struct churn_schedule s;
		size_t n;

		churn_schedule_init(&s, &o);
		list[CHURN_WATCH_MAX] = UINT64_MAX;
		n = churn_watch_list(&o, round, churn_schedule_offset(&s, round), list);
		ck_assert_uint_le(n, CHURN_WATCH_MAX);
		ck_assert(list[CHURN_WATCH_MAX] == UINT64_MAX);
		if (n > most)
			most = n;
	}
	ck_assert_uint_gt(most, 300 * CHURN_WATCH_PER_TABLE);
}
END_TEST

START_TEST(watch_list_of_half_a_table)
{
	uint64_t list[CHURN_WATCH_PER_TABLE];
	struct churn_options o = parsed("--mode sweep --chunk-mib 1");
	unsigned int round = 0;

	while (!churn_watch_list(&o, round, 5 * CHURN_MIB, list))
		round++;
	ck_assert_uint_eq(list[0], 5 * CHURN_MIB);
	ck_assert_uint_eq(list[7], 6 * CHURN_MIB - CHURN_PAGE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("churn");
	TCase *options = tcase_create("options");
	TCase *schedule = tcase_create("schedule");
	SRunner *runner;
	int failed;

	tcase_add_test(options, defaults);
	tcase_add_test(options, everything);
	tcase_add_test(options, seed_from_environment);
	tcase_add_test(options, help_needs_nothing_else);
	tcase_add_loop_test(options, one_sentence_per_mistake, 0,
			    sizeof(mistakes) / sizeof(mistakes[0]));
	suite_add_tcase(suite, options);

	tcase_add_loop_test(schedule, same_chunk_is_aligned_and_inside, 0, 7);
	tcase_add_test(schedule, sweep_visits_each_chunk_once_a_turn);
	tcase_add_test(schedule, start_is_a_function_of_the_seed);
	tcase_add_test(schedule, draws_are_fixed);
	tcase_add_test(schedule, watch_list_spans_each_table);
	tcase_add_test(schedule, watch_list_fits);
	tcase_add_test(schedule, watch_list_of_half_a_table);
	suite_add_tcase(suite, schedule);

	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
