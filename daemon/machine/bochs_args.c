// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bochs' texts. Whatever could let the host's time or chance into the guest is fixed here: the
 * clock counts instructions from a fixed date, and the screen's retrace goes by that clock, too.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "machine/bochs_args.h"
#include "machine/cmdline.h"

/*
 * The CPU is an Intel one put together by hand. Those that Bochs has by name say in one leaf of
 * CPUID that they have several cores and in another that they have one; the kernel warns of it, and
 * a kernel that warned is tainted.
 *
 * A panic of Bochs ends it, a power-off of the guest included; what is less than a panic would fill
 * a log with unknown MSRs. Screens with more colours than a terminal has are fatal to "term", hence
 * no extension. Devices that nobody uses are left out; sound ones would talk to the host's.
 */
static const char *const lines_common[] = {
	"config_interface: textconfig",
	"display_library: term",
	"cpu: model=bx_generic, count=1, ips=100000000, reset_on_triple_fault=0",
	"cpuid: vendor_string=\"GenuineIntel\", brand_string=\"Bochs: VMX, EPT, counts instructions\", "
	"level=6, family=6, model=60, stepping=3, mmx=1, apic=x2apic, simd=avx2, sep=1, movbe=1, "
	"aes=1, xsave=1, xsaveopt=1, x86_64=1, 1g_pages=1, pcid=1, fsgsbase=1, smep=1, mwait=1, "
	"vmx=2",
	"clock: sync=none, time0=1700000000",
	"romimage: file=/usr/share/bochs/BIOS-bochs-latest, options=fastboot",
	"vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest",
	"vga: extension=none, update_freq=5, realtime=0",
	"plugin_ctrl: biosdev=0, extfpuirq=0, gameport=0, iodebug=0, parallel=0, speaker=0",
	"sound: waveoutdrv=dummy, waveindrv=dummy, midioutdrv=dummy",
	"mouse: enabled=0",
	"boot: disk",
	"log: /dev/null",
	"debug: action=ignore",
	"info: action=ignore",
	"error: action=ignore",
	"panic: action=fatal",
};

static const char *memory_line(bool hypervisor)
{
	return hypervisor ? "memory: guest=1536, host=1536" : "memory: guest=1024, host=1024";
}

/* The seeds of the kernel's randomness that differ from boot to boot are the machine's: none. */
#define KERNEL_CMDLINE CMDLINE_KERNEL " norandmaps random.trust_cpu=off random.trust_bootloader=off"
#define KERNEL_ALONE "console=ttyS0,115200 " KERNEL_CMDLINE " " CMDLINE_NO_HYPERVISOR
#define KERNEL_DOM0 "earlyprintk=xen console=ttyS1,115200 " KERNEL_CMDLINE
#define AGENT_CMDLINE "labd.channel=disk labd.token="

/*
 * One CPU. Xen's x2APIC cluster mode ends in a BUG here, and there is no IOMMU; the BIOS is not
 * called for what nobody needs (edd, no-real-mode).
 */
#define XEN_CMDLINE \
	CMDLINE_XEN " dom0_max_vcpus=1 edd=off no-real-mode x2apic=false dom0-iommu=none"

/**
 * bochs_machine_lines() - what is the same for every boot
 * @lines: array that grows: Bochs' configuration, then command lines
 *
 * Return: 0 or -ENOMEM.
 */
int bochs_machine_lines(json_t *lines, bool hypervisor)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < ARRAY_SIZE(lines_common); i++)
		ret = json_array_append_new(lines, json_string(lines_common[i]));
	ret = ret ?: json_array_append_new(lines, json_string(memory_line(hypervisor)));
	if (hypervisor)
		ret = ret ?: json_array_append_new(lines, json_string(XEN_CMDLINE));
	ret = ret
		      ?: json_array_append_new(
				 lines, json_string(hypervisor ? KERNEL_DOM0 : KERNEL_ALONE));
	return ret ? -ENOMEM : 0;
}

/** bochs_config() - the configuration of one boot for the caller to free, or NULL without memory */
char *bochs_config(const struct bochs_fds *fds)
{
	bool hypervisor = fds->hypervisor >= 0;
	size_t size;
	char *text;
	FILE *file;

	file = open_memstream(&text, &size);
	if (!file)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(lines_common); i++)
		fprintf(file, "%s\n", lines_common[i]);
	fprintf(file, "%s\n", memory_line(hypervisor));
	fprintf(file, "ata0-master: type=disk, mode=flat, path=/dev/fd/%d\n", fds->boot);
	fprintf(file, "ata0-slave: type=disk, mode=flat, path=/dev/fd/%d\n", fds->channel);
	if (hypervisor)
		fprintf(file, "com1: enabled=1, mode=file, dev=/dev/fd/%d\n", fds->hypervisor);
	fprintf(file, "com%d: enabled=1, mode=file, dev=/dev/fd/%d\n", hypervisor ? 2 : 1,
		fds->console);
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	return text;
}

