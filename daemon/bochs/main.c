// SPDX-License-Identifier: GPL-2.0-only
/* lab-bochs: keeps one Bochs for labd, which starts it; see keeper.c. */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/util.h"
#include "bochs/keeper.h"

static const char usage[] =
	"usage: lab-bochs --bochs PROGRAM --limit-ms N --config FD --script FD --grub FD --boot FD\n"
	"                 --channel FD --clock FD --agent FD --console FD [--hypervisor FD] FILE...\n"
	"labd starts it, one for each boot of the machine bochs; it is of no use by itself.\n";

static int parse_options(int argc, char **argv, struct keeper_config *config)
{
	struct {
		const char *name;
		int *fd;
	} fds[] = {
		{"config", &config->config_fd},
		{"script", &config->script_fd},
		{"grub", &config->grub_fd},
		{"boot", &config->boot_fd},
		{"channel", &config->channel_fd},
		{"clock", &config->clock_fd},
		{"agent", &config->agent_fd},
		{"console", &config->console_fd},
		{"hypervisor", &config->hypervisor_fd},
	};
	struct option longs[ARRAY_SIZE(fds) + 3] = {
		{"bochs", required_argument, NULL, 'b'},
		{"limit-ms", required_argument, NULL, 'l'},
	};
	int64_t value;
	int c;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		longs[2 + i] = (struct option){fds[i].name, required_argument, NULL, 256 + i};
		*fds[i].fd = -1;
	}
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (c == 'b') {
			config->bochs = optarg;
		} else if (c == 'l' && !parse_i64(optarg, 1, INT64_MAX / 1000000, &value)) {
			config->limit_ms = value;
		} else if (c >= 256 && !parse_i64(optarg, 0, INT_MAX, &value)) {
			*fds[c - 256].fd = value;
		} else {
			return -1;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (*fds[i].fd < 0 && fds[i].fd != &config->hypervisor_fd)
			return -1;
	config->files = argv + optind;
	return config->bochs && config->limit_ms && optind < argc ? 0 : -1;
}

/**
 * main() - exit codes: 0 the guest switched off when all was done, 1 anything else, named on
 * stderr; a signal that ended Bochs ends this program, too
 */
int main(int argc, char **argv)
{
	const struct rlimit no_core = {0, 0};
	struct keeper_config config = {0};

	setrlimit(RLIMIT_CORE, &no_core);
	if (parse_options(argc, argv, &config)) {
		fputs(usage, stderr);
		return EXIT_FAILURE;
	}
	return keeper_run(&config);
}
