// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of grant-churn: parsing and range checks, nothing else.
 */
#include "options.h"

#include <getopt.h>

#include "../common/args.h"

const char gchurn_usage[] =
	"usage: grant-churn --batch N [option...]\n"
	"  --batch N     pages that are mapped and unmapped at a time\n"
	"  --batches N   measured batches (100)\n"
	"  --warmup N    batches before these (10)\n"
	"  --check       write and check the pages' contents (on)\n"
	"  --no-check    do not\n"
	"  --watch       map without gntdev, and let another CPU look for pages that are gone\n"
	"  --leaks-ok    pages that are never released do not fail the run\n"
	"  --seed N      origin of contents and orders (LABD_SEED of the environment, else 1)\n";

enum {
	OPT_BATCH = 1,
	OPT_BATCHES,
	OPT_WARMUP,
	OPT_CHECK,
	OPT_NO_CHECK,
	OPT_WATCH,
	OPT_LEAKS_OK,
	OPT_SEED,
	OPT_HELP,
};

static const struct option long_options[] = {{"batch", required_argument, NULL, OPT_BATCH},
					     {"batches", required_argument, NULL, OPT_BATCHES},
					     {"warmup", required_argument, NULL, OPT_WARMUP},
					     {"check", no_argument, NULL, OPT_CHECK},
					     {"no-check", no_argument, NULL, OPT_NO_CHECK},
					     {"watch", no_argument, NULL, OPT_WATCH},
					     {"leaks-ok", no_argument, NULL, OPT_LEAKS_OK},
					     {"seed", required_argument, NULL, OPT_SEED},
					     {"help", no_argument, NULL, OPT_HELP},
					     {}};

static const struct gnt_number numbers[] = {
	{OPT_BATCH, "--batch", offsetof(struct gchurn_options, batch), 1, GCHURN_MAX_BATCH},
	{OPT_BATCHES, "--batches", offsetof(struct gchurn_options, batches), 1, GCHURN_MAX_BATCHES},
	{OPT_WARMUP, "--warmup", offsetof(struct gchurn_options, warmup), 0, GCHURN_MAX_WARMUP},
};

static int check_together(const struct gchurn_options *o, char *err, size_t err_size)
{
	if (!o->batch)
		return gnt_mistake(err, err_size, "--batch is missing");
	if (o->watch && !o->check)
		return gnt_mistake(err, err_size,
				   "--watch is a check, it cannot go with --no-check");
	return 0;
}

/**
 * gchurn_options_parse - read a command line
 * @argc:	number of arguments, the program's name included
 * @argv:	the arguments; getopt may reorder them
 * @env_seed:	value of LABD_SEED, or NULL; --seed wins over it
 * @ret_options: the options, every one within its range
 * @err:	one sentence that says what is wrong
 * @err_size:	size of @err in bytes
 *
 * Return: 0, or -EINVAL with @err filled and @ret_options untouched.
 */
int gchurn_options_parse(int argc, char **argv, const char *env_seed,
			 struct gchurn_options *ret_options, char *err, size_t err_size)
{
	struct gchurn_options o = {.batches = 100, .warmup = 10, .seed = 1, .check = true};
	int opt, ret;

	ret = gnt_set_seed(env_seed, &o.seed, err, err_size);
	if (ret)
		return ret;
	opterr = 0; /* the caller prints our sentence, not getopt's */
	optind = 0; /* start over: tests parse more than one line */
	while ((opt = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		switch (opt) {
		case OPT_CHECK:
			o.check = true;
			break;
		case OPT_NO_CHECK:
			o.check = false;
			break;
		case OPT_WATCH:
			o.watch = true;
			break;
		case OPT_LEAKS_OK:
			o.leaks_ok = true;
			break;
		case OPT_SEED:
			if (gnt_parse_u64(optarg, &o.seed))
				return gnt_mistake(err, err_size,
						   "--seed must be from 0 to 2^64-1, not \"%s\"",
						   optarg);
			break;
		case OPT_HELP:
			o.help = true;
			break;
		default:
			ret = gnt_set_number(numbers, sizeof(numbers) / sizeof(numbers[0]), &o, opt,
					     optarg ? optarg : argv[optind - 1], err, err_size);
			if (ret)
				return ret;
		}
	}
	if (optind < argc)
		return gnt_mistake(err, err_size, "\"%s\" is not an option", argv[optind]);
	if (!o.help) {
		ret = check_together(&o, err, err_size);
		if (ret)
			return ret;
	}
	*ret_options = o;
	return 0;
}
