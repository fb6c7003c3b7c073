// SPDX-License-Identifier: GPL-2.0-only
/*
 * The proof of the kernel that runs, and its environment. "env" holds only what must be the same in
 * both arms of a pair; what varies by itself is in "observed".
 */
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "agent/env.h"
#include "agent/hypervisor.h"
#include "base/log.h"
#include "base/util.h"

#define TEXT_MAX (4u << 20)
#define BUILD_ID_MAX 64
#define MAX_FILES 128
#define CPU_DIR "/sys/devices/system/cpu"
#define CLOCKSOURCE "/sys/devices/system/clocksource/clocksource0/current_clocksource"
#define CLOCK_SETTLE_MS 3000

/* A small file's text without trailing white space; NULL when it is not there. The caller frees. */
static char *text_of(const char *path)
{
	size_t len;
	char *text;

	if (read_file(path, TEXT_MAX, &text, &len))
		return NULL;
	while (len && strchr(" \n\t", text[len - 1]))
		text[--len] = '\0';
	return text;
}

/* The same as JSON: null when the file is not there or no text. */
static json_t *json_of(const char *path)
{
	char *text = text_of(path);
	json_t *value;

	value = text ? json_string(text) : NULL;
	free(text);
	return value ?: json_null();
}

/* Value behind the first "KEY...:" line of a proc file's text, up to the line's end. */
static json_t *proc_value(const char *text, const char *key)
{
	const char *line, *end;
	size_t len = strlen(key);
	json_t *value = NULL;

	for (line = text; line && *line; line = end ? end + 1 : NULL) {
		end = strchr(line, '\n');
		if (strncmp(line, key, len) || (line[len] != '\t' && line[len] != ':'))
			continue;
		line = strchr(line, ':');
		if (!line || (end && line > end))
			break;
		line += 1 + strspn(line + 1, " \t");
		value = json_stringn(line, end ? (size_t)(end - line) : strlen(line));
		break;
	}
	return value ?: json_null();
}

static uint64_t meminfo_kib(const char *key)
{
	char *text = text_of("/proc/meminfo");
	json_t *value = proc_value(text, key);
	uint64_t kib = strtoull(json_string_value(value) ?: "0", NULL, 10);

	json_decref(value);
	free(text);
	return kib;
}

/*
 * RAM as the firmware gave it. MemTotal will not do: it is less the kernel's own size, so that it
 * differs between two arms of which one has a little more code.
 */
static uint64_t ram_kib(void)
{
	char *text = text_of("/proc/iomem");
	unsigned long long first, last;
	uint64_t bytes = 0;

	for (char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (*line != ' ' && sscanf(line, "%llx-%llx : System RAM", &first, &last) == 2 &&
		    !strncmp(line + strcspn(line, ":"), ": System RAM", 12) && last > first)
			bytes += last - first + 1;
	}
	free(text);
	return bytes ? bytes / 1024 : meminfo_kib("MemTotal");
}

/* The GNU build-id among the kernel's notes. */
static json_t *build_id(void)
{
	char *notes, hex[2 * BUILD_ID_MAX + 1];
	json_t *value = NULL;
	size_t len, at = 0;
	Elf64_Nhdr note;

	if (read_file("/sys/kernel/notes", TEXT_MAX, &notes, &len))
		return json_null();
	while (!value && len - at >= sizeof(note)) {
		uint64_t name, desc;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		desc = name + (((uint64_t)note.n_namesz + 3) & ~3ULL);
		if (desc + note.n_descsz > len)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    note.n_descsz <= BUILD_ID_MAX && !memcmp(notes + name, "GNU", 4)) {
			hex_encode(hex, (uint8_t *)notes + desc, note.n_descsz);
			value = json_string(hex);
		}
		at = desc + (((uint64_t)note.n_descsz + 3) & ~3ULL);
		if (at > len)
			break;
	}
	free(notes);
	return value ?: json_null();
}

/**
 * agent_env_word() - a value of the kernel's command line
 * @key: with its "="
 *
 * Return: the first one's, for the caller to free; NULL when there is none.
 */
char *agent_env_word(const char *key)
{
	char *cmdline = text_of("/proc/cmdline"), *value = NULL;
	const char *p = cmdline;

	while (p && *p && !value) {
		if (!strncmp(p, key, strlen(key)))
			value = strndup(p + strlen(key), strcspn(p + strlen(key), " "));
		p += strcspn(p, " ");
		p += strspn(p, " ");
	}
	free(cmdline);
	return value;
}

static json_t *mitigations(void)
{
	json_t *object = json_object();
	struct dirent *entry;
	char path[PATH_MAX];
	DIR *dir;

	dir = opendir(CPU_DIR "/vulnerabilities");
	while (dir && json_object_size(object) < MAX_FILES && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), CPU_DIR "/vulnerabilities/%s", entry->d_name);
		json_object_set_new(object, entry->d_name, json_of(path));
	}
	if (dir)
		closedir(dir);
	return object;
}

