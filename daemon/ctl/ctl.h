/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_CTL_CTL_H
#define LABD_CTL_CTL_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* labctl: a thin client of labd's HTTP API. Shared by the files of ctl/ only. */

/* What labctl exits with. */
enum {
	CTL_OK = 0,
	CTL_ERROR = 1,	    /* a mistake or a failure, named on stderr */
	CTL_INCOMPLETE = 2, /* the experiment did not complete */
};

/**
 * struct ctl - where labd is
 * @url: without a slash at its end
 * @token_file: holds the token; read only when something is changed
 * @data_dir: labd's data directory, empty when it is not known here
 */
struct ctl {
	char url[512];
	char token_file[PATH_MAX];
	char data_dir[PATH_MAX];
};

/**
 * struct command - one subcommand
 * @args: how its arguments are written in the usage line
 * @run: gets its own name as argv[0]; returns an exit code
 */
struct command {
	const char *name;
	const char *args;
	const char *summary;
	const char *help;
	int (*run)(const struct ctl *ctl, int argc, char **argv);
};

/* client.c */
int client_get(const struct ctl *ctl, const char *path, char **ret_body, size_t *ret_length);
int client_find(const struct ctl *ctl, const char *path, char **ret_body, size_t *ret_length);
int client_get_json(const struct ctl *ctl, const char *path, json_t **ret_json);
int client_post(const struct ctl *ctl, const char *path, const char *body, size_t length,
		json_t **ret_json);
int client_post_file(const struct ctl *ctl, const char *path, const char *file, json_t **ret_json);
int client_wait(const struct ctl *ctl, const char *path, json_t **ret_json);
void client_problem(const struct ctl *ctl, long status, const char *body);
int ctl_fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
int ctl_id(const char *text, int64_t *ret_id);

/* program.c */
int program_run(char *const argv[], char **ret_output);
char *sqlite_uri(const char *path);

/* watch.c */
int watch_experiment(const struct ctl *ctl, int64_t id);

/* One function for each subcommand. */
int cmd_submit(const struct ctl *ctl, int argc, char **argv);
int cmd_plan(const struct ctl *ctl, int argc, char **argv);
int cmd_aa(const struct ctl *ctl, int argc, char **argv);
int cmd_watch(const struct ctl *ctl, int argc, char **argv);
int cmd_report(const struct ctl *ctl, int argc, char **argv);
int cmd_list(const struct ctl *ctl, int argc, char **argv);
int cmd_cancel(const struct ctl *ctl, int argc, char **argv);
int cmd_builds(const struct ctl *ctl, int argc, char **argv);
int cmd_sql(const struct ctl *ctl, int argc, char **argv);
int cmd_export(const struct ctl *ctl, int argc, char **argv);
int cmd_import(const struct ctl *ctl, int argc, char **argv);
int cmd_reproduce(const struct ctl *ctl, int argc, char **argv);

#endif
