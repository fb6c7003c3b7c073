// SPDX-License-Identifier: GPL-2.0-only
/* lab-agent: runs in the machine under test, proves its kernel, does the host's jobs one at a time.
 */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent/channel.h"
#include "agent/env.h"
#include "agent/init.h"
#include "agent/run.h"
#include "agent/tracefs.h"
#include "base/frame.h"
#include "base/log.h"
#include "base/util.h"

#define PORT_NAME "org.labd.agent"
#define HOST_TIMEOUT_MS 30000

/**
 * struct agent - one process' life
 * @quit: the host said so, or a signal did
 */
struct agent {
	struct agent_settings settings;
	const struct agent_channel_ops *channel;
	const char *address;
	struct agent_link link;
	bool quit;
};

static const char usage[] =
	"usage: lab-agent [--fd N | --disk FILE] [--bin DIR] [--spool DIR]\n"
	"  --fd N       frames over this inherited descriptor (default: virtio port " PORT_NAME
	")\n"
	"  --disk FILE  frames over this disk image\n"
	"  --bin DIR    where the workloads are (default /bin)\n"
	"  --spool DIR  a folder on a tmpfs for raw pages (default /run)\n"
	"As PID 1 it mounts what it needs and powers the machine off in the end.\n";

/* Steals the reference; NULL says that memory ran out. */
static int send_json(struct agent *agent, enum frame_type type, json_t *value)
{
	char *text = value ? json_dumps(value, JSON_COMPACT) : NULL;
	int ret;

	ret = text ? frame_write(agent->link.out, type, text, strlen(text)) : -ENOMEM;
	free(text);
	json_decref(value);
	return ret;
}

static int on_frame(void *arg, const struct frame *frame)
{
	struct agent *agent = arg;

	switch (frame->type) {
	case FRAME_JOB:
		return agent_run(&agent->settings, agent->link.out, frame->payload, frame->length);
	case FRAME_EVENTS:
		return send_json(agent, FRAME_EVENTS, agent_trace_events());
	case FRAME_QUIT:
		agent->quit = true;
		return -ECANCELED;
	default:
		return -EPROTO;
	}
}

/* Serve one host until it hangs up (0), says QUIT or fails (negative). */
static int serve(struct agent *agent)
{
	struct pollfd fds[] = {
		{.fd = agent->settings.signal_fd, .events = POLLIN},
		{.fd = agent->link.in, .events = POLLIN},
	};
	struct frame_reader reader;
	uint8_t buffer[4096];
	ssize_t n;
	int ret;

	ret = frame_reader_init(&reader);
	if (ret)
		return ret;
	ret = send_json(agent, FRAME_HELLO, agent_env_hello());
	while (!ret) {
		if (poll(fds, ARRAY_SIZE(fds), -1) < 0)
			continue;
		if (fds[0].revents) {
			agent->quit = true;
			break;
		}
		n = read(agent->link.in, buffer, sizeof(buffer));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			ret = n ? -errno : 0;
			break;
		}
		ret = frame_reader_push(&reader, buffer, n, on_frame, agent);
	}
	frame_reader_free(&reader);
	return ret;
}

static int live(struct agent *agent)
{
	int ret;

	do {
		ret = agent->channel->open(agent->address, HOST_TIMEOUT_MS, &agent->link);
		if (ret) {
			log_err("no host on the %s: %s", agent->channel->name, strerror(-ret));
			return ret;
		}
		ret = serve(agent);
		close(agent->link.out);
		if (agent->link.in != agent->link.out)
			close(agent->link.in);
		if (ret && !agent->quit)
			log_err("lost the host: %s", strerror(-ret));
	} while (!agent->quit && agent->channel->reopens);
	return agent->quit ? 0 : ret;
}

static int parse_options(int argc, char **argv, struct agent *agent)
{
	static const struct option options[] = {
		{"fd", required_argument, NULL, 'f'},  {"disk", required_argument, NULL, 'd'},
		{"bin", required_argument, NULL, 'b'}, {"spool", required_argument, NULL, 's'},
		{"help", no_argument, NULL, 'h'},      {0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'f':
			agent->channel = &agent_channel_fd;
			agent->address = optarg;
			break;
		case 'd':
			agent->channel = &agent_channel_disk;
			agent->address = optarg;
			break;
		case 'b':
			agent->settings.bin_dir = optarg;
			break;
		case 's':
			agent->settings.spool_dir = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		default:
			return -EINVAL;
		}
	}
	return optind == argc ? 0 : -EINVAL;
}

/* On a real machine the kernel's command line says which channel there is, if not the usual one. */
static int choose_channel(struct agent *agent)
{
	char *name = agent_env_word("labd.channel=");
	int ret = 0;

	if (name && !strcmp(name, agent_channel_disk.name)) {
		agent->channel = &agent_channel_disk;
		agent->address = NULL;
	} else if (name) {
		log_err("there is no channel \"%s\"", name);
		ret = -EINVAL;
	}
	free(name);
	return ret;
}

int main(int argc, char **argv)
{
	struct agent agent = {
		.settings = {.bin_dir = "/bin", .spool_dir = "/run"},
		.channel = &agent_channel_virtio,
		.address = PORT_NAME,
	};
	json_t *hello;
	sigset_t stop;

	/* What else the kernel's command line holds is handed to PID 1 as arguments: not ours. */
	if (getpid() == 1) {
		agent_init_become();
		if (choose_channel(&agent))
			return EXIT_FAILURE;
	} else if (parse_options(argc, argv, &agent)) {
		fputs(usage, stderr);
		return EXIT_FAILURE;
	}

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	sigprocmask(SIG_BLOCK, &stop, NULL);
	agent.settings.settle = agent.channel->settle;
	agent.settings.signal_fd = signalfd(-1, &stop, SFD_CLOEXEC);
	if (agent.settings.signal_fd < 0) {
		log_err("signalfd: %s", strerror(errno));
		return EXIT_FAILURE;
	}

	agent_trace_sweep();
	hello = agent_env_hello();
	agent_env_announce(hello);
	json_decref(hello);
	return live(&agent) ? EXIT_FAILURE : EXIT_SUCCESS;
}
