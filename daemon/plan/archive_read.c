// SPDX-License-Identifier: GPL-2.0-only
/* An archive's bytes become files: known names only, in a folder of their own, each with its hash.
 */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <regex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/util.h"
#include "plan/archive.h"
#include "store/datadir.h"

#define FILES_MAX 100000
#define BYTES_MAX (64LL << 30)
#define SPACE_LEFT (64LL << 20)
#define SUMS_MAX (32u << 20)
#define ABOUT_MAX (1u << 20)
#define SUMS "SHA256SUMS"
#define ABOUT "archive.json"

#define NUMBER "[0-9]{1,18}"
#define TOP "^labd-experiment-" NUMBER "/"

static const char folder_pattern[] = TOP "(events/|consoles/|builds/|captures/(" NUMBER "/)?)?$";
static const char file_pattern[] =
	TOP "(" SUMS "|archive\\.json|spec\\.json|report\\.txt|results\\.json|lab\\.db"
	    "|events/" NUMBER "\\.db|captures/" NUMBER "/" NUMBER "\\.(dat|xentrace)"
	    "|consoles/" NUMBER "-" NUMBER "-" NUMBER "\\.log"
	    "|builds/[A-Za-z0-9][A-Za-z0-9._-]{0,99}\\.(json|config|series|log))$";

/**
 * struct unpack - an archive being read
 * @top: folder that all of its entries are in, with the slash; empty before the first
 * @bytes: written so far
 */
struct unpack {
	struct bundle *bundle;
	struct archive *reader;
	char top[64];
	int64_t bytes;
	size_t entries;
	regex_t files;
	regex_t folders;
};

/** bundle_refuse() - set the sentence, unless there is one; returns -EBADMSG */
int bundle_refuse(struct bundle *bundle, const char *fmt, ...)
{
	va_list args;

	if (!*bundle->reason) {
		va_start(args, fmt);
		vsnprintf(bundle->reason, sizeof(bundle->reason), fmt, args);
		va_end(args);
	}
	return -EBADMSG;
}

