/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_MACHINE_CMDLINE_H
#define LABD_MACHINE_CMDLINE_H

/* What kernel and hypervisor are told on every machine; a driver adds what its own machine needs.
 */

/*
 * nokaslr: addresses in a console or a capture then mean the same in every boot.
 * tsc=reliable: the emulator's TSC is; on a busy host the kernel's watchdog doubts it, and a boot
 * that fell back to another clock would no longer match its pair. (Below Xen, Xen's clock is used.)
 */
#define CMDLINE_KERNEL "panic=-1 mitigations=off nokaslr"
#define CMDLINE_NO_HYPERVISOR "tsc=reliable"

/*
 * dom0 has the second serial port, so that Xen's lines and its own do not tear each other; what it
 * says before it has found the port comes by Xen's (earlyprintk). Without noreboot a Xen that dies
 * resets, and the session sees it. The trace buffers hold 4 MiB per CPU; without tevt_mask they
 * fill from the start with everything.
 */
#define CMDLINE_XEN                                                          \
	"console=com1 com1=115200,8n1 loglvl=all guest_loglvl=all dom0=pvh " \
	"dom0_mem=512M,max:512M dom0_vcpus_pin tbuf_size=1024 tevt_mask=1"

#endif
