// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line of net: parsing and range checks, nothing else.
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "../common/args.h"

const char net_usage[] =
	"usage: net --direction du-d0|d0-du|du-du [option...]\n"
	"  --direction A-B  who sends to whom, d0 being dom0 and du a domU\n"
	"  --streams N      TCP connections at a time (1)\n"
	"  --mib N          how much is sent, over all streams (48)\n"
	"  --seconds N      send for so long instead\n"
	"  --check-mib N    size of the checked transfer behind it, 0 for none (4)\n"
	"  --domu-vcpus N   vCPUs of each domU (1)\n"
	"  --domu-mib N     memory of each domU in MiB (128)\n"
	"  --limit N        seconds that the transfer may take (180)\n"
	"  --seed N         origin of the checked contents (LABD_SEED of the environment, else 1)\n";

static const char *const direction_names[NET_DIRECTIONS] = {
	[NET_DU_D0] = "du-d0",
	[NET_D0_DU] = "d0-du",
	[NET_DU_DU] = "du-du",
};

/**
 * net_direction_name - the name of a direction, as on the command line
 * @direction: a valid direction
 *
 * Return: a static string.
 */
const char *net_direction_name(enum net_direction direction)
{
	return direction_names[direction];
}

enum {
	OPT_DIRECTION = 1,
	OPT_STREAMS,
	OPT_MIB,
	OPT_SECONDS,
	OPT_CHECK,
	OPT_VCPUS,
	OPT_MEMORY,
	OPT_LIMIT,
	OPT_SEED,
	OPT_HELP,
};

static const struct option long_options[] = {{"direction", required_argument, NULL, OPT_DIRECTION},
					     {"streams", required_argument, NULL, OPT_STREAMS},
					     {"mib", required_argument, NULL, OPT_MIB},
					     {"seconds", required_argument, NULL, OPT_SECONDS},
					     {"check-mib", required_argument, NULL, OPT_CHECK},
					     {"domu-vcpus", required_argument, NULL, OPT_VCPUS},
					     {"domu-mib", required_argument, NULL, OPT_MEMORY},
					     {"limit", required_argument, NULL, OPT_LIMIT},
					     {"seed", required_argument, NULL, OPT_SEED},
					     {"help", no_argument, NULL, OPT_HELP},
					     {}};

static const struct gnt_number numbers[] = {
	{OPT_STREAMS, "--streams", offsetof(struct net_options, streams), 1, 16},
	{OPT_MIB, "--mib", offsetof(struct net_options, mib), 1, 1024 * 1024},
	{OPT_SECONDS, "--seconds", offsetof(struct net_options, seconds), 1, 3600},
	{OPT_CHECK, "--check-mib", offsetof(struct net_options, check_mib), 0, 1024},
	{OPT_VCPUS, "--domu-vcpus", offsetof(struct net_options, vcpus), 1, 64},
	{OPT_MEMORY, "--domu-mib", offsetof(struct net_options, memory), 96, 65536},
	{OPT_LIMIT, "--limit", offsetof(struct net_options, limit), 1, 7200},
};

static int parse_direction(const char *text, enum net_direction *ret_direction)
{
	for (unsigned int i = 0; i < NET_DIRECTIONS; i++) {
		if (!strcmp(text, direction_names[i])) {
			*ret_direction = i;
			return 0;
		}
	}
	return -EINVAL;
}

static int check_together(struct net_options *o, bool have_direction, char *err, size_t err_size)
{
	if (!have_direction)
		return gnt_mistake(err, err_size,
				   "--direction is missing, it is du-d0, d0-du or du-du");
	if (o->seconds && o->mib)
		return gnt_mistake(err, err_size, "only one of --seconds and --mib can be given");
	if (o->seconds >= o->limit)
		return gnt_mistake(err, err_size, "--seconds %u is not below --limit %u",
				   o->seconds, o->limit);
	if (!o->seconds && !o->mib)
		o->mib = 48;
	return 0;
}

/**
 * net_options_parse - read a command line
 * @argc:	number of arguments, the program's name included
 * @argv:	the arguments; getopt may reorder them
 * @env_seed:	value of LABD_SEED, or NULL; --seed wins over it
 * @ret_options: the options, every one within its range
 * @err:	one sentence that says what is wrong
 * @err_size:	size of @err in bytes
 *
 * Return: 0, or -EINVAL with @err filled and @ret_options untouched.
 */
int net_options_parse(int argc, char **argv, const char *env_seed, struct net_options *ret_options,
		      char *err, size_t err_size)
{
	struct net_options o = {
		.streams = 1,
		.check_mib = 4,
		.vcpus = 1,
		.memory = 128,
		.limit = 180,
		.seed = 1,
	};
	bool have_direction = false;
	int opt, ret;

	ret = gnt_set_seed(env_seed, &o.seed, err, err_size);
	if (ret)
		return ret;
	opterr = 0; /* the caller prints our sentence, not getopt's */
	optind = 0; /* start over: tests parse more than one line */
	while ((opt = getopt_long(argc, argv, ":", long_options, NULL)) != -1) {
		switch (opt) {
		case OPT_DIRECTION:
			if (parse_direction(optarg, &o.direction))
				return gnt_mistake(
					err, err_size,
					"--direction must be du-d0, d0-du or du-du, not \"%s\"",
					optarg);
			have_direction = true;
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
		ret = check_together(&o, have_direction, err, err_size);
		if (ret)
			return ret;
	}
	*ret_options = o;
	return 0;
}
