// SPDX-License-Identifier: GPL-2.0-only
/*
 * The net workload's pure parts: its command line, and the transfer whose contents are checked.
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "xen/workload/common/wire.h"
#include "xen/workload/net/options.h"

enum {
	MAX_WORDS = 20,
	LIMIT_S = 30,
	BYTES = 100001, /* more than a chunk, and not a whole number of words */
};

static char message[200];

/* Parses @line, split at blanks, as the arguments after the program's name. */
static int parse(const char *line, const char *env_seed, struct net_options *o)
{
	char buf[256], *argv[MAX_WORDS + 2] = {"net"};
	int argc = 1;

	ck_assert_uint_lt(strlen(line), sizeof(buf));
	strcpy(buf, line);
	for (char *word = strtok(buf, " "); word && argc <= MAX_WORDS; word = strtok(NULL, " "))
		argv[argc++] = word;
	message[0] = '\0';
	return net_options_parse(argc, argv, env_seed, o, message, sizeof(message));
}

static struct net_options parsed(const char *line, const char *env_seed)
{
	struct net_options o;

	ck_assert_msg(!parse(line, env_seed, &o), "%s: %s", line, message);
	return o;
}

START_TEST(defaults)
{
	struct net_options o = parsed("--direction du-d0", NULL);

	ck_assert_int_eq(o.direction, NET_DU_D0);
	ck_assert_uint_eq(o.streams, 1);
	ck_assert_uint_eq(o.seconds, 0);
	ck_assert_uint_eq(o.mib, 48);
	ck_assert_uint_eq(o.check_mib, 4);
	ck_assert_uint_eq(o.seed, 1);
}
END_TEST

START_TEST(everything)
{
	struct net_options o = parsed("--direction du-du --streams 16 --seconds 10 --check-mib 0 "
				      "--domu-vcpus 8 --domu-mib 1024 --limit 11 --seed 3",
				      "7");

	ck_assert_str_eq(net_direction_name(o.direction), "du-du");
	ck_assert_uint_eq(o.streams, 16);
	ck_assert_uint_eq(o.seconds, 10);
	ck_assert_uint_eq(o.mib, 0);
	ck_assert_uint_eq(o.check_mib, 0);
	ck_assert_uint_eq(o.vcpus, 8);
	ck_assert_uint_eq(o.memory, 1024);
	ck_assert_uint_eq(o.limit, 11);
	ck_assert_uint_eq(o.seed, 3);
	ck_assert_uint_eq(parsed("--direction d0-du", "7").seed, 7);
}
END_TEST

static const struct mistake {
	const char *line;
	const char *says;
} mistakes[] = {
	{"", "--direction is missing, it is du-d0, d0-du or du-du"},
	{"--direction up", "--direction must be du-d0, d0-du or du-du, not \"up\""},
	{"--direction du-d0 --streams 0", "--streams must be a number from 1 to 16, not \"0\""},
	{"--direction du-d0 --streams 17", "--streams must be a number from 1 to 16, not \"17\""},
	{"--direction du-d0 --mib 1 --seconds 1", "only one of --seconds and --mib can be given"},
	{"--direction du-d0 --seconds 180", "--seconds 180 is not below --limit 180"},
	{"--direction du-d0 --domu-mib 64",
	 "--domu-mib must be a number from 96 to 65536, not \"64\""},
	{"--direction du-d0 --seed x", "--seed must be from 0 to 2^64-1, not \"x\""},
	{"--direction", "--direction needs a value"},
	{"--direction du-d0 --fast", "--fast is not an option, or takes no value"},
	{"--direction du-d0 more", "\"more\" is not an option"},
};

START_TEST(one_sentence_per_mistake)
{
	struct net_options o;

	ck_assert_int_eq(parse(mistakes[_i].line, NULL, &o), -EINVAL);
	ck_assert_str_eq(message, mistakes[_i].says);
}
END_TEST

/* What check says about BYTES of a stream of which one byte was changed, or none (at < 0). */
static int transfer(uint64_t seed, int at, int bytes, uint64_t *wrong)
{
	static char stream[BYTES];
	int pair[2], ret;
	ssize_t n;

	ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	if (!fork()) {
		ret = net_stream_send(pair[0], 1, BYTES, LIMIT_S);
		_exit(!!ret);
	}
	close(pair[0]);
	for (int have = 0; have < BYTES; have += n) {
		n = read(pair[1], stream + have, BYTES - have);
		ck_assert_int_gt(n, 0);
	}
	close(pair[1]);

	if (at >= 0)
		stream[at] ^= 1;
	ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	if (!fork())
		_exit(!!net_write(pair[0], stream, bytes));
	close(pair[0]);
	ret = net_stream_check(pair[1], seed, BYTES, LIMIT_S, wrong);
	close(pair[1]);
	return ret;
}

START_TEST(a_changed_byte_shows)
{
	uint64_t wrong = 99;

	ck_assert_int_eq(transfer(1, -1, BYTES, &wrong), 0);
	ck_assert_uint_eq(wrong, 0);
	ck_assert_int_eq(transfer(1, 70000, BYTES, &wrong), 0);
	ck_assert_uint_eq(wrong, 1);
	ck_assert_int_eq(transfer(1, BYTES - 1, BYTES, &wrong), 0);
	ck_assert_uint_eq(wrong, 1);
}
END_TEST

START_TEST(another_seed_or_a_short_stream_shows)
{
	uint64_t wrong = 99;

	ck_assert_int_eq(transfer(1, -1, BYTES - 1, &wrong), -EPROTO);
	ck_assert_uint_eq(wrong, 99);
	ck_assert_int_eq(transfer(2, -1, BYTES, &wrong), 0);
	ck_assert_uint_gt(wrong, BYTES / 2);
}
END_TEST

START_TEST(lines_have_a_limit)
{
	char line[NET_LINE];
	int pair[2];

	ck_assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	ck_assert(!net_write_line(pair[0], "wrong %d", 5));
	ck_assert(!net_read_line(pair[1], line, sizeof(line)));
	ck_assert_str_eq(line, "wrong 5");
	ck_assert_int_eq(net_write_line(pair[0], "%*s", NET_LINE, ""), -EMSGSIZE);
	memset(line, 'x', sizeof(line));
	ck_assert(!net_write(pair[0], line, sizeof(line)));
	ck_assert(!net_write(pair[0], line, sizeof(line)));
	close(pair[0]);
	ck_assert_int_eq(net_read_line(pair[1], line, sizeof(line)), -EPROTO);
	close(pair[1]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("net");
	TCase *options = tcase_create("options");
	TCase *stream = tcase_create("stream");
	SRunner *runner;
	int failed;

	tcase_add_test(options, defaults);
	tcase_add_test(options, everything);
	tcase_add_loop_test(options, one_sentence_per_mistake, 0,
			    sizeof(mistakes) / sizeof(mistakes[0]));
	suite_add_tcase(suite, options);

	tcase_set_timeout(stream, 60);
	tcase_add_test(stream, a_changed_byte_shows);
	tcase_add_test(stream, another_seed_or_a_short_stream_shows);
	tcase_add_test(stream, lines_have_a_limit);
	suite_add_tcase(suite, stream);

	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
