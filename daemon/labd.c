// SPDX-License-Identifier: GPL-2.0-only
/* labd: start and stop order, signals, exit codes; nothing else. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "http/http.h"
#include "http/hub.h"
#include "plan/sched.h"
#include "store/datadir.h"

#define DEFAULT_PORT 8210
#define DEFAULT_DATA "/var/lib/labd"

static const char usage[] =
	"Usage: labd [--data DIR] [--port N] [--builds DIR] [--images DIR]\n"
	"\n"
	"Serves the dashboard and the HTTP API on 127.0.0.1 and carries out experiments.\n"
	"\n"
	"  --data DIR    data directory (default " DEFAULT_DATA ")\n"
	"  --port N      TCP port, 0 takes a free one and prints it (default 8210)\n"
	"  --builds DIR  manifests of kernel/build.sh (default: builds beside this program)\n"
	"  --images DIR  images of scripts/image.sh (default: images beside this program)\n"
	"  --verbose     log more\n"
	"  --help        this text\n";

struct options {
	char data_dir[PATH_MAX];
	char builds_dir[PATH_MAX];
	char images_dir[PATH_MAX];
	int64_t port;
};

/* Returns -1 to go on, or the exit code. */
static int parse_options(int argc, char **argv, struct options *options)
{
	static const struct option longs[] = {
		{"data", required_argument, NULL, 'd'},
		{"port", required_argument, NULL, 'p'},
		{"builds", required_argument, NULL, 'b'},
		{"images", required_argument, NULL, 'i'},
		{"verbose", no_argument, NULL, 'v'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int c;

	snprintf(options->data_dir, PATH_MAX, "%s", DEFAULT_DATA);
	path_beside_program("builds", options->builds_dir, PATH_MAX);
	path_beside_program("images", options->images_dir, PATH_MAX);
	options->port = DEFAULT_PORT;
	while ((c = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			snprintf(options->data_dir, PATH_MAX, "%s", optarg);
			break;
		case 'b':
			snprintf(options->builds_dir, PATH_MAX, "%s", optarg);
			break;
		case 'i':
			snprintf(options->images_dir, PATH_MAX, "%s", optarg);
			break;
		case 'p':
			if (parse_i64(optarg, 0, 65535, &options->port)) {
				fprintf(stderr, "labd: --port %s is no port from 0 to 65535\n",
					optarg);
				return EXIT_FAILURE;
			}
			break;
		case 'v':
			log_set_level(LOG_LEVEL_DEBUG);
			break;
		case 'h':
			fputs(usage, stdout);
			return EXIT_SUCCESS;
		default:
			fputs(usage, stderr);
			return EXIT_FAILURE;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "labd: what is \"%s\"? See labd --help\n", argv[optind]);
		return EXIT_FAILURE;
	}
	return -1;
}

/* The captures' and databases' paths must not change with a chdir, and are handed out to clients.
 */
static int make_absolute(struct options *options)
{
	char resolved[PATH_MAX];
	int ret;

	ret = make_dir(options->data_dir, 0755);
	if (!ret && !realpath(options->data_dir, resolved))
		ret = -errno;
	if (ret) {
		log_err("data directory %s cannot be used: %s", options->data_dir, strerror(-ret));
		return ret;
	}
	memcpy(options->data_dir, resolved, sizeof(resolved));
	return 0;
}

/**
 * main() - exit codes: 0 ended by a signal, 1 a mistake or a failure, named on stderr
 */
int main(int argc, char **argv)
{
	struct sched_config sched_config = {0};
	struct http_config http_config = {0};
	char token[TOKEN_HEX_LEN + 1];
	struct sched *sched = NULL;
	struct http *http = NULL;
	struct hub *hub = NULL;
	struct options options;
	int lock_fd, ret, sig;
	sigset_t signals;

	ret = parse_options(argc, argv, &options);
	if (ret >= 0)
		return ret;

	/* Blocked before any thread starts, so that only sigwait() sees them. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);

	if (make_absolute(&options) || datadir_open(options.data_dir, &lock_fd))
		return EXIT_FAILURE;
	ret = datadir_token(options.data_dir, token);
	if (ret)
		goto out_unlock;

	sched_config.data_dir = options.data_dir;
	sched_config.builds_dir = options.builds_dir;
	sched_config.images_dir = options.images_dir;
	ret = hub_new(&hub);
	if (ret)
		goto out_unlock;
	sched_config.listen = hub_publish;
	sched_config.listen_arg = hub;
	ret = sched_start(&sched_config, &sched);
	if (ret)
		goto out_hub;
	http_config.port = options.port;
	http_config.data_dir = options.data_dir;
	http_config.builds_dir = options.builds_dir;
	http_config.token = token;
	http_config.sched = sched;
	http_config.hub = hub;
	ret = http_start(&http_config, &http);
	if (ret)
		goto out_sched;
	log_info("serves http://127.0.0.1:%u from %s", http_port(http), options.data_dir);
	sigwait(&signals, &sig);
	log_info("ends by signal %d", sig);

	/* HTTP first: it hands work to the scheduler and is told of progress by it. */
	http_stop(http);
out_sched:
	sched_stop(sched);
out_hub:
	hub_free(hub);
out_unlock:
	explicit_bzero(token, sizeof(token));
	close(lock_fd);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
