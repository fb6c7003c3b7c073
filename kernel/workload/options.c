// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of kvm-churn: parsing and range checks, nothing else.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char churn_usage[] =
	"usage: kvm-churn --mode same|sweep --chunk-mib N [option...]\n"
	"  --mode same|sweep  invalidate one chunk again and again, or roll over all memory\n"
	"  --chunk-mib N      size of one invalidation in MiB\n"
	"  --vcpus N          vCPUs that write guest memory (4)\n"
	"  --mem-mib N        guest memory in MiB (1024)\n"
	"  --rounds N         invalidations (400)\n"
	"  --period-us N      time between two of them in microseconds (5000)\n"
	"  --work N           turns of an empty loop of a vCPU behind each write (4000)\n"
	"  --writeback        fill the invalidated chunk again before the next round\n"
	"  --fifo             invalidate with real-time priority\n"
	"  --verify           check every mapping instead of measuring\n"
	"  --seed N           origin of all draws (LABD_SEED of the environment, else 1)\n";

static const char *const mode_names[] = {
	[CHURN_SAME] = "same",
	[CHURN_SWEEP] = "sweep",
};

/**
 * churn_mode_name - the name of a mode, as on the command line
 * @mode: a valid mode
 *
 * Return: a static string.
 */
const char *churn_mode_name(enum churn_mode mode)
{
	return mode_names[mode];
}

/* Writes the one sentence about a mistake; always -EINVAL, so that callers can return it. */
__attribute__((format(printf, 3, 4))) static int mistake(char *err, size_t err_size,
							 const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(err, err_size, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* Digits only: strtoull() itself takes blanks, signs and hexadecimal. */
static int parse_u64(const char *text, uint64_t *ret_value)
{
	unsigned long long value;
	char *end;

	if (*text < '0' || *text > '9')
		return -EINVAL;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end)
		return -EINVAL;
	*ret_value = value;
	return 0;
}

static int parse_mode(const char *text, enum churn_mode *ret_mode)
{
	for (size_t i = 0; i < sizeof(mode_names) / sizeof(mode_names[0]); i++) {
		if (!strcmp(text, mode_names[i])) {
			*ret_mode = i;
			return 0;
		}
	}
	return -EINVAL;
}

enum {
	OPT_MODE = 1,
	OPT_CHUNK,
	OPT_VCPUS,
	OPT_MEM,
	OPT_ROUNDS,
	OPT_PERIOD,
	OPT_WORK,
	OPT_WRITEBACK,
	OPT_FIFO,
	OPT_VERIFY,
	OPT_SEED,
	OPT_HELP,
};

static const struct option long_options[] = {{"mode", required_argument, NULL, OPT_MODE},
					     {"chunk-mib", required_argument, NULL, OPT_CHUNK},
					     {"vcpus", required_argument, NULL, OPT_VCPUS},
					     {"mem-mib", required_argument, NULL, OPT_MEM},
					     {"rounds", required_argument, NULL, OPT_ROUNDS},
					     {"period-us", required_argument, NULL, OPT_PERIOD},
					     {"work", required_argument, NULL, OPT_WORK},
					     {"writeback", no_argument, NULL, OPT_WRITEBACK},
					     {"fifo", no_argument, NULL, OPT_FIFO},
					     {"verify", no_argument, NULL, OPT_VERIFY},
					     {"seed", required_argument, NULL, OPT_SEED},
					     {"help", no_argument, NULL, OPT_HELP},
					     {}};

/* Where each numeric option goes and what it may be. */
static const struct number {
	int opt;
	const char *name;
	size_t offset;
	unsigned int min;
	unsigned int max;
} numbers[] = {
	{OPT_CHUNK, "--chunk-mib", offsetof(struct churn_options, chunk_mib), 1,
	 CHURN_MAX_CHUNK_MIB},
	{OPT_VCPUS, "--vcpus", offsetof(struct churn_options, vcpus), 1, CHURN_MAX_VCPUS},
	{OPT_MEM, "--mem-mib", offsetof(struct churn_options, mem_mib), 2, CHURN_MAX_MEM_MIB},
	{OPT_ROUNDS, "--rounds", offsetof(struct churn_options, rounds), 1, CHURN_MAX_ROUNDS},
	{OPT_PERIOD, "--period-us", offsetof(struct churn_options, period_us), CHURN_MIN_PERIOD_US,
	 CHURN_MAX_PERIOD_US},
	{OPT_WORK, "--work", offsetof(struct churn_options, work), 0, CHURN_MAX_WORK},
};

static int set_number(struct churn_options *o, int opt, const char *text, char *err,
		      size_t err_size)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		const struct number *n = &numbers[i];
		uint64_t value;

		if (n->opt != opt)
			continue;
		if (parse_u64(text, &value) || value < n->min || value > n->max)
			return mistake(err, err_size,
				       "%s must be a number from %u to %u, not \"%s\"", n->name,
				       n->min, n->max, text);
		*(unsigned int *)((char *)o + n->offset) = value;
		return 0;
	}
	return mistake(err, err_size, "option %d is not a number", opt);
}

