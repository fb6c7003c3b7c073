// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of grant-fault: parsing and range checks, nothing else.
 */
#include "options.h"

#include <getopt.h>
#include <string.h>

#include "../common/args.h"

const char gfault_usage[] =
	"usage: grant-fault [option...]\n"
	"  --group N        operations in the array (32)\n"
	"  --fault-at N     the operation, from 0, that lies on the bad page (20)\n"
	"  --on read|write  what fails: reading it, or writing its status (read)\n"
	"  --rounds N       how often (1)\n"
	"  --seed N         origin of contents and orders (LABD_SEED of the environment, else 1)\n";

enum {
	OPT_GROUP = 1,
	OPT_FAULT_AT,
	OPT_ON,
	OPT_ROUNDS,
	OPT_SEED,
	OPT_HELP,
};

static const struct option long_options[] = {{"group", required_argument, NULL, OPT_GROUP},
					     {"fault-at", required_argument, NULL, OPT_FAULT_AT},
					     {"on", required_argument, NULL, OPT_ON},
					     {"rounds", required_argument, NULL, OPT_ROUNDS},
					     {"seed", required_argument, NULL, OPT_SEED},
					     {"help", no_argument, NULL, OPT_HELP},
					     {}};

static const struct gnt_number numbers[] = {
	{OPT_GROUP, "--group", offsetof(struct gfault_options, group), 1, GFAULT_MAX_GROUP},
	{OPT_FAULT_AT, "--fault-at", offsetof(struct gfault_options, fault_at), 0,
	 GFAULT_MAX_GROUP - 1},
	{OPT_ROUNDS, "--rounds", offsetof(struct gfault_options, rounds), 1, GFAULT_MAX_ROUNDS},
};

static int parse_on(const char *text, bool *ret_on_write)
{
	if (!strcmp(text, "read"))
		*ret_on_write = false;
	else if (!strcmp(text, "write"))
		*ret_on_write = true;
	else
		return -1;
	return 0;
}

/**
 * gfault_options_parse - read a command line
 * @argc:	number of arguments, the program's name included
 * @argv:	the arguments; getopt may reorder them
 * @env_seed:	value of LABD_SEED, or NULL; --seed wins over it
 * @ret_options: the options, every one within its range
 * @err:	one sentence that says what is wrong
 * @err_size:	size of @err in bytes
 *
 * Return: 0, or -EINVAL with @err filled and @ret_options untouched.
 */
int gfault_options_parse(int argc, char **argv, const char *env_seed,
			 struct gfault_options *ret_options, char *err, size_t err_size)
{
	struct gfault_options o = {.group = 32, .fault_at = 20, .rounds = 1, .seed = 1};
	int opt, ret;

	ret = gnt_set_seed(env_seed, &o.seed, err, err_size);
	if (ret)
		return ret;
	opterr = 0; /* the caller prints our sentence, not getopt's */
	optind = 0; /* start over: tests parse more than one line */
	while ((opt = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		switch (opt) {
		case OPT_ON:
			if (parse_on(optarg, &o.on_write))
				return gnt_mistake(err, err_size,
						   "--on must be read or write, not \"%s\"",
						   optarg);
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
	if (o.fault_at >= o.group)
		return gnt_mistake(err, err_size, "--fault-at %u is not below --group %u",
				   o.fault_at, o.group);
	*ret_options = o;
	return 0;
}
