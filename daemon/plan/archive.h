/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_ARCHIVE_H
#define LABD_PLAN_ARCHIVE_H

#include <jansson.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/sha256.h"

/*
 * Archives of labctl export, taken over. Their bytes are foreign: they are unpacked into a folder
 * of their own and checked whole before anything of them reaches lab.db.
 */
#define BUNDLE_FORMAT 1

struct sched;

/**
 * struct bundle - an archive that is being taken over
 * @folder: where it is unpacked
 * @files: names inside it, each with its sha256
 * @about: its archive.json
 * @sha256: of the archive itself
 * @experiment: its number where it was made
 * @reason: one sentence when it is refused
 */
struct bundle {
	char folder[PATH_MAX];
	json_t *files;
	json_t *about;
	char sha256[SHA256_HEX_LEN + 1];
	int64_t experiment;
	char reason[256];
};

bool bundle_is_file(const char *path);
int bundle_refuse(struct bundle *bundle, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int bundle_unpack(struct bundle *bundle, const char *path);
void bundle_remove_tree(const char *path);

int bundle_check(struct bundle *bundle);
bool bundle_plain_sql(const char *sql);

int bundle_store(struct sched *sched, struct bundle *bundle, int64_t import, const char *file);
int bundle_forget(struct sched *sched, int64_t import);

int archive_import(struct sched *sched, int64_t import, const char *path, const char *file,
		   char *ret_error, size_t error_size);

#endif
