// SPDX-License-Identifier: GPL-2.0-only
/* labctl: options, the table of subcommands with their help. */
#include <curl/curl.h>
#include <getopt.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "ctl/ctl.h"

#define DEFAULT_URL "http://127.0.0.1:8210"

static const struct command commands[] = {
	{"plan", "FILE", "show the plan of a spec and the time it takes; store nothing",
	 "FILE is the spec in JSON, - reads it from stdin. Prints the order of the boots, what the plan can\n"
	 "say at best, and the time it takes by what earlier boots and runs took.\n",
	 cmd_plan},
	{"submit", "FILE [--watch]", "submit a spec and print the experiment's number",
	 "FILE is the spec in JSON, - reads it from stdin. --watch follows the experiment as\n"
	 "\"labctl watch\" does.\n",
	 cmd_submit},
	{"aa", "ID [--watch]", "submit an A/A experiment of an experiment's base",
	 "Both arms are the base's build, on the same machine, with the same scenarios, trace and metrics and\n"
	 "a new seed: what they differ by is the machine's own noise, which verdicts then have to beat.\n"
	 "--watch follows it as \"labctl watch\" does.\n",
	 cmd_aa},
	{"watch", "ID", "follow an experiment to its end",
	 "Draws a progress bar on a terminal, else prints a line for each step. Goes on by itself when\n"
	 "labd restarts. Exits with 0 when the experiment is done, 2 when it failed or was cancelled.\n",
	 cmd_watch},
	{"report", "ID [--format FORMAT]", "print the report",
	 "FORMAT is text (the default, fit for a mailing list), csv (a row for each value), json or\n"
	 "benchstat (the Go benchmark format, for \"benchstat -col arm\").\n",
	 cmd_report},
	{"list", "", "list experiments, newest first", "Prints number, state, boots and name.\n",
	 cmd_list},
	{"cancel", "ID", "end an experiment; its finished runs stay", "", cmd_cancel},
	{"builds", "", "list the kernels that an arm can name", "", cmd_builds},
	{"sql", "ID [QUERY]", "ask the database with sqlite3",
	 "Opens lab.db read-only with the raw events of experiment ID attached as \"events\" and the\n"
	 "parameter :experiment set to ID. With QUERY runs that and exits. Needs the data directory.\n",
	 cmd_sql},
	{"export", "ID [-o FILE] [--no-captures]", "write an experiment into one archive",
	 "The archive (FILE, by default labd-experiment-ID.tar.gz) holds the experiment's rows of lab.db,\n"
	 "its raw events, captures (with --no-captures only their hashes), consoles, its builds' manifests,\n"
	 "series, configs and logs, report.txt, results.json, spec.json and SHA256SUMS. Another labd takes\n"
	 "it by labctl import. Needs the data directory.\n",
	 cmd_export},
	{"import", "FILE [--name NAME] [--tsc-khz KHZ]",
	 "store a capture or an experiment of elsewhere",
	 "FILE is a trace.dat, what xentrace wrote, or an archive of labctl export. It is read by labd: it must be on the lab host.\n"
	 "Waits until it is stored, which happens between two boots, and prints where. An\n"
	 "xentrace file does not say how fast its TSC is: Xen's log does (\"Detected 2399.998 MHz\").\n",
	 cmd_import},
	{"reproduce", "RUN [--no-wait]", "do a run again and compare the two",
	 "RUN is a run's number, as reports and pages have it, on a machine whose time is not the host's.\n"
	 "Its boot is done again up to that run, between two experiments; then the values of its metrics and\n"
	 "all events are compared with what is stored. --no-wait prints the reproduction's number instead.\n"
	 "Exits with 0 when the two are identical, 1 when they differ, 2 when that cannot be said.\n",
	 cmd_reproduce},
};

