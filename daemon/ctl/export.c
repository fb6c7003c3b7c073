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
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/util.h"
#include "ctl/ctl.h"

/**
 * struct export - an archive being made
 * @work: private folder, removed at the end
 * @name: folder inside the archive and inside @work
 * @sums: SHA256SUMS
 * @list: names of files of the data directory that go into the archive
 * @captures: themselves, not only their hashes
 * @missing: names of files that would be in it but are not there any more
 */
struct export
{
	const struct ctl *ctl;
	int64_t id;
	char work[64];
	char name[48];
	FILE *sums;
	FILE *list;
	bool captures;
	json_t *missing;
	unsigned int files;
};

#define FORMAT 1
#define CONSOLE_MAX (1u << 30)

/* Rows of other experiments leave the copy, and so does what is nobody else's business. */
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
	"DELETE FROM build WHERE name NOT IN (SELECT build FROM arm);"
	"DELETE FROM build_event WHERE build_id NOT IN (SELECT build_id FROM boot WHERE build_id IS NOT NULL);"
	"UPDATE experiment SET idempotency_key = NULL;"
	"UPDATE boot SET cmdline = replace(cmdline, token, ''), detail = replace(detail, token, ''),"
	" console_lines = replace(console_lines, token, ''), env_json = replace(env_json, token, ''),"
	" observed_json = replace(observed_json, token, ''), token = '' WHERE token <> '';"
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

static void note_missing(struct export *export, const char *name)
{
	json_array_append_new(export->missing, json_string(name));
}

/* One of a build's texts, as it is now. */
static int add_build_text(struct export *export, const char *build, const char *what, bool there)
{
	char path[256], name[256], *body;
	size_t length;
	int ret = -ENOENT;

	snprintf(path, sizeof(path), "/api/v1/builds/%s/%s", build, what);
	snprintf(name, sizeof(name), "builds/%s.%s", build, what);
	if (there)
		ret = client_find(export->ctl, path, &body, &length);
	if (ret == -ENOENT) {
		note_missing(export, name);
		return 0;
	}
	if (ret)
		return ret;
	ret = add_text(export, name, body, length);
	free(body);
	return ret;
}

/* A build may have been made anew since: then its texts are not those of the experiment. */
static int find_build(struct export *export, const char *build, const json_t *manifest,
		      bool *ret_there)
{
	char path[256], *body;
	json_t *now;
	int ret;

	*ret_there = false;
	snprintf(path, sizeof(path), "/api/v1/builds/%s", build);
	ret = client_find(export->ctl, path, &body, NULL);
	if (ret)
		return ret == -ENOENT ? 0 : ret;
	now = json_loads(body, 0, NULL);
	free(body);
	if (json_is_object(json_object_get(now, "manifest")))
		*ret_there = !strcmp(json_text(json_object_get(now, "manifest"), "build_id"),
				     json_text(manifest, "build_id"));
	else
		*ret_there = !strcmp(json_text(now, "build_id"), json_text(manifest, "build_id"));
	json_decref(now);
	return 0;
}

static int add_build(struct export *export, const char *build, const json_t *manifest)
{
	static const char *const texts[] = {"series", "config", "log"};
	char name[256], *text;
	bool there;
	int ret;

	snprintf(name, sizeof(name), "builds/%s.json", build);
	text = json_dumps(manifest, JSON_INDENT(2));
	ret = text ? add_text(export, name, text, strlen(text)) : -ENOMEM;
	free(text);
	ret = ret ?: find_build(export, build, manifest, &there);
	for (size_t i = 0; i < ARRAY_SIZE(texts) && !ret; i++)
		ret = add_build_text(export, build, texts[i], there);
	return ret;
}

static int make_folder(const struct export *export, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s", export->work, export->name, name);
	return make_dir(path, 0755);
}

static int add_builds(struct export *export, const json_t *arms)
{
	json_t *done = json_object();
	const json_t *arm;
	size_t i;
	int ret = done ? make_folder(export, "builds") : -ENOMEM;

	json_array_foreach (arms, i, arm) {
		const char *build = json_text(arm, "build");

		if (ret || json_object_get(done, build))
			continue;
		ret = add_build(export, build, json_object_get(arm, "manifest"));
		json_object_set_new(done, build, json_true());
	}
	json_decref(done);
	return ret;
}

/* Only what has ended stays the same while it is copied. */
static int add_experiment(struct export *export)
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
		ret = ret ?: add_builds(export, json_object_get(json, "arms"));
	}
	free(text);
	json_decref(json);
	return ret;
}

static int copy_database(const struct export *export, const char *name)
{
	char from[PATH_MAX * 2];
	char *backup = str_printf(".backup '%s/%s/%s'", export->work, export->name, name);
	char *copy[] = {"sqlite3",	  "-readonly", "-bail", "-cmd",
			".timeout 20000", from,	       backup,	NULL};
	int ret;

	snprintf(from, sizeof(from), "%s/%s", export->ctl->data_dir, name);
	ret = backup ? program_run(copy, NULL) : -ENOMEM;
	free(backup);
	return ret;
}

static int ask_copy(const struct export *export, const char *sql, char **ret_output)
{
	char path[PATH_MAX];
	char *query[] = {"sqlite3", "-bail", path, (char *)sql, NULL};

	snprintf(path, sizeof(path), "%s/%s/lab.db", export->work, export->name);
	return program_run(query, ret_output);
}

/* A kernel prints its command line, in which is the token that it proves its boot by. */
static void blank(char *text, size_t length, const char *token)
{
	size_t n = strlen(token);

	for (char *at = text; n && (at = memmem(at, length - (size_t)(at - text), token, n));
	     at += n)
		memset(at, 'x', n);
}

