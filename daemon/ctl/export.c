// SPDX-License-Identifier: GPL-2.0-only
/*
 * labctl export: one archive that holds an experiment. Databases are copied page by page, so that
 * the row numbers by which a run's events are found stay; captures and consoles go into the
 * archive from where they are.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/sha256.h"
#include "base/util.h"
#include "ctl/ctl.h"

/**
 * struct export - an archive being made
 * @work: private folder, removed at the end
 * @name: folder inside the archive and inside @work
 * @sums: SHA256SUMS
 * @list: names of files of the data directory that go into the archive
 */
struct export
{
	const struct ctl *ctl;
	int64_t id;
	char work[64];
	char name[48];
	FILE *sums;
	FILE *list;
	unsigned int files;
};

/* Rows of other experiments leave the copy. */
static const char prune_sql[] =
	"DELETE FROM experiment WHERE id <> %1$lld; DELETE FROM arm WHERE experiment <> %1$lld;"
	"DELETE FROM scenario WHERE experiment <> %1$lld; DELETE FROM metric WHERE experiment <> %1$lld;"
	"DELETE FROM slot WHERE experiment <> %1$lld; DELETE FROM void_pair WHERE experiment <> %1$lld;"
	"DELETE FROM result WHERE experiment <> %1$lld; DELETE FROM compare WHERE experiment <> %1$lld;"
	"DELETE FROM boot WHERE slot NOT IN (SELECT id FROM slot);"
	"DELETE FROM run WHERE slot NOT IN (SELECT id FROM slot);"
	"DELETE FROM run_event WHERE run NOT IN (SELECT id FROM run);"
	"DELETE FROM ring WHERE run NOT IN (SELECT id FROM run);"
	"DELETE FROM loss WHERE run NOT IN (SELECT id FROM run);"
	"DELETE FROM run_check WHERE run NOT IN (SELECT id FROM run);"
	"DELETE FROM reproduction WHERE run NOT IN (SELECT id FROM run);"
	"DELETE FROM sample WHERE run NOT IN (SELECT id FROM run);"
	"DELETE FROM import; PRAGMA journal_mode = DELETE; VACUUM";

static int note_sum(struct export *export, const char *path, const char *name)
{
	char hash[SHA256_HEX_LEN + 1];
	int ret;

	ret = sha256_file_hex(path, hash);
	if (ret) {
		ctl_fail("%s cannot be read: %s", path, strerror(-ret));
		return ret;
	}
	fprintf(export->sums, "%s  %s\n", hash, name);
	export->files++;
	return 0;
}

static int add_text(struct export *export, const char *name, const char *text, size_t length)
{
	char path[PATH_MAX];
	int ret;

	snprintf(path, sizeof(path), "%s/%s/%s", export->work, export->name, name);
	ret = write_file_atomic(path, text, length, 0644);
	if (ret) {
		ctl_fail("%s cannot be written: %s", path, strerror(-ret));
		return ret;
	}
	return note_sum(export, path, name);
}

static int add_answer(struct export *export, const char *what, const char *name)
{
	char path[96], *body;
	size_t length;
	int ret;

	snprintf(path, sizeof(path), "/api/v1/experiments/%lld/%s", (long long)export->id, what);
	ret = client_get(export->ctl, path, &body, &length);
	if (ret)
		return ret;
	ret = add_text(export, name, body, length);
	free(body);
	return ret;
}

/* Only what has ended stays the same while it is copied. */
static int add_spec(struct export *export)
{
	char path[64], *text = NULL;
	const char *state;
	json_t *json;
	int ret;

	snprintf(path, sizeof(path), "/api/v1/experiments/%lld", (long long)export->id);
	ret = client_get_json(export->ctl, path, &json);
	if (ret)
		return ret;
	state = json_string_value(json_object_get(json, "state"));
	if (!state || !strcmp(state, "queued") || !strcmp(state, "running")) {
		ctl_fail("experiment %lld is still %s: export it when it has ended",
			 (long long)export->id, state ? state : "without a state");
		ret = -EBUSY;
	} else {
		text = json_dumps(json_object_get(json, "spec"), JSON_INDENT(2));
		ret = text ? add_text(export, "spec.json", text, strlen(text)) : -ENOMEM;
	}
	free(text);
	json_decref(json);
	return ret;
}

/* @sql: run on the copy, or NULL. */
static int add_database(struct export *export, const char *name, const char *sql)
{
	char from[PATH_MAX * 2], to[PATH_MAX], *output = NULL;
	char *backup = str_printf(".backup '%s/%s/%s'", export->work, export->name, name);
	char *copy[] = {"sqlite3",	  "-readonly", "-bail", "-cmd",
			".timeout 20000", from,	       backup,	NULL};
	char *change[] = {"sqlite3", "-bail", to, (char *)sql, NULL};
	int ret;

	snprintf(from, sizeof(from), "%s/%s", export->ctl->data_dir, name);
	snprintf(to, sizeof(to), "%s/%s/%s", export->work, export->name, name);
	ret = backup ? program_run(copy, NULL) : -ENOMEM;
	if (!ret && sql)
		ret = program_run(change, &output);
	free(output);
	free(backup);
	return ret ? ret : note_sum(export, to, name);
}

