// SPDX-License-Identifier: GPL-2.0-only
/*
 * QEMU's command lines. Arguments grow a JSON array since that is also how a machine is stored.
 *
 * Emulated CPUs share a thread under KVM and have one each under Xen: QEMU's SVM has a fault for
 * either. With a thread each, a nested guest of QEMU 7.2 and 10.0 now and then takes a page fault
 * that no page table explains. In a shared thread, a CPU is interrupted ten times a second to let
 * the other one run, and an interrupt that VMRUN has injected just before is then delivered once
 * more. KVM's guests take few of those; Xen's dom0, a nested guest from its start, lives on them:
 * two of its first eight boots in a shared thread died of one, none of ten with a thread each.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "machine/cmdline.h"
#include "machine/qemu_args.h"

/* Both end in NULL. */
struct profile {
	const char *const *emulated;
	const char *const *accelerated;
	const char *const *devices;
};

static const char *const common[] = {
	"-nodefaults",
	"-no-user-config",
	"-display",
	"none",
	"-no-reboot",
	"-sandbox",
	"on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
	"-machine",
	"q35",
	"-smp",
	"2",
	"-nic",
	"none",
	NULL,
};

static const char *const accelerated[] = {"-accel", "kvm", "-cpu", "host", NULL};

static const struct profile kernel_profile = {
	.emulated = (const char *const[]){"-accel", "tcg,thread=single", "-cpu", "EPYC,+svm,+npt",
					  NULL},
	.accelerated = accelerated,
	.devices = (const char *const[]){"-m", "3G", "-serial", "chardev:console", "-device",
					 "virtio-serial-pci", NULL},
};

/*
 * qemu64: Xen's mwait driver and its RDTSCP support do not get along with what QEMU makes of an
 * EPYC. The IOMMU must be there before the devices that it translates for; a virtio device goes
 * through it only when told to, and must, since a page of dom0 has another address there.
 */
static const struct profile xen_profile = {
	.emulated = (const char *const[]){"-accel", "tcg,thread=multi", "-cpu", "qemu64,+svm,+npt",
					  NULL},
	.accelerated = accelerated,
	.devices =
		(const char *const[]){"-m", "1536M", "-device", "amd-iommu", "-serial",
				      "chardev:hypervisor", "-serial", "chardev:console", "-device",
				      "virtio-serial-pci,disable-legacy=on,iommu_platform=on",
				      NULL},
};

static int add_all(json_t *argv, const char *const *args)
{
	for (; *args; args++)
		if (json_array_append_new(argv, json_string(*args)))
			return -ENOMEM;
	return 0;
}

static __attribute__((format(printf, 3, 4))) int add(json_t *argv, const char *option,
						     const char *fmt, ...)
{
	char *text;
	va_list args;
	int n, ret;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	ret = json_array_append_new(argv, json_string(option)) ||
			      json_array_append_new(argv, json_string(text))
		      ? -ENOMEM
		      : 0;
	free(text);
	return ret;
}

/**
 * qemu_machine_args() - what every boot is started with
 * @argv: array that grows
 * @kvm: accelerate by the host's KVM
 *
 * Return: 0 or -ENOMEM.
 */
int qemu_machine_args(json_t *argv, const char *program, bool kvm, bool hypervisor)
{
	const struct profile *profile = hypervisor ? &xen_profile : &kernel_profile;

	return json_array_append_new(argv, json_string(program)) || add_all(argv, common) ||
			       add_all(argv, kvm ? profile->accelerated : profile->emulated) ||
			       add_all(argv, profile->devices) ||
			       add(argv, "-device", "virtserialport,chardev=agent,name=%s",
				   "org.labd.agent")
		       ? -ENOMEM
		       : 0;
}

/* A comma ends one of QEMU's multiboot modules; a doubled one is a comma. The caller frees. */
static char *double_commas(const char *text)
{
	char *doubled = malloc(2 * strlen(text) + 1), *to = doubled;

	if (!doubled)
		return NULL;
	do {
		*to++ = *text;
		if (*text == ',')
			*to++ = ',';
	} while (*text++);
	return doubled;
}

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static int kernel_args(json_t *argv, const struct boot_request *request)
{
	const char *more = or_empty(request->cmdline);

	return add(argv, "-kernel", "%s", request->kernel)
		       ?: add(argv, "-initrd", "%s", request->image)
		       ?: add(argv, "-append",
			      "console=ttyS0 " CMDLINE_KERNEL " " CMDLINE_NO_HYPERVISOR
			      " labd.token=%s%s%s",
			      request->token, *more ? " " : "", more);
}

#define XEN_CMDLINE CMDLINE_XEN " dom0_max_vcpus=2"

/*
 * On a busy host an emulated timer interrupt of dom0 can take longer than the time to its next one,
 * and dom0 then does nothing else for ever. With 5 ms between timers at least that is rarer.
 */
#define XEN_CMDLINE_EMULATED " timer_slop=5000000"

static int xen_args(json_t *argv, const struct boot_request *request, bool kvm)
{
	const char *more = or_empty(request->cmdline);
	const char *xen_more = or_empty(request->hypervisor_cmdline);
	char *kernel = double_commas(request->kernel), *image = double_commas(request->image);
	char *doubled = double_commas(more);
	int ret = kernel && image && doubled ? 0 : -ENOMEM;

	if (!ret)
		ret = add(argv, "-kernel", "%s", request->hypervisor)
			      ?: add(argv, "-append", "%s%s%s%s", XEN_CMDLINE,
				     kvm ? "" : XEN_CMDLINE_EMULATED, *xen_more ? " " : "",
				     xen_more)
			      ?: add(argv, "-initrd",
				     "%s earlyprintk=xen console=ttyS1,,115200 " CMDLINE_KERNEL
				     " labd.token=%s%s%s,%s",
				     kernel, request->token, *more ? " " : "", doubled, image);
	free(kernel);
	free(image);
	free(doubled);
	return ret;
}

/**
 * qemu_boot_args() - what differs between boots
 * @argv: array that grows
 * @kvm: as for qemu_machine_args()
 *
 * Return: 0 or -ENOMEM.
 */
int qemu_boot_args(json_t *argv, const struct boot_request *request, const struct qemu_fds *fds,
		   bool kvm)
{
	int ret;

	ret = add(argv, "-name", "labd-%.12s", request->token)
		      ?: add(argv, "-chardev", "socket,id=console,fd=%d", fds->console)
		      ?: add(argv, "-chardev", "socket,id=agent,fd=%d", fds->agent);
	if (!ret && request->hypervisor)
		ret = add(argv, "-chardev", "socket,id=hypervisor,fd=%d", fds->hypervisor);
	if (!ret)
		ret = request->hypervisor ? xen_args(argv, request, kvm)
					  : kernel_args(argv, request);
	return ret;
}
