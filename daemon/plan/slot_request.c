// SPDX-License-Identifier: GPL-2.0-only
/* From an experiment's spec, builds and image to what a machine needs for one boot of a slot. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/util.h"
#include "plan/slot_boot.h"

/* Longer than the kernel's own watchdogs, so that their reports come first. */
#define HANG_TIMEOUT_MS 150000
/*
 * Of the host's time: a machine whose clock stands still that long does not go on. One that gets
 * no CPU for minutes, behind a busy host's other work, does.
 */
#define STALL_TIMEOUT_MS 600000
/* So that the limits of the boot's parts come before that of the whole. */
#define LIMIT_MARGIN_MS 60000

/*
 * A token proves that the kernel which answers was started by this boot. On a deterministic machine
 * it must be the same whenever the same is booted, for it is in the guest's memory.
 */
static int make_token(const struct exec *exec, const struct boot_request *boot, char ret_token[33])
{
	char hex[SHA256_HEX_LEN + 1], *text;
	json_t *all;

	if (!exec->ops->deterministic)
		return random_hex(ret_token, 16);
	all = json_pack("{s:s, s:s*, s:O?, s:s*, s:s*, s:O}", "build_id", boot->build_id,
			"hypervisor_build_id", boot->hypervisor_build_id, "image",
			json_object_get(exec->image, "sha256"), "cmdline", boot->cmdline,
			"hypervisor_cmdline", boot->hypervisor_cmdline, "jobs", boot->jobs);
	text = all ? json_dumps(all, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
	json_decref(all);
	if (!text)
		return -ENOMEM;
	sha256_hex(text, strlen(text), hex);
	free(text);
	snprintf(ret_token, 33, "%.32s", hex);
	return 0;
}

/**
 * slot_request_make() - what a boot of @slot needs, with a token
 * @jobs: those of its runs that the boot does; must live as long as @ret_request, as must @exec
 * @console: the console log's name in the data directory
 * @ret_request: filled in
 *
 * Return: 0 or negative errno.
 */
int slot_request_make(const struct exec *exec, const struct plan_slot *slot, const json_t *jobs,
		      const char *console, struct slot_request *ret_request)
{
	const char *data_dir = exec->sched->config.data_dir;
	const json_t *build = exec->builds[slot->arm], *job;
	struct boot_request *boot = &ret_request->boot;
	size_t i;

	*boot = (struct boot_request){
		.kernel = json_text(build, "kernel"),
		.image = json_text(exec->image, "image"),
		.build_id = json_text(build, "build_id"),
		.token = ret_request->token,
		.cmdline = exec->spec->cmdline,
		.hypervisor_cmdline = exec->spec->xen_cmdline,
		.jobs = jobs,
		.runtime_dir = ret_request->runtime,
		.console_path = ret_request->console,
		.cancel_fd = exec->sched->cancel_fd,
		.boot_timeout_ms = exec->spec->boot_timeout_s * 1000,
		.hang_timeout_ms = HANG_TIMEOUT_MS,
		.stall_timeout_ms = STALL_TIMEOUT_MS,
	};
	if (json_object_get(build, "hypervisor")) {
		boot->hypervisor = json_text(build, "hypervisor");
		boot->hypervisor_build_id = json_text(build, "hypervisor_build_id");
	}
	boot->limit_ms = boot->boot_timeout_ms + BOOT_POWER_OFF_MS + LIMIT_MARGIN_MS;
	json_array_foreach ((json_t *)jobs, i, job) {
		boot->limit_ms += job_timeout_ms(exec->spec, slot, job_place(job));
	}
	snprintf(ret_request->runtime, PATH_MAX, "%s/run", data_dir);
	snprintf(ret_request->console, PATH_MAX, "%s/%s", data_dir, console);
	return make_token(exec, boot, ret_request->token);
}