static int add_console(struct export *export, const char *name, const char *token)
{
	char path[PATH_MAX * 2], *text;
	size_t length;
	int ret;

	snprintf(path, sizeof(path), "%s/%s", export->ctl->data_dir, name);
	ret = read_file(path, CONSOLE_MAX, &text, &length);
	if (ret) {
		note_missing(export, name);
		return 0;
	}
	blank(text, length, token);
	ret = add_text(export, name, text, length);
	free(text);
	return ret;
}

/* Before the tokens leave the copy of the database. */
static int add_consoles(struct export *export)
{
	char *sql, *rows = NULL, *next;
	int ret = make_folder(export, "consoles");

	sql = str_printf("SELECT console || '|' || token FROM boot WHERE slot IN"
			 " (SELECT id FROM slot WHERE experiment = %lld)",
			 (long long)export->id);
	ret = ret ?: sql ? ask_copy(export, sql, &rows) : -ENOMEM;
	for (char *row = ret ? NULL : strtok_r(rows, "\n", &next); row && !ret;
	     row = strtok_r(NULL, "\n", &next)) {
		char *token = strchr(row, '|');

		if (!token || *row == '/' || strstr(row, ".."))
			continue;
		*token++ = '\0';
		ret = add_console(export, row, token);
	}
	free(rows);
	free(sql);
	return ret;
}

static int note_database(struct export *export, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s/%s", export->work, export->name, name);
	return note_sum(export, path, name);
}

static int add_databases(struct export *export)
{
	char *prune = str_printf(prune_sql, (long long)export->id), *output = NULL;
	char path[PATH_MAX * 2], name[48];
	int ret;

	ret = prune ? copy_database(export, "lab.db") : -ENOMEM;
	ret = ret ?: add_consoles(export) ?: ask_copy(export, prune, &output);
	free(output);
	free(prune);
	ret = ret ?: note_database(export, "lab.db");
	if (ret)
		return ret;
	snprintf(name, sizeof(name), "events/%lld.db", (long long)export->id);
	snprintf(path, sizeof(path), "%s/%s", export->ctl->data_dir, name);
	if (access(path, R_OK))
		return 0;
	return make_folder(export, "events") ?: copy_database(export, name)
		       ?: note_database(export, name);
}

/* Captures, by the names that the copied database has. */
static int list_captures(struct export *export)
{
	char path[PATH_MAX * 2], *names = NULL, *next;
	int ret;

	ret = ask_copy(export,
		       "SELECT capture FROM run WHERE capture IS NOT NULL UNION "
		       "SELECT xen_capture FROM run WHERE xen_capture IS NOT NULL",
		       &names);
	for (char *name = ret ? NULL : strtok_r(names, "\n", &next); name && !ret;
	     name = strtok_r(NULL, "\n", &next)) {
		if (*name == '/' || strstr(name, ".."))
			continue;
		snprintf(path, sizeof(path), "%s/%s", export->ctl->data_dir, name);
		if (access(path, R_OK)) {
			note_missing(export, name);
			continue;
		}
		fprintf(export->list, "%s\n", name);
		ret = note_sum(export, path, name);
	}
	free(names);
	return ret;
}

/* What the one who imports it looks at first. */
static int add_about(struct export *export)
{
	char *schema = NULL, *text, when[32];
	time_t now = time(NULL);
	struct tm tm;
	json_t *about;
	int ret;

	ret = ask_copy(export, "PRAGMA user_version", &schema);
	if (ret)
		return ret;
	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	about = json_pack("{s:i, s:i, s:I, s:s, s:b, s:O}", "format", FORMAT, "schema",
			  atoi(schema), "experiment", (json_int_t) export->id, "exported", when,
			  "captures", export->captures, "missing", export->missing);
	text = about ? json_dumps(about, JSON_INDENT(2)) : NULL;
	ret = text ? add_text(export, "archive.json", text, strlen(text)) : -ENOMEM;
	json_decref(about);
	free(schema);
	free(text);
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
	ret = add_experiment(export) ?: add_answer(export, "report", "report.txt")
		      ?: add_answer(export, "results", "results.json")
		      ?: add_databases(export);
	if (export->captures)
		ret = ret ?: list_captures(export);
	return ret ?: add_about(export);
}

static int pack(struct export *export, const char *file)
{
	char *transform = str_printf("s,^captures/,%s/&,", export->name);
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

/** cmd_export() - labctl export ID [-o FILE] [--no-captures] */
int cmd_export(const struct ctl *ctl, int argc, char **argv)
{
	static const struct option longs[] = {{"no-captures", no_argument, NULL, 'n'}, {0}};
	struct export export = {.ctl = ctl, .captures = true};
	char file[PATH_MAX] = "", data[PATH_MAX];
	struct ctl absolute = *ctl;
	int c, ret;

	while ((c = getopt_long(argc, argv, "o:", longs, NULL)) != -1) {
		if (c == 'o')
			snprintf(file, sizeof(file), "%s", optarg);
		else if (c == 'n')
			export.captures = false;
		else
			return CTL_ERROR;
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
	export.missing = json_array();
	ret = export.missing ? make_archive(&export, file) : -ENOMEM;
	if (ret)
		ctl_fail("experiment %lld is not exported", (long long)export.id);
	else
		printf("experiment %lld: %u files in %s, %zu are missing (archive.json names them)\n",
		       (long long)export.id, export.files, file, json_array_size(export.missing));
	json_decref(export.missing);
	return ret ? CTL_ERROR : CTL_OK;
}
