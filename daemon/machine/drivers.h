/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_MACHINE_DRIVERS_H
#define LABD_MACHINE_DRIVERS_H

#include "machine/machine.h"

/* Every driver's table; machine.c lists them. */
extern const struct machine_ops qemu_machine;
extern const struct machine_ops bochs_machine;

#endif