/** bundle_is_file() - does the file look like an archive: captures are never gzipped */
bool bundle_is_file(const char *path)
{
	unsigned char magic[2] = {0};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is;

	if (fd < 0)
		return false;
	is = read(fd, magic, 2) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
	close(fd);
	return is;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

/** bundle_remove_tree() - remove a folder with all that is in it; one that is not there is fine */
void bundle_remove_tree(const char *path)
{
	nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static int check_name(struct unpack *unpack, const char *name, bool folder)
{
	struct bundle *bundle = unpack->bundle;
	size_t top;

	if (*name == '/' || strstr(name, ".."))
		return bundle_refuse(bundle, "its entry \"%.80s\" leads out of the archive", name);
	if (regexec(folder ? &unpack->folders : &unpack->files, name, 0, NULL, 0))
		return bundle_refuse(bundle, "its entry \"%.80s\" is none that labctl export makes",
				     name);
	top = strcspn(name, "/") + 1;
	if (!*unpack->top)
		memcpy(unpack->top, name, top);
	if (strncmp(name, unpack->top, top))
		return bundle_refuse(bundle, "it holds two folders, %.40s and %.*s", unpack->top,
				     (int)top, name);
	return 0;
}

static int make_parents(const char *folder, const char *name)
{
	char path[PATH_MAX * 2];
	int ret = 0;

	for (const char *slash = strchr(name, '/'); slash && !ret; slash = strchr(slash + 1, '/')) {
		snprintf(path, sizeof(path), "%s/%.*s", folder, (int)(slash - name), name);
		ret = make_dir(path, 0755);
	}
	return ret;
}

static int copy_data(struct unpack *unpack, int fd)
{
	struct bundle *bundle = unpack->bundle;
	char block[65536];
	la_ssize_t n;
	int ret;

	while ((n = archive_read_data(unpack->reader, block, sizeof(block))) > 0) {
		unpack->bytes += n;
		if (unpack->bytes > BYTES_MAX)
			return bundle_refuse(bundle, "it holds more than %lld GiB",
					     BYTES_MAX >> 30);
		if (datadir_free_bytes(bundle->folder) < SPACE_LEFT)
			return -ENOSPC;
		ret = write_all(fd, block, (size_t)n);
		if (ret)
			return ret;
	}
	return n < 0 ? bundle_refuse(bundle, "it is damaged: %s",
				     archive_error_string(unpack->reader))
		     : 0;
}

static int put_file(struct unpack *unpack, const char *name)
{
	struct bundle *bundle = unpack->bundle;
	char path[PATH_MAX * 2], hash[SHA256_HEX_LEN + 1];
	int fd, ret;

	ret = make_parents(bundle->folder, name);
	if (ret)
		return ret;
	snprintf(path, sizeof(path), "%s/%s", bundle->folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno == EEXIST ? bundle_refuse(bundle, "it holds %s twice", name) : -errno;
	ret = copy_data(unpack, fd);
	if (close(fd) && !ret)
		ret = -errno;
	ret = ret ?: sha256_file_hex(path, hash);
	if (!ret && json_object_set_new(bundle->files, name, json_string(hash)))
		ret = -ENOMEM;
	return ret;
}

static int put_entry(struct unpack *unpack, struct archive_entry *entry)
{
	const char *name = archive_entry_pathname(entry);
	mode_t type = archive_entry_filetype(entry);
	int ret;

	if (++unpack->entries > FILES_MAX)
		return bundle_refuse(unpack->bundle, "it holds more than %d files", FILES_MAX);
	if (!name)
		return bundle_refuse(unpack->bundle, "it holds a name that cannot be read");
	if (archive_entry_hardlink(entry) || archive_entry_symlink(entry))
		return bundle_refuse(unpack->bundle, "its entry \"%.80s\" is a link", name);
	if (type != AE_IFREG && type != AE_IFDIR)
		return bundle_refuse(unpack->bundle, "its entry \"%.80s\" is no file", name);
	ret = check_name(unpack, name, type == AE_IFDIR);
	return ret || type == AE_IFDIR ? ret : put_file(unpack, name + strlen(unpack->top));
}

static int read_entries(struct unpack *unpack, const char *path)
{
	struct archive_entry *entry;
	int rc, ret = 0;

	archive_read_support_filter_gzip(unpack->reader);
	archive_read_support_format_tar(unpack->reader);
	rc = archive_read_open_filename(unpack->reader, path, 65536);
	while (rc == ARCHIVE_OK && !ret) {
		rc = archive_read_next_header(unpack->reader, &entry);
		if (rc == ARCHIVE_OK)
			ret = put_entry(unpack, entry);
	}
	if (!ret && rc != ARCHIVE_EOF)
		ret = bundle_refuse(unpack->bundle, "it is damaged: %s",
				    archive_error_string(unpack->reader) ?: "no reason given");
	return ret;
}

static int check_line(struct bundle *bundle, json_t *pending, const char *line)
{
	const char *name = line + SHA256_HEX_LEN + 2, *hash;

	if (strlen(line) < SHA256_HEX_LEN + 3 || strncmp(line + SHA256_HEX_LEN, "  ", 2))
		return bundle_refuse(bundle, "its " SUMS " has a line that is none");
	hash = json_string_value(json_object_get(pending, name));
	if (!hash)
		return bundle_refuse(bundle, "%.80s is missing in it, or summed twice", name);
	if (strncmp(hash, line, SHA256_HEX_LEN))
		return bundle_refuse(bundle, "it is damaged: %.80s is not as its " SUMS " says",
				     name);
	json_object_del(pending, name);
	return 0;
}

static int check_sums(struct bundle *bundle)
{
	char path[PATH_MAX * 2], *text = NULL, *next = NULL;
	json_t *pending = json_copy(bundle->files);
	const char *name;
	int ret;

	if (!pending)
		return -ENOMEM;
	snprintf(path, sizeof(path), "%s/" SUMS, bundle->folder);
	ret = read_file(path, SUMS_MAX, &text, NULL);
	if (ret == -ENOENT)
		ret = bundle_refuse(bundle, "it has no " SUMS ": no archive of labctl export");
	json_object_del(pending, SUMS);
	for (char *line = ret ? NULL : strtok_r(text, "\n", &next); line && !ret;
	     line = strtok_r(NULL, "\n", &next))
		ret = check_line(bundle, pending, line);
	name = json_object_iter_key(json_object_iter(pending));
	if (!ret && name)
		ret = bundle_refuse(bundle, "its " SUMS " does not know %.80s", name);
	free(text);
	json_decref(pending);
	return ret;
}

static int read_about(struct bundle *bundle)
{
	char path[PATH_MAX * 2], *text = NULL;
	json_int_t format, experiment;
	int ret;

	snprintf(path, sizeof(path), "%s/" ABOUT, bundle->folder);
	ret = read_file(path, ABOUT_MAX, &text, NULL);
	if (ret == -ENOENT)
		return bundle_refuse(bundle, "it has no " ABOUT ": export it with a newer labctl");
	if (ret)
		return ret;
	bundle->about = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	if (json_unpack(bundle->about, "{s:I, s:I}", "format", &format, "experiment",
			&experiment) ||
	    experiment < 1)
		return bundle_refuse(bundle, "its " ABOUT " lacks a format or an experiment");
	if (format != BUNDLE_FORMAT)
		return bundle_refuse(bundle, "it has format %lld, this labd knows %d",
				     (long long)format, BUNDLE_FORMAT);
	bundle->experiment = experiment;
	return 0;
}

/**
 * bundle_unpack() - read an archive into @bundle's folder and check every file's hash
 * @bundle: with its folder, which exists and is empty; filled, with the sentence on -EBADMSG
 *
 * What was written of a refused one stays, for the caller to remove. The caller frees the JSON
 * values in both cases.
 *
 * Return: 0, -EBADMSG for an archive that is damaged or not labctl's, or another negative errno.
 */
int bundle_unpack(struct bundle *bundle, const char *path)
{
	struct unpack unpack = {.bundle = bundle, .reader = archive_read_new()};
	int ret;

	bundle->files = json_object();
	if (!unpack.reader || !bundle->files) {
		archive_read_free(unpack.reader);
		return -ENOMEM;
	}
	if (regcomp(&unpack.files, file_pattern, REG_EXTENDED | REG_NOSUB)) {
		archive_read_free(unpack.reader);
		return -ENOMEM;
	}
	if (regcomp(&unpack.folders, folder_pattern, REG_EXTENDED | REG_NOSUB)) {
		ret = -ENOMEM;
		goto out;
	}
	ret = read_entries(&unpack, path) ?: check_sums(bundle) ?: read_about(bundle);
	regfree(&unpack.folders);
out:
	regfree(&unpack.files);
	archive_read_free(unpack.reader);
	return ret;
}
