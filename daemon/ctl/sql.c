// SPDX-License-Identifier: GPL-2.0-only
/* labctl sql: becomes sqlite3 on lab.db with an experiment's events attached, read-only. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "ctl/ctl.h"

#define ARGS_MAX 16

/** cmd_sql() - labctl sql ID [QUERY] */
int cmd_sql(const struct ctl *ctl, int argc, char **argv)
{
	char *args[ARGS_MAX] = {"sqlite3", "-readonly", "-bail", "-cmd", ".timeout 20000"};
	char *lab = str_printf("%s/lab.db", ctl->data_dir), *events = NULL, *uri = NULL;
	char *attach = NULL, *parameter = NULL;
	int n = 5, code = CTL_ERROR;
	int64_t id;

	if (argc > 3) {
		ctl_fail("sql takes a number and one query: put it in quotes");
		goto out;
	}
	if (ctl_id(argc > 1 ? argv[1] : NULL, &id))
		goto out;
	if (!*ctl->data_dir || !lab || access(lab, R_OK)) {
		ctl_fail(
			"sql reads labd's data directory, which is not at \"%s\": name it by --data",
			ctl->data_dir);
		goto out;
	}
	events = str_printf("%s/events/%lld.db", ctl->data_dir, (long long)id);
	uri = events ? sqlite_uri(events) : NULL;
	attach = uri ? str_printf("ATTACH '%s' AS events", uri) : NULL;
	parameter = str_printf(".parameter set :experiment %lld", (long long)id);
	if (!attach || !parameter) {
		ctl_fail("out of memory");
		goto out;
	}
	if (isatty(STDOUT_FILENO))
		args[n++] = "-box";
	if (!access(events, R_OK)) {
		args[n++] = "-cmd";
		args[n++] = attach;
	}
	args[n++] = "-cmd";
	args[n++] = parameter;
	args[n++] = lab;
	if (argc == 3)
		args[n++] = argv[2];
	execvp(args[0], args);
	ctl_fail("sqlite3 cannot be started: %s", strerror(errno));
out:
	free(parameter);
	free(attach);
	free(uri);
	free(events);
	free(lab);
	return code;
}