static json_t *kvm_parameters(void)
{
	static const struct {
		const char *name, *path;
	} parameters[] = {
		{"npt", "/sys/module/kvm_amd/parameters/npt"},
		{"ept", "/sys/module/kvm_intel/parameters/ept"},
		{"tdp_mmu", "/sys/module/kvm/parameters/tdp_mmu"},
	};
	json_t *object = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(parameters); i++)
		if (!access(parameters[i].path, F_OK))
			json_object_set_new(object, parameters[i].name,
					    json_of(parameters[i].path));
	return object;
}

/*
 * The kernel starts with a clocksource that it replaces about a second later. Whoever asks in
 * between would get a difference between two boots that is none, and a clock that changes while it
 * measures.
 */
static json_t *clocksource(void)
{
	int64_t deadline = mono_ns() + CLOCK_SETTLE_MS * 1000000LL;
	char *text;

	for (;;) {
		text = text_of(CLOCKSOURCE);
		if (!text ||
		    (strcmp(text, "tsc-early") && strcmp(text, "jiffies") &&
		     strcmp(text, "refined-jiffies")) ||
		    mono_ns() > deadline)
			break;
		free(text);
		poll(NULL, 0, 50);
	}
	free(text);
	return json_of(CLOCKSOURCE);
}

static json_t *environment(const char *cpuinfo)
{
	return json_pack("{s:o, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o}", "cpu_model",
			 proc_value(cpuinfo, "model name"), "microcode",
			 proc_value(cpuinfo, "microcode"), "cpus",
			 (json_int_t)sysconf(_SC_NPROCESSORS_ONLN), "mem_kib",
			 (json_int_t)ram_kib(), "mitigations", mitigations(), "governor",
			 json_of(CPU_DIR "/cpu0/cpufreq/scaling_governor"), "smt",
			 json_of(CPU_DIR "/smt/control"), "thp",
			 json_of("/sys/kernel/mm/transparent_hugepage/enabled"), "clocksource",
			 clocksource(), "kvm", kvm_parameters());
}

static json_t *observed(const char *cpuinfo)
{
	char *uptime = text_of("/proc/uptime");
	json_t *value;

	value = json_pack("{s:o, s:o, s:I, s:I, s:I}", "mhz", proc_value(cpuinfo, "cpu MHz"),
			  "loadavg", json_of("/proc/loadavg"), "mem_free_kib",
			  (json_int_t)meminfo_kib("MemFree"), "uptime_ms",
			  (json_int_t)(strtod(uptime ?: "0", NULL) * 1000), "taint",
			  (json_int_t)agent_env_taint());
	free(uptime);
	return value;
}

/**
 * agent_env_hello() - the HELLO frame's object
 *
 * Waits up to three seconds for the kernel's clocksource to settle.
 *
 * Return: new reference, or NULL without memory. What the kernel does not tell is null.
 */
json_t *agent_env_hello(void)
{
	char *cpuinfo = text_of("/proc/cpuinfo");
	char *cmdline = text_of("/proc/cmdline");
	char *token = agent_env_word("labd.token=");
	json_t *hypervisor = agent_hypervisor_hello(), *env = environment(cpuinfo), *hello, *below;
	struct utsname uts = {0};

	uname(&uts);
	below = agent_hypervisor_env(hypervisor);
	if (below)
		json_object_set_new(env, "hypervisor", below);
	hello = json_pack("{s:i, s:b, s:o, s:o, s:s, s:s, s:s, s:o, s:o, s:o, s:o}", "proto",
			  AGENT_PROTO, "lists_events", 1, "boot_id",
			  json_of("/proc/sys/kernel/random/boot_id"), "build_id", build_id(),
			  "release", uts.release, "version", uts.version, "cmdline", cmdline ?: "",
			  "token", (token ? json_string(token) : NULL) ?: json_null(), "env", env,
			  "observed", observed(cpuinfo), "hypervisor", hypervisor);
	free(token);
	free(cmdline);
	free(cpuinfo);
	return hello;
}

/**
 * agent_env_announce() - show on the console what HELLO will tell: build-ids and token
 *
 * The host compares them, which came by different ways.
 */
void agent_env_announce(const json_t *hello)
{
	const json_t *hypervisor = json_object_get(hello, "hypervisor");

	log_info("lab-agent: build-id %s token %s",
		 json_string_value(json_object_get(hello, "build_id")) ?: "none",
		 json_string_value(json_object_get(hello, "token")) ?: "none");
	if (json_is_object(hypervisor))
		log_info("lab-agent: hypervisor's build-id %s",
			 json_string_value(json_object_get(hypervisor, "build_id")) ?: "none");
}

/** agent_env_taint() - the kernel's taint flags, -1 when unknown */
int64_t agent_env_taint(void)
{
	char *text = text_of("/proc/sys/kernel/tainted");
	int64_t taint = -1;

	if (text)
		parse_i64(text, 0, INT64_MAX, &taint);
	free(text);
	return taint;
}

/** agent_env_available_bytes() - memory that can be had without swapping, 0 when unknown */
uint64_t agent_env_available_bytes(void)
{
	return meminfo_kib("MemAvailable") * 1024;
}
