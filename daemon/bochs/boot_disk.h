/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BOCHS_BOOT_DISK_H
#define LABD_BOCHS_BOOT_DISK_H

int boot_disk_make(int fd, int grub_fd, char *const *files, int output_fd);

#endif