static int add_databases(struct export *export)
{
	char *prune = str_printf(prune_sql, (long long)export->id);
	char path[PATH_MAX * 2], name[48];
	int ret;

	ret = prune ? add_database(export, "lab.db", prune) : -ENOMEM;
	free(prune);
	if (ret)
		return ret;
	snprintf(name, sizeof(name), "events/%lld.db", (long long)export->id);
	snprintf(path, sizeof(path), "%s/%s", export->ctl->data_dir, name);
	if (access(path, R_OK))
		return 0;
	snprintf(path, sizeof(path), "%s/%s/events", export->work, export->name);
	if (mkdir(path, 0755))
		return -errno;
	return add_database(export, name, NULL);
}

/* Captures and consoles, by the names that the copied database has. */
static int list_files(struct export *export)
{
	char path[PATH_MAX * 2], *names = NULL, *next;
	char *query[] = {"sqlite3",
			 "-readonly",
			 "-bail",
			 path,
			 "SELECT capture FROM run WHERE capture IS NOT NULL "
			 "UNION SELECT xen_capture FROM run WHERE xen_capture IS NOT NULL "
			 "UNION SELECT console FROM boot",
			 NULL};
	int ret;

	snprintf(path, sizeof(path), "%s/%s/lab.db", export->work, export->name);
	ret = program_run(query, &names);
	if (ret)
		return ret;
	for (char *name = strtok_r(names, "\n", &next); !ret && name;
	     name = strtok_r(NULL, "\n", &next)) {
		if (*name == '/' || strstr(name, ".."))
			continue;
		snprintf(path, sizeof(path), "%s/%s", export->ctl->data_dir, name);
		if (access(path, R_OK)) {
			ctl_fail("%s is gone and not in the archive", path);
			continue;
		}
		fprintf(export->list, "%s\n", name);
		ret = note_sum(export, path, name);
	}
	free(names);
	return ret;
}

static int open_list(const struct export *export, const char *name, FILE **ret_file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", export->work, name);
	*ret_file = fopen(path, "we");
	return *ret_file ? 0 : -errno;
}

static int fill(struct export *export)
{
	char name[64];
	int ret;

	ret = open_list(export, "list", &export->list);
	snprintf(name, sizeof(name), "%s/SHA256SUMS", export->name);
	if (!ret)
		ret = open_list(export, name, &export->sums);
	if (ret)
		return ret;
	ret = add_spec(export);
	if (!ret)
		ret = add_answer(export, "report", "report.txt");
	if (!ret)
		ret = add_answer(export, "results", "results.json");
	if (!ret)
		ret = add_databases(export);
	return ret ? ret : list_files(export);
}

static int pack(struct export *export, const char *file)
{
	char *transform = str_printf("s,^\\(captures\\|consoles\\)/,%s/&,", export->name);
	char *list = str_printf("%s/list", export->work);
	/* clang-format off */
	char *tar[] = {
		"tar", "--create", "--gzip", "--owner=0", "--group=0", "--numeric-owner",
		"--file", (char *)file, "--transform", transform,
		"-C", export->work, export->name,
		"-C", (char *)export->ctl->data_dir, "--files-from", list, NULL,
	};
	/* clang-format on */
	int ret;

	ret = transform && list ? program_run(tar, NULL) : -ENOMEM;
	free(list);
	free(transform);
	return ret;
}

static int make_archive(struct export *export, const char *file)
{
	char folder[PATH_MAX];
	char *clean[] = {"rm", "-rf", "--", export->work, NULL};
	int ret;

	snprintf(export->work, sizeof(export->work), "/var/tmp/labctl-XXXXXX");
	if (!mkdtemp(export->work)) {
		ret = -errno;
		ctl_fail("no temporary folder: %s", strerror(-ret));
		return ret;
	}
	snprintf(folder, sizeof(folder), "%s/%s", export->work, export->name);
	ret = mkdir(folder, 0755) ? -errno : fill(export);
	if (export->sums && fclose(export->sums) && !ret)
		ret = -EIO;
	if (export->list && fclose(export->list) && !ret)
		ret = -EIO;
	if (!ret)
		ret = pack(export, file);
	if (ret)
		unlink(file);
	program_run(clean, NULL);
	return ret;
}

/** cmd_export() - labctl export ID [-o FILE] */
int cmd_export(const struct ctl *ctl, int argc, char **argv)
{
	struct export export = {.ctl = ctl};
	char file[PATH_MAX] = "", data[PATH_MAX];
	struct ctl absolute = *ctl;
	int c;

	while ((c = getopt_long(argc, argv, "o:", (const struct option[]){{0}}, NULL)) != -1) {
		if (c != 'o')
			return CTL_ERROR;
		snprintf(file, sizeof(file), "%s", optarg);
	}
	if (ctl_id(argc - optind == 1 ? argv[optind] : NULL, &export.id))
		return CTL_ERROR;
	/* tar changes its folder before it reads names. */
	if (!*ctl->data_dir || !realpath(ctl->data_dir, data))
		return ctl_fail(
			"export reads labd's data directory, which is not at \"%s\": name it by --data",
			ctl->data_dir);
	snprintf(absolute.data_dir, sizeof(absolute.data_dir), "%s", data);
	export.ctl = &absolute;
	snprintf(export.name, sizeof(export.name), "labd-experiment-%lld", (long long)export.id);
	if (!*file)
		snprintf(file, sizeof(file), "%s.tar.gz", export.name);
	if (!access(file, F_OK))
		return ctl_fail("%s exists already", file);
	if (make_archive(&export, file))
		return ctl_fail("experiment %lld is not exported", (long long)export.id);
	printf("experiment %lld: %u files in %s\n", (long long)export.id, export.files, file);
	return CTL_OK;
}
