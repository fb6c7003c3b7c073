// SPDX-License-Identifier: GPL-2.0-only
/*
 * labctl watch: follows the server-sent events of an experiment. On a terminal one line is redrawn
 * each second; elsewhere each step gets a line. Every event carries the whole state, so a
 * connection that broke is simply opened again.
 */
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/json.h"
#include "base/util.h"
#include "ctl/ctl.h"

#define LINE_LIMIT 65536
#define SILENCE_S 45 /* labd sends something every 15 s */
#define GIVE_UP_S 180
#define RETRY_S 2
#define COLUMNS_MAX 200
#define BAR_WIDTH_MAX 30

/**
 * struct watch - one experiment being followed
 * @line: the line being received
 * @event: name of the event being received
 * @progress: the last state, or NULL
 * @at: when it came, monotonic ns
 * @drawn: the last thing printed without a terminal
 */
struct watch {
	const struct ctl *ctl;
	int64_t id;
	CURL *curl;
	bool tty;
	char *line;
	size_t length;
	char event[32];
	json_t *progress;
	int64_t at;
	char drawn[256];
	bool ended;
};

static int64_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void time_left(const struct watch *watch, char *to, size_t size)
{
	const json_t *eta = json_object_get(watch->progress, "eta_s");
	int64_t left;

	*to = '\0';
	if (!json_is_integer(eta))
		return;
	left = json_integer_value(eta) - (mono_ns() - watch->at) / 1000000000;
	if (left < 1)
		left = 1;
	if (left < 60)
		snprintf(to, size, ", %lld s left", (long long)left);
	else
		snprintf(to, size, ", %lld min %lld s left", (long long)(left / 60),
			 (long long)(left % 60));
}

static void where(const struct watch *watch, char *to, size_t size)
{
	const json_t *progress = watch->progress, *current = json_object_get(progress, "current");
	const char *state = json_text(progress, "state"),
		   *scenario = json_text(current, "scenario");

	if (json_is_object(current))
		snprintf(to, size, "boot %lld of %lld, round %lld, %s%s%s",
			 (long long)number(current, "position"),
			 (long long)number(progress, "boots_total"),
			 (long long)number(current, "round"), json_text(current, "arm"),
			 *scenario ? ": " : " boots", scenario);
	else if (!strcmp(state, "queued"))
		snprintf(to, size, "waits behind %lld others",
			 (long long)number(progress, "ahead"));
	else if (*json_text(progress, "reason"))
		snprintf(to, size, "%s", json_text(progress, "reason"));
	else
		snprintf(to, size, "%s",
			 strcmp(state, "running") ? state : "stores what it recorded");
	for (char *c = to; *c; c++) {
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	}
}

static int columns(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20)
		return 80;
	return size.ws_col < COLUMNS_MAX ? size.ws_col : COLUMNS_MAX;
}

static void draw(struct watch *watch)
{
	int64_t done = number(watch->progress, "runs_done"),
		total = number(watch->progress, "runs_total");
	char what[160], left[48], line[512], bar[BAR_WIDTH_MAX + 1];
	int percent = total > 0 ? (int)(100 * done / total) : 0, width = columns() / 4, filled;

	where(watch, what, sizeof(what));
	time_left(watch, left, sizeof(left));
	if (!watch->tty) {
		if (strcmp(what, watch->drawn)) {
			printf("%3d%%  %lld of %lld runs%s  %s\n", percent, (long long)done,
			       (long long)total, left, what);
			fflush(stdout);
		}
		snprintf(watch->drawn, sizeof(watch->drawn), "%s", what);
		return;
	}
	width = width > BAR_WIDTH_MAX ? BAR_WIDTH_MAX : width;
	filled = percent * width / 100;
	memset(bar, '#', (size_t)filled);
	memset(bar + filled, '-', (size_t)(width - filled));
	bar[width] = '\0';
	snprintf(line, sizeof(line), "[%s] %3d%%%s  %s", bar, percent, left, what);
	printf("\r%.*s\033[K", columns() - 1, line);
	fflush(stdout);
}

static void take_event(struct watch *watch, const char *data)
{
	json_t *json;

	if (!strcmp(watch->event, "end")) {
		watch->ended = true;
		return;
	}
	json = strcmp(watch->event, "progress") ? NULL : json_loads(data, 0, NULL);
	if (!json)
		return;
	json_decref(watch->progress);
	watch->progress = json;
	watch->at = mono_ns();
	draw(watch);
}

static void take_line(struct watch *watch)
{
	if (!strncmp(watch->line, "event: ", 7))
		snprintf(watch->event, sizeof(watch->event), "%s", watch->line + 7);
	else if (!strncmp(watch->line, "data: ", 6))
		take_event(watch, watch->line + 6);
}

