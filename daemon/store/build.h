/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STORE_BUILD_H
#define LABD_STORE_BUILD_H

#include <jansson.h>
#include <sqlite3.h>

#include "base/problem.h"

/*
 * A build is a kernel that can be booted, or a hypervisor with the kernel of its first domain:
 * found as a manifest that kernel/build.sh or xen/build.sh wrote, or registered over HTTP with the
 * same keys. An image is the initramfs of a subject.
 */
int build_list(sqlite3 *db, const char *builds_dir, json_t **ret_builds);
int build_find(sqlite3 *db, const char *builds_dir, const char *name, json_t **ret_build);
int build_find_made(const char *builds_dir, const char *name, json_t **ret_build);
int build_check(const json_t *build, struct problem *problem);
int image_find(const char *images_dir, const char *subject, json_t **ret_image);

#endif