/**
 * bochs_script() - what Bochs' debugger does: stop for a moment after each step, which tells the
 * time, and quit when all of @limit_ms is over
 *
 * Return: the text for the caller to free, or NULL without memory.
 */
char *bochs_script(uint64_t limit_ms)
{
	const uint64_t step_ms = BOCHS_STEP_TICKS / 1000000 * BOCHS_TICK_NS;
	size_t size;
	char *text;
	FILE *file;

	file = open_memstream(&text, &size);
	if (!file)
		return NULL;
	for (uint64_t at = 0; at < limit_ms; at += step_ms)
		fprintf(file, "sb %d\nc\n", BOCHS_STEP_TICKS);
	fputs("q\n", file);
	if (fclose(file)) {
		free(text);
		return NULL;
	}
	return text;
}

/**
 * bochs_files() - what the boot disk holds besides GRUB, in this order
 *
 * Return: how many.
 */
unsigned int bochs_files(const struct boot_request *request, const char *ret_paths[BOCHS_FILES_MAX])
{
	unsigned int n = 0;

	if (request->hypervisor)
		ret_paths[n++] = request->hypervisor;
	ret_paths[n++] = request->kernel;
	ret_paths[n++] = request->image;
	return n;
}

/* Each word in quotes, so that GRUB reads nothing into it. */
static int put_words(FILE *file, const char *words)
{
	if (strpbrk(words, "'\"\\"))
		return -EINVAL; /* GRUB would put backslashes in front of them */
	while (*(words += strspn(words, " "))) {
		fprintf(file, " '%.*s'", (int)strcspn(words, " "), words);
		words += strcspn(words, " ");
	}
	return 0;
}

/* One attempt to boot. A file is named by where it is on the disk: "(hd0)FIRST+COUNT" in sectors.
 */
static int put_attempt(FILE *file, const struct boot_request *request,
		       const uint64_t sizes[BOCHS_FILES_MAX])
{
	static const char *const alone[] = {"linux", "initrd"};
	static const char *const with_xen[] = {"multiboot2", "module2", "module2"};
	const char *const *commands = request->hypervisor ? with_xen : alone;
	const char *kernel = request->hypervisor ? KERNEL_DOM0 : KERNEL_ALONE;
	const char *paths[BOCHS_FILES_MAX];
	uint64_t at = BOCHS_FILES_SECTOR, sectors;
	unsigned int n = bochs_files(request, paths);
	int ret = 0;

	for (unsigned int i = 0; !ret && i < n; i++) {
		sectors = (sizes[i] + BOCHS_SECTOR - 1) / BOCHS_SECTOR;
		fprintf(file, "%s '(hd0)%llu+%llu'", commands[i], (unsigned long long)at,
			(unsigned long long)sectors);
		at += sectors;
		if (paths[i] == request->hypervisor) {
			ret = put_words(file, XEN_CMDLINE)
				      ?: put_words(file, request->hypervisor_cmdline ?: "");
		} else if (paths[i] == request->kernel) {
			put_words(file, kernel);
			fprintf(file, " %s%s", AGENT_CMDLINE, request->token);
			ret = put_words(file, request->cmdline ?: "");
		}
		putc('\n', file);
	}
	fputs("boot\n", file);
	return ret;
}

/**
 * bochs_grub() - what GRUB does
 * @sizes: of the files that bochs_files() names
 * @ret_text: for the caller to free
 *
 * GRUB stays off the serial port, where its escape sequences would stand in front of the kernel's
 * first line. When it could not boot, it tries once more there, so that the console says why, and
 * powers off.
 *
 * Return: 0, -EINVAL when a command line cannot be passed on as it is, or -ENOMEM.
 */
int bochs_grub(const struct boot_request *request, const uint64_t sizes[BOCHS_FILES_MAX],
	       char **ret_text)
{
	size_t size;
	char *text;
	FILE *file;
	int ret;

	file = open_memstream(&text, &size);
	if (!file)
		return -ENOMEM;
	fputs("set gfxpayload=text\n", file);
	ret = put_attempt(file, request, sizes);
	fputs("serial --unit=0 --speed=115200\nterminal_output serial\n", file);
	ret = ret ?: put_attempt(file, request, sizes);
	fputs("halt\n", file);
	if (fclose(file))
		ret = ret ?: -ENOMEM;
	if (ret) {
		free(text);
		return ret;
	}
	*ret_text = text;
	return 0;
}