static void print_usage(FILE *out)
{
	fputs("Usage: labctl [OPTIONS] COMMAND [ARGUMENTS]\n\nCommands:\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(out, "  %-9s %-20s %s\n", commands[i].name, commands[i].args,
			commands[i].summary);
	fputs("\nOptions, before the command:\n"
	      "  --url URL          where labd listens (LABD_URL, default " DEFAULT_URL ")\n"
	      "  --token-file FILE  its token (LABD_TOKEN_FILE, default data/token, then /var/lib/labd/token)\n"
	      "  --data DIR         its data directory (LABD_DATA, default where the token file is)\n"
	      "\nlabctl COMMAND --help says more. Exit codes: 0 fine, 1 error, 2 the experiment did not\n"
	      "complete; reproduce has its own.\n",
	      out);
}

static void copy(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

/* Fills what the options left open. */
static void complete(struct ctl *ctl)
{
	static const char *const places[] = {"data/token", "/var/lib/labd/token"};
	const char *url = getenv("LABD_URL"), *token = getenv("LABD_TOKEN_FILE");
	const char *data = getenv("LABD_DATA");
	char parent[PATH_MAX];
	size_t length;

	if (!*ctl->url)
		copy(ctl->url, sizeof(ctl->url), url && *url ? url : DEFAULT_URL);
	length = strlen(ctl->url);
	while (length && ctl->url[length - 1] == '/')
		ctl->url[--length] = '\0';
	if (!*ctl->token_file && token && *token)
		copy(ctl->token_file, sizeof(ctl->token_file), token);
	for (size_t i = 0; i < ARRAY_SIZE(places) && !*ctl->token_file; i++) {
		if (!access(places[i], F_OK) || i + 1 == ARRAY_SIZE(places))
			copy(ctl->token_file, sizeof(ctl->token_file), places[i]);
	}
	if (*ctl->data_dir)
		return;
	if (data && *data) {
		copy(ctl->data_dir, sizeof(ctl->data_dir), data);
	} else if (!access(ctl->token_file, F_OK)) {
		copy(parent, sizeof(parent), ctl->token_file);
		copy(ctl->data_dir, sizeof(ctl->data_dir), dirname(parent));
	}
}

/* Returns -1 to go on, or the exit code. */
static int parse_options(int argc, char **argv, struct ctl *ctl)
{
	static const struct option longs[] = {
		{"url", required_argument, NULL, 'u'},
		{"token-file", required_argument, NULL, 't'},
		{"data", required_argument, NULL, 'd'},
		{"help", no_argument, NULL, 'h'},
		{0},
	};
	int c;

	while ((c = getopt_long(argc, argv, "+h", longs, NULL)) != -1) {
		switch (c) {
		case 'u':
			copy(ctl->url, sizeof(ctl->url), optarg);
			break;
		case 't':
			copy(ctl->token_file, sizeof(ctl->token_file), optarg);
			break;
		case 'd':
			copy(ctl->data_dir, sizeof(ctl->data_dir), optarg);
			break;
		case 'h':
			print_usage(stdout);
			return CTL_OK;
		default:
			print_usage(stderr);
			return CTL_ERROR;
		}
	}
	complete(ctl);
	return -1;
}

static int run(const struct ctl *ctl, const struct command *command, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--help"))
			continue;
		printf("Usage: labctl %s %s\n\n%c%s.\n%s", command->name, command->args,
		       command->summary[0] - 'a' + 'A', command->summary + 1, command->help);
		return CTL_OK;
	}
	optind = 0;
	return command->run(ctl, argc, argv);
}

/** main() - exit codes as in ctl.h */
int main(int argc, char **argv)
{
	struct ctl ctl = {0};
	int ret;

	signal(SIGPIPE, SIG_IGN);
	ret = parse_options(argc, argv, &ctl);
	if (ret >= 0)
		return ret;
	if (optind == argc) {
		print_usage(stderr);
		return CTL_ERROR;
	}
	argv += optind;
	argc -= optind;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, argv[0]))
			continue;
		curl_global_init(CURL_GLOBAL_DEFAULT);
		ret = run(&ctl, &commands[i], argc, argv);
		curl_global_cleanup();
		if (fflush(stdout) && ret == CTL_OK)
			ret = ctl_fail("the output could not be written");
		return ret;
	}
	return ctl_fail("there is no command \"%s\"; labctl --help lists them", argv[0]);
}