static int check_together(const struct churn_options *o, bool have_mode, char *err, size_t err_size)
{
	if (!have_mode)
		return mistake(err, err_size, "--mode is missing, it is same or sweep");
	if (!o->chunk_mib)
		return mistake(err, err_size, "--chunk-mib is missing");
	if (o->mem_mib % 2)
		return mistake(err, err_size, "--mem-mib must be even, not %u", o->mem_mib);
	if (o->chunk_mib > o->mem_mib)
		return mistake(err, err_size, "--chunk-mib %u is more than --mem-mib %u",
			       o->chunk_mib, o->mem_mib);
	if (o->mode == CHURN_SWEEP && o->mem_mib % o->chunk_mib)
		return mistake(err, err_size,
			       "--mem-mib %u must be a multiple of --chunk-mib %u to sweep",
			       o->mem_mib, o->chunk_mib);
	return 0;
}

/**
 * churn_options_parse - read a command line
 * @argc:	number of arguments, the program's name included
 * @argv:	the arguments; getopt may reorder them
 * @env_seed:	value of LABD_SEED, or NULL; --seed wins over it
 * @ret_options: the options, every one within its range
 * @err:	one sentence that says what is wrong
 * @err_size:	size of @err in bytes
 *
 * Return: 0, or -EINVAL with @err filled and @ret_options untouched.
 */
int churn_options_parse(int argc, char **argv, const char *env_seed,
			struct churn_options *ret_options, char *err, size_t err_size)
{
	struct churn_options o = {
		.vcpus = 4,
		.mem_mib = 1024,
		.rounds = 400,
		.period_us = 5000,
		.work = 4000,
		.seed = 1,
	};
	bool have_mode = false;
	int opt, ret;

	if (env_seed && parse_u64(env_seed, &o.seed))
		return mistake(err, err_size,
			       "LABD_SEED must be a number from 0 to 2^64-1, not \"%s\"", env_seed);

	opterr = 0; /* the caller prints our sentence, not getopt's */
	optind = 0; /* start over: tests parse more than one line */
	while ((opt = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		switch (opt) {
		case OPT_MODE:
			if (parse_mode(optarg, &o.mode))
				return mistake(err, err_size,
					       "--mode must be same or sweep, not \"%s\"", optarg);
			have_mode = true;
			break;
		case OPT_SEED:
			if (parse_u64(optarg, &o.seed))
				return mistake(err, err_size,
					       "--seed must be from 0 to 2^64-1, not \"%s\"",
					       optarg);
			break;
		case OPT_WRITEBACK:
			o.writeback = true;
			break;
		case OPT_FIFO:
			o.fifo = true;
			break;
		case OPT_VERIFY:
			o.verify = true;
			break;
		case OPT_HELP:
			o.help = true;
			break;
		case ':':
			return mistake(err, err_size, "%s needs a value", argv[optind - 1]);
		case '?':
			return mistake(err, err_size, "%s is not an option, or takes no value",
				       argv[optind - 1]);
		default:
			ret = set_number(&o, opt, optarg, err, err_size);
			if (ret)
				return ret;
		}
	}
	if (optind < argc)
		return mistake(err, err_size, "\"%s\" is not an option", argv[optind]);
	if (!o.help) {
		ret = check_together(&o, have_mode, err, err_size);
		if (ret)
			return ret;
	}

	*ret_options = o;
	return 0;
}
