// SPDX-License-Identifier: GPL-2.0-only
/* An archive of labctl export, from its file to an experiment, whole or not at all. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "plan/archive.h"
#include "plan/exec.h"
#include "store/db.h"

/* On the data directory's file system, so that files only need new names. */
#define FOLDER "captures/archive"

static int find_twin(struct sched *sched, struct bundle *bundle)
{
	int64_t id;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_get_int(
		sched->db, &id,
		"SELECT id FROM experiment WHERE json_extract(origin_json, '$.sha256') = ?1", "t",
		bundle->sha256);
	pthread_mutex_unlock(&sched->lock);
	if (ret == -ENOENT)
		return 0;
	return ret ?: bundle_refuse(bundle, "it is experiment %lld already", (long long)id);
}

static void name_folder(const struct sched *sched, char ret_folder[PATH_MAX])
{
	snprintf(ret_folder, PATH_MAX, "%s/" FOLDER, sched->config.data_dir);
}

/**
 * archive_clean() - remove the copy that a labd which was killed during an import had left
 *
 * Files that it had put in place already are removed when the import, still queued, is done again.
 */
void archive_clean(const struct sched *sched)
{
	char folder[PATH_MAX];

	name_folder(sched, folder);
	bundle_remove_tree(folder);
}

/**
 * archive_import() - take an experiment of another labd over
 * @import: the row that asked for it; done when this returns 0
 * @path: the archive
 * @file: what it is called
 * @ret_error: one sentence on failure, unless the errno says it all
 * @error_size: room in @ret_error
 *
 * The caller has called bundle_forget() for what a labd that was killed during this import had put
 * in place.
 *
 * Return: 0, -EBADMSG for an archive that is refused, or another negative errno; of a failed one
 * nothing is left behind.
 */
int archive_import(struct sched *sched, int64_t import, const char *path, const char *file,
		   char *ret_error, size_t error_size)
{
	struct bundle bundle = {0};
	int ret;

	name_folder(sched, bundle.folder);
	ret = make_dir(bundle.folder, 0755);
	ret = ret ?: sha256_file_hex(path, bundle.sha256) ?: find_twin(sched, &bundle);
	ret = ret ?: bundle_unpack(&bundle, path) ?: bundle_check(&bundle);
	ret = ret ?: bundle_store(sched, &bundle, import, file);
	if (ret) {
		bundle_forget(sched, import);
		snprintf(ret_error, error_size, "the archive is not taken over: %s",
			 *bundle.reason ? bundle.reason : strerror(-ret));
	}
	bundle_remove_tree(bundle.folder);
	json_decref(bundle.files);
	json_decref(bundle.about);
	return ret;
}
