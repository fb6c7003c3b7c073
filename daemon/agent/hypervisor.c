// SPDX-License-Identifier: GPL-2.0-only
/* What Xen says of itself: through CPUID, sysfs and, for its proof, a hypercall. */
#include <cpuid.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/hypervisor.h"
#include "agent/privcmd.h"
#include "base/util.h"

#define VERSION_DIR "/sys/hypervisor/version"
#define COMMANDLINE_SIZE 1024
#define BUILD_ID_MAX 32

#define LEAF_FIRST 0x40000000u
#define LEAF_LAST 0x40010000u
#define LEAF_STEP 0x100u

/* Xen's leaves lie behind those of another hypervisor that it poses as; 0 without Xen. */
static unsigned int xen_leaves(void)
{
	unsigned int eax, ebx, ecx, edx;
	uint32_t name[3];

	if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx) || !(ecx & (1u << 31)))
		return 0;
	for (unsigned int leaf = LEAF_FIRST; leaf < LEAF_LAST; leaf += LEAF_STEP) {
		__cpuid(leaf, eax, name[0], name[1], name[2]);
		if (!memcmp(name, "XenVMMXenVMM", sizeof(name)))
			return eax >= leaf + 3 ? leaf : 0;
	}
	return 0;
}

/** agent_on_xen() - whether Xen is below this kernel */
bool agent_on_xen(void)
{
	return xen_leaves();
}

/**
 * agent_hypervisor_tsc_khz() - the frequency of the machine's TSC, as Xen says it
 *
 * Return: kHz, or -1 without Xen.
 */
int64_t agent_hypervisor_tsc_khz(void)
{
	unsigned int leaf = xen_leaves(), eax, ebx, ecx, edx;

	if (!leaf)
		return -1;
	__cpuid_count(leaf + 3, 2, eax, ebx, ecx, edx);
	return eax;
}

/*
 * A version hypercall; the answer is a populated, locked mapping of @size bytes, or NULL.
 * @ret_value is what Xen returned beside it.
 */
static void *ask_xen(unsigned int command, size_t size, uint32_t first_word, int *ret_value)
{
	struct privcmd_hypercall call = {.op = HYPERVISOR_XEN_VERSION, .arg = {command}};
	int fd = open(PRIVCMD, O_RDWR | O_CLOEXEC), ret = -1;
	void *answer = MAP_FAILED;

	if (fd >= 0)
		answer = mmap(NULL, size, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (answer != MAP_FAILED && !mlock(answer, size)) {
		memcpy(answer, &first_word, sizeof(first_word));
		call.arg[1] = (uintptr_t)answer;
		ret = ioctl(fd, IOCTL_PRIVCMD_HYPERCALL, &call);
	}
	if (ret < 0 && answer != MAP_FAILED)
		munmap(answer, size);
	if (fd >= 0)
		close(fd);
	*ret_value = ret;
	return ret < 0 ? NULL : answer;
}

/*
 * Not from sysfs: Linux prints the build-id's bytes as a string there, and half of them do not get
 * through once one of them is 0.
 */
static json_t *build_id(void)
{
	const size_t size = sizeof(uint32_t) + BUILD_ID_MAX;
	int length;
	uint8_t *answer = ask_xen(XEN_VERSION_BUILD_ID, size, BUILD_ID_MAX, &length);
	char hex[2 * BUILD_ID_MAX + 1];
	json_t *value = NULL;

	if (!answer)
		return json_null();
	/* The word before it still holds the room that it had. */
	if (length && length <= BUILD_ID_MAX) {
		hex_encode(hex, answer + sizeof(uint32_t), length);
		value = json_string(hex);
	}
	munmap(answer, size);
	return value ?: json_null();
}

static json_t *command_line(void)
{
	int unused;
	char *answer = ask_xen(XEN_VERSION_COMMANDLINE, COMMANDLINE_SIZE, 0, &unused);
	json_t *value;
	size_t n;

	if (!answer)
		return json_null();
	n = strnlen(answer, COMMANDLINE_SIZE);
	while (n && answer[n - 1] == ' ')
		n--;
	value = json_stringn(answer, n);
	munmap(answer, COMMANDLINE_SIZE);
	return value ?: json_null();
}

/* "4.17.5": two numbers, and a rest that may begin with any sign. */
static json_t *version(void)
{
	static const char *const paths[] = {VERSION_DIR "/major", VERSION_DIR "/minor",
					    VERSION_DIR "/extra"};
	char all[3][32] = {"", "", ""}, *text;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		if (read_file(paths[i], sizeof(all[i]) - 1, &text, NULL))
			continue;
		text[strcspn(text, "\n")] = '\0';
		strcpy(all[i], text);
		free(text);
	}
	return all[0][0] ? json_sprintf("%s.%s%s", all[0], all[1], all[2]) : json_null();
}

/**
 * agent_hypervisor_hello() - the proof of the hypervisor: build-id, version and what was asked of
 * it
 *
 * Return: new reference: JSON null without Xen, NULL without memory.
 */
json_t *agent_hypervisor_hello(void)
{
	unsigned int leaf = xen_leaves(), eax, mode, ecx, edx;

	if (!leaf)
		return json_null();
	__cpuid_count(leaf + 3, 0, eax, mode, ecx, edx);
	return json_pack("{s:s, s:o, s:o, s:o, s:I, s:I, s:b}", "type", "xen", "version", version(),
			 "build_id", build_id(), "cmdline", command_line(), "tsc_khz",
			 (json_int_t)agent_hypervisor_tsc_khz(), "tsc_mode", (json_int_t)mode,
			 "tsc_emulated", (int)(eax & 1));
}

/**
 * agent_hypervisor_env() - what of it must be the same in both arms of a pair
 * @hello: of agent_hypervisor_hello()
 *
 * Return: new reference, NULL without a hypervisor or without memory.
 */
json_t *agent_hypervisor_env(const json_t *hello)
{
	static const char *const keys[] = {"type", "version", "cmdline", "tsc_mode",
					   "tsc_emulated"};
	json_t *env = json_is_object(hello) ? json_object() : NULL;

	for (size_t i = 0; env && i < ARRAY_SIZE(keys); i++)
		json_object_set(env, keys[i], json_object_get(hello, keys[i]));
	return env;
}
