// SPDX-License-Identifier: GPL-2.0-only
/* One HTTP request, and the sentence that says what went wrong with it. */
#include <curl/curl.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/util.h"
#include "ctl/ctl.h"

#define REPLY_MAX (256u << 20)
#define TOKEN_MAX 256
#define SPEC_MAX (2u << 20)
#define CONNECT_S 10
#define LOW_SPEED_S 120
#define POLL_US 300000

struct reply {
	char *body;
	size_t length;
};

/** ctl_fail() - say on stderr what went wrong; returns CTL_ERROR so that a caller can return the
 * call */
int ctl_fail(const char *fmt, ...)
{
	va_list args;

	fputs("labctl: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return CTL_ERROR;
}

/** ctl_id() - an experiment's number from an argument; 0, or -EINVAL with the reason printed */
int ctl_id(const char *text, int64_t *ret_id)
{
	if (text && !parse_i64(text, 1, INT64_MAX, ret_id))
		return 0;
	if (text)
		ctl_fail("\"%s\" is no number of an experiment; labctl list shows them", text);
	else
		ctl_fail("which experiment? labctl list shows their numbers");
	return -EINVAL;
}

static size_t collect(char *data, size_t size, size_t count, void *arg)
{
	struct reply *reply = arg;
	size_t length = size * count;
	char *grown;

	if (length > REPLY_MAX - reply->length)
		return 0;
	grown = realloc(reply->body, reply->length + length + 1);
	if (!grown)
		return 0;
	reply->body = grown;
	memcpy(reply->body + reply->length, data, length);
	reply->length += length;
	reply->body[reply->length] = '\0';
	return length;
}

/**
 * client_problem() - print what a refused request was refused for
 * @body: an RFC 9457 problem, or anything else, or NULL
 */
void client_problem(const struct ctl *ctl, long status, const char *body)
{
	json_t *json = body ? json_loads(body, 0, NULL) : NULL;
	const char *detail = json_string_value(json_object_get(json, "detail"));
	const char *key = json_string_value(json_object_get(json, "key"));

	if (detail && key)
		ctl_fail("%s: %s", key, detail);
	else if (detail)
		ctl_fail("%s", detail);
	else
		ctl_fail("%s answered with HTTP status %ld", ctl->url, status);
	if (status == 401)
		ctl_fail("the token came from %s", ctl->token_file);
	json_decref(json);
}

static int read_token(const struct ctl *ctl, char ret_header[TOKEN_MAX + 32])
{
	char *token;
	int ret;

	ret = read_file(ctl->token_file, TOKEN_MAX, &token, NULL);
	if (ret) {
		ctl_fail("the token file %s cannot be read: %s", ctl->token_file, strerror(-ret));
		return ret;
	}
	token[strcspn(token, "\r\n")] = '\0';
	snprintf(ret_header, TOKEN_MAX + 32, "Authorization: Bearer %s", token);
	explicit_bzero(token, strlen(token));
	free(token);
	return 0;
}

/* @body: NULL for a GET. @optional: what is not there is -ENOENT, and no mistake. */
static int request(const struct ctl *ctl, const char *path, const char *body, size_t length,
		   bool optional, struct reply *ret_reply)
{
	char authorization[TOKEN_MAX + 32], *url = NULL;
	struct curl_slist *headers = NULL;
	struct reply reply = {0};
	CURL *curl = NULL;
	long status = 0;
	CURLcode code;
	int ret = 0;

	if (body)
		ret = read_token(ctl, authorization);
	if (ret)
		return ret;
	url = str_printf("%s%s", ctl->url, path);
	curl = curl_easy_init();
	if (!url || !curl) {
		ret = -ENOMEM;
		goto out;
	}
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_S);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)LOW_SPEED_S);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, collect);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &reply);
	if (body) {
		headers = curl_slist_append(headers, "Content-Type: application/json");
		headers = curl_slist_append(headers, authorization);
		curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
	}
	code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK) {
		ctl_fail("labd at %s cannot be reached: %s", ctl->url, curl_easy_strerror(code));
		ret = -ECONNREFUSED;
	} else if (status == 404 && optional) {
		ret = -ENOENT;
	} else if (status >= 300) {
		client_problem(ctl, status, reply.body);
		ret = -EPROTO;
	}
