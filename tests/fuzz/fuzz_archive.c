// SPDX-License-Identifier: GPL-2.0-only
/*
 * An archive of any bytes, gzipped or not: it is unpacked into a folder of its own, and nothing
 * beside that folder is touched. The first byte chooses between the archive and the SQL of an
 * event's table.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "plan/archive.h"

static char top[] = "/tmp/fuzz-archive-XXXXXX";

static void clean_up(void)
{
	bundle_remove_tree(top);
}

static void read_sql(const uint8_t *data, size_t size)
{
	char *sql = strndup((const char *)data, size);

	assert(sql);
	bundle_plain_sql(sql);
	free(sql);
}

static void read_archive(const uint8_t *data, size_t size)
{
	struct bundle bundle = {0};
	int fd = memfd_create("archive", 0);
	char path[64];

	assert(fd >= 0 && !write_all(fd, data, size));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	snprintf(bundle.folder, sizeof(bundle.folder), "%s/in", top);
	assert(!make_dir(bundle.folder, 0755));
	if (bundle_unpack(&bundle, path) == -EBADMSG)
		assert(*bundle.reason);
	json_decref(bundle.files);
	json_decref(bundle.about);
	bundle_remove_tree(bundle.folder);
	close(fd);
	/* Empty again: what led out of the folder would be here. */
	assert(!rmdir(top) && !mkdir(top, 0700));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool ready;

	if (!ready) {
		assert(mkdtemp(top));
		atexit(clean_up);
		ready = true;
	}
	if (size && *data == 's')
		read_sql(data + 1, size - 1);
	else if (size)
		read_archive(data + 1, size - 1);
	return 0;
}
