// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the agent's frames mean. The agent runs on a kernel that is under test, so whatever does not
 * fit the protocol ends the boot instead of being made sense of.
 */
#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "machine/session.h"

#define PROTOCOL_VERSION 1

static const char *const frame_names[] = {
	[FRAME_HELLO] = "HELLO",   [FRAME_JOB] = "JOB",	  [FRAME_STARTED] = "STARTED",
	[FRAME_FILE] = "FILE",	   [FRAME_DATA] = "DATA", [FRAME_DONE] = "DONE",
	[FRAME_QUIT] = "QUIT",	   [FRAME_LOG] = "LOG",	  [FRAME_FULL] = "FULL",
	[FRAME_EVENTS] = "EVENTS",
};

static json_t *parse(struct boot *boot, const struct frame *frame)
{
	json_error_t error;
	json_t *json;

	json = json_loadb((const char *)frame->payload, frame->length, JSON_REJECT_DUPLICATES,
			  &error);
	if (json_is_object(json))
		return json;
	json_decref(json);
	boot_stop(boot, STOP_PROTOCOL, -EPROTO, "The agent sent a %s that is no JSON object.",
		  frame_names[frame->type]);
	return NULL;
}

/* A text of HELLO cut and made printable, since it goes into a sentence. */
static const char *shown(const json_t *object, const char *key, char ret_text[64])
{
	const char *text = json_string_value(json_object_get(object, key));
	size_t i;

	if (!text || !*text)
		return "none";
	for (i = 0; i < 63 && text[i]; i++)
		ret_text[i] = text[i] > ' ' && text[i] <= '~' ? text[i] : '?';
	ret_text[i] = '\0';
	return ret_text;
}

/* A hypervisor must be the arm's, and there must be none where the arm has none. */
static void check_hypervisor(struct boot *boot, const json_t *hello)
{
	const json_t *hypervisor = json_object_get(hello, "hypervisor");
	const char *build_id = json_string_value(json_object_get(hypervisor, "build_id"));
	const char *want = boot->request.hypervisor_build_id;
	char text[64];

	if (want && (!build_id || strcmp(build_id, want)))
		boot_stop(boot, STOP_WRONG_KERNEL, -EPROTO,
			  "The hypervisor that runs has build-id %s, the arm's has %.64s.",
			  shown(hypervisor, "build_id", text), want);
	else if (!want && hypervisor && !json_is_null(hypervisor))
		boot_stop(boot, STOP_WRONG_KERNEL, -EPROTO,
			  "The kernel runs on a hypervisor with build-id %s, and the arm has none.",
			  shown(hypervisor, "build_id", text));
}

static void take_hello(struct boot *boot, const struct frame *frame)
{
	const char *build_id, *token;
	char text[64];
	json_t *hello;

	if (boot->phase != PHASE_BOOTING || boot->hello) {
		boot_stop(boot, STOP_PROTOCOL, -EPROTO, "The agent started a second time.");
		return;
	}
	hello = parse(boot, frame);
	if (!hello)
		return;
	build_id = json_string_value(json_object_get(hello, "build_id"));
	token = json_string_value(json_object_get(hello, "token"));
	if (json_integer_value(json_object_get(hello, "proto")) != PROTOCOL_VERSION)
		boot_stop(boot, STOP_PROTOCOL, -EPROTO,
			  "The agent does not speak version %d of the protocol: rebuild the image.",
			  PROTOCOL_VERSION);
	else if (!build_id || strcmp(build_id, boot->request.build_id))
		boot_stop(boot, STOP_WRONG_KERNEL, -EPROTO,
			  "The kernel that runs has build-id %s, the arm's has %.64s.",
			  shown(hello, "build_id", text), boot->request.build_id);
	else if (!token || strcmp(token, boot->request.token))
		boot_stop(boot, STOP_WRONG_KERNEL, -EPROTO,
			  "The kernel that runs was started with token %s, this boot's is %.64s.",
			  shown(hello, "token", text), boot->request.token);
	else
		check_hypervisor(boot, hello);
	if (boot->facts.stop)
		json_decref(hello);
	else
		boot->hello = hello;
}

static bool is_this_run(struct boot *boot, const struct frame *frame, const json_t *json)
{
	const json_t *job_run = json_object_get(boot->run->job, "run");

	if (json_equal(json_object_get(json, "run"), job_run))
		return true;
	boot_stop(boot, STOP_PROTOCOL, -EPROTO, "The agent sent a %s for another run.",
		  frame_names[frame->type]);
	return false;
}