out:
	explicit_bzero(authorization, sizeof(authorization));
	curl_slist_free_all(headers);
	curl_easy_cleanup(curl);
	free(url);
	if (ret)
		free(reply.body);
	else
		*ret_reply = reply;
	return ret;
}

static int parse(struct reply *reply, json_t **ret_json)
{
	json_error_t error;
	json_t *json = json_loads(reply->body ? reply->body : "", 0, &error);

	free(reply->body);
	if (!json) {
		ctl_fail("the answer is no JSON: %s", error.text);
		return -EPROTO;
	}
	*ret_json = json;
	return 0;
}

static int get(const struct ctl *ctl, const char *path, bool optional, char **ret_body,
	       size_t *ret_length)
{
	struct reply reply;
	int ret;

	ret = request(ctl, path, NULL, 0, optional, &reply);
	if (ret)
		return ret;
	*ret_body = reply.body ? reply.body : strdup("");
	if (ret_length)
		*ret_length = reply.length;
	return *ret_body ? 0 : -ENOMEM;
}

/**
 * client_get() - read something
 * @ret_body: for the caller to free; a NUL follows it
 *
 * Return: 0, or negative errno with the reason printed.
 */
int client_get(const struct ctl *ctl, const char *path, char **ret_body, size_t *ret_length)
{
	return get(ctl, path, false, ret_body, ret_length);
}

/** client_find() - as client_get(), but what is not there is -ENOENT and nothing is printed */
int client_find(const struct ctl *ctl, const char *path, char **ret_body, size_t *ret_length)
{
	return get(ctl, path, true, ret_body, ret_length);
}

/** client_get_json() - read a JSON value; @ret_json is a new reference */
int client_get_json(const struct ctl *ctl, const char *path, json_t **ret_json)
{
	struct reply reply;
	int ret;

	ret = request(ctl, path, NULL, 0, false, &reply);
	return ret ? ret : parse(&reply, ret_json);
}

/** client_post() - change something, with the token; @ret_json is a new reference */
int client_post(const struct ctl *ctl, const char *path, const char *body, size_t length,
		json_t **ret_json)
{
	struct reply reply;
	int ret;

	ret = request(ctl, path, body, length, false, &reply);
	return ret ? ret : parse(&reply, ret_json);
}

/**
 * client_post_file() - post a spec
 * @file: its name, "-" for stdin
 * @ret_json: new reference
 *
 * Return: 0, or negative errno with the reason printed.
 */
int client_post_file(const struct ctl *ctl, const char *path, const char *file, json_t **ret_json)
{
	size_t length;
	char *body;
	int ret;

	ret = read_file(strcmp(file, "-") ? file : "/dev/stdin", SPEC_MAX, &body, &length);
	if (ret) {
		ctl_fail("%s cannot be read: %s", file, strerror(-ret));
		return ret;
	}
	ret = client_post(ctl, path, body, length, ret_json);
	free(body);
	return ret;
}

/**
 * client_wait() - ask for a thing of the scheduler's queue until it has ended
 * @ret_json: as it is then, new reference
 *
 * Return: as client_get_json().
 */
int client_wait(const struct ctl *ctl, const char *path, json_t **ret_json)
{
	const char *state;
	int ret;

	while (!(ret = client_get_json(ctl, path, ret_json))) {
		state = json_text(*ret_json, "state");
		if (strcmp(state, "queued") && strcmp(state, "running"))
			break;
		json_decref(*ret_json);
		usleep(POLL_US);
	}
	return ret;
}