static size_t receive(char *data, size_t size, size_t count, void *arg)
{
	struct watch *watch = arg;
	long status = 0;

	curl_easy_getinfo(watch->curl, CURLINFO_RESPONSE_CODE, &status);
	for (size_t i = 0; i < size * count; i++) {
		if (watch->length + 1 >= LINE_LIMIT)
			return 0;
		/* An error's body is kept whole, as it is no stream. */
		if (status == 200 && data[i] == '\n') {
			watch->line[watch->length] = '\0';
			take_line(watch);
			watch->length = 0;
		} else {
			watch->line[watch->length++] = data[i];
		}
	}
	return size * count;
}

static int tick(void *arg, curl_off_t dltotal, curl_off_t dlnow, curl_off_t ultotal,
		curl_off_t ulnow)
{
	struct watch *watch = arg;

	if (watch->tty && watch->progress)
		draw(watch);
	return 0;
}

/* One connection. Returns 0 when it may be tried again, or negative errno with the reason printed.
 */
static int follow(struct watch *watch)
{
	char *url = str_printf("%s/api/v1/experiments/%lld/stream", watch->ctl->url,
			       (long long)watch->id);
	long status = 0;
	int ret = 0;

	watch->curl = curl_easy_init();
	if (!watch->curl || !url) {
		ret = -ENOMEM;
		goto out;
	}
	watch->length = 0;
	curl_easy_setopt(watch->curl, CURLOPT_URL, url);
	curl_easy_setopt(watch->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(watch->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(watch->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(watch->curl, CURLOPT_LOW_SPEED_TIME, (long)SILENCE_S);
	curl_easy_setopt(watch->curl, CURLOPT_WRITEFUNCTION, receive);
	curl_easy_setopt(watch->curl, CURLOPT_WRITEDATA, watch);
	curl_easy_setopt(watch->curl, CURLOPT_XFERINFOFUNCTION, tick);
	curl_easy_setopt(watch->curl, CURLOPT_XFERINFODATA, watch);
	curl_easy_setopt(watch->curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_perform(watch->curl);
	curl_easy_getinfo(watch->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status >= 400 && status < 500) {
		watch->line[watch->length] = '\0';
		client_problem(watch->ctl, status, watch->line);
		ret = -EPROTO;
	}
out:
	curl_easy_cleanup(watch->curl);
	free(url);
	return ret;
}

static int follow_to_end(struct watch *watch)
{
	int64_t heard = mono_ns();
	bool said = false;
	int ret;

	while (!watch->ended) {
		ret = follow(watch);
		if (ret)
			return ret;
		if (watch->ended)
			break;
		if (watch->at > heard) {
			heard = watch->at;
			said = false;
		}
		if (!watch->progress || mono_ns() - heard > GIVE_UP_S * 1000000000LL) {
			ctl_fail("%slabd at %s cannot be reached",
				 watch->tty && watch->progress ? "\n" : "", watch->ctl->url);
			return -ECONNREFUSED;
		}
		if (!said)
			ctl_fail("%sthe connection is lost; trying again", watch->tty ? "\n" : "");
		said = true;
		sleep(RETRY_S);
	}
	return 0;
}

/**
 * watch_experiment() - follow an experiment to its end
 *
 * Return: an exit code: CTL_OK when it is done, CTL_INCOMPLETE when it failed or was cancelled.
 */
int watch_experiment(const struct ctl *ctl, int64_t id)
{
	struct watch watch = {.ctl = ctl, .id = id, .tty = isatty(STDOUT_FILENO)};
	const char *state, *reason;
	int code = CTL_ERROR;

	watch.line = malloc(LINE_LIMIT);
	if (!watch.line)
		return ctl_fail("out of memory");
	if (!follow_to_end(&watch)) {
		state = json_text(watch.progress, "state");
		reason = json_text(watch.progress, "reason");
		printf("%sexperiment %lld: %s%s%s\n", watch.tty ? "\r\033[K" : "", (long long)id,
		       state, *reason ? ": " : "", reason);
		code = strcmp(state, "done") ? CTL_INCOMPLETE : CTL_OK;
	}
	json_decref(watch.progress);
	free(watch.line);
	return code;
}

/** cmd_watch() - labctl watch ID */
int cmd_watch(const struct ctl *ctl, int argc, char **argv)
{
	int64_t id;

	if (ctl_id(argc == 2 ? argv[1] : NULL, &id))
		return CTL_ERROR;
	return watch_experiment(ctl, id);
}