static void take_started(struct boot *boot, const struct frame *frame)
{
	json_t *json = parse(boot, frame);

	if (json && is_this_run(boot, frame, json) && !boot->started) {
		boot->started = true;
		if (boot->run->started)
			boot->run->started(boot->run->arg);
	}
	json_decref(json);
}

static void file_error(struct boot *boot, int error)
{
	boot_stop(boot, STOP_INFRA, error, "The capture cannot be written: %s.", strerror(-error));
}

static void take_file(struct boot *boot, const struct frame *frame)
{
	static const char *const names[ARRAY_SIZE(boot->files)] = {"capture", "xentrace"};
	const char *const paths[] = {boot->run->capture_path, boot->run->xen_path, NULL};
	json_t *json = parse(boot, frame), *size_json;
	unsigned int n = boot->announced;
	const char *name, *path = paths[n];
	json_int_t size;
	int ret;

	if (!json)
		return;
	name = json_string_value(json_object_get(json, "name"));
	size_json = json_object_get(json, "size");
	size = json_integer_value(size_json);
	if (!path || !name || strcmp(name, names[n]) || !json_is_integer(size_json) || size < 0) {
		boot_stop(boot, STOP_PROTOCOL, -EPROTO,
			  "The agent announced a file that nobody expects.");
	} else if ((uint64_t)size > boot->run->capture_max) {
		boot_stop(boot, STOP_REFUSED, -EFBIG,
			  "The run's %s has %lld bytes; at most %llu are taken.", names[n],
			  (long long)size, (unsigned long long)boot->run->capture_max);
	} else {
		ret = receive_open(&boot->files[n], path, size);
		if (ret)
			file_error(boot, ret);
		else
			boot->announced++;
	}
	json_decref(json);
}

static void take_data(struct boot *boot, const struct frame *frame)
{
	int ret = -EMSGSIZE;

	if (boot->announced)
		ret = receive_data(&boot->files[boot->announced - 1], frame->payload,
				   frame->length);
	if (ret == -EMSGSIZE)
		boot_stop(boot, STOP_PROTOCOL, -EPROTO,
			  "The agent sent more data than it announced.");
	else if (ret)
		file_error(boot, ret);
}

static void short_file(struct boot *boot)
{
	const struct receive *file = &boot->files[0];

	if (file->have == file->size)
		file++;
	boot_stop(boot, STOP_PROTOCOL, -EPROTO,
		  "The agent announced a capture of %llu bytes and sent %llu.",
		  (unsigned long long)file->size, (unsigned long long)file->have);
}

static void take_done(struct boot *boot, const struct frame *frame)
{
	json_t *json = parse(boot, frame);
	int ret;

	if (!json || !is_this_run(boot, frame, json))
		goto drop;
	ret = receive_commit(boot->files, boot->announced);
	if (ret == -ENODATA)
		short_file(boot);
	else if (ret)
		file_error(boot, ret);
	if (ret)
		goto drop;
	boot->done = json;
	return;
drop:
	json_decref(json);
}

/**
 * frames_take() - act on one frame of the agent
 * @arg: the boot
 *
 * Return: 0, or -ECANCELED when the boot is over and nothing more is wanted.
 */
int frames_take(void *arg, const struct frame *frame)
{
	struct boot *boot = arg;
	bool running = boot->phase == PHASE_RUNNING && !boot->done;

	if (frame->type == FRAME_LOG) {
		console_feed(boot->console, CONSOLE_AGENT, frame->payload, frame->length);
		if (frame->length && frame->payload[frame->length - 1] != '\n')
			console_feed(boot->console, CONSOLE_AGENT, "\n", 1);
	} else if (frame->type == FRAME_FULL) {
		boot_stop(boot, STOP_REFUSED, -EFBIG,
			  "What the agent sent does not fit the machine's disk image.");
	} else if (frame->type == FRAME_HELLO) {
		take_hello(boot, frame);
	} else if (frame->type == FRAME_EVENTS && boot->phase >= PHASE_LISTING && !boot->events) {
		boot->events = parse(boot, frame);
	} else if (frame->type == FRAME_STARTED && running) {
		take_started(boot, frame);
	} else if (frame->type == FRAME_FILE && running) {
		take_file(boot, frame);
	} else if (frame->type == FRAME_DATA && running) {
		take_data(boot, frame);
	} else if (frame->type == FRAME_DONE && running) {
		take_done(boot, frame);
	} else {
		boot_stop(boot, STOP_PROTOCOL, -EPROTO, "The agent sent a %s out of turn.",
			  frame_names[frame->type]);
	}
	return boot->facts.stop ? -ECANCELED : 0;
}
