// SPDX-License-Identifier: GPL-2.0-only
/* Builds and images: what can be booted, and what is in its initramfs. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/log.h"
#include "base/util.h"
#include "store/build.h"
#include "store/db.h"

#define MANIFEST_MAX 65536

/* Keys of a manifest; all are strings but series, a list of strings. */
static const struct {
	const char *name;
	bool required;
} keys[] = {
	{"name", true},		  {"subject", true},
	{"kernel", true},	  {"build_id", true},
	{"release", false},	  {"base", false},
	{"compiler", false},	  {"config", false},
	{"config_sha256", false}, {"log", false},
	{"series_sha256", false}, {"key", false},
	{"hypervisor", false},	  {"hypervisor_build_id", false},
	{"series_text", false},
};

static bool known_key(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!strcmp(name, keys[i].name))
			return true;
	}
	return !strcmp(name, "series");
}

static bool good_name(const char *name)
{
	size_t len = strlen(name);

	return len && len <= 64 && *name != '.' &&
	       strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") ==
		       len;
}

static int check_build_id(const json_t *build, const char *key, const char *whose,
			  struct problem *problem)
{
	const char *build_id = json_string_value(json_object_get(build, key));

	if (strlen(build_id) < 16 || strlen(build_id) > 64 ||
	    strspn(build_id, "0123456789abcdef") != strlen(build_id))
		return problem_set(problem, 422, key, "must be the %s's GNU build-id in hex",
				   whose);
	return 0;
}

/* The file and its proof: one without the other is of no use. */
static int check_hypervisor(const json_t *build, struct problem *problem)
{
	const json_t *file = json_object_get(build, "hypervisor");
	const json_t *build_id = json_object_get(build, "hypervisor_build_id");

	if (!file && !build_id)
		return 0;
	if (!file || !build_id)
		return problem_set(problem, 422, file ? "hypervisor_build_id" : "hypervisor",
				   "is missing: a hypervisor needs its file and its build-id");
	if (*json_string_value(file) != '/')
		return problem_set(problem, 422, "hypervisor", "must be an absolute path");
	return check_build_id(build, "hypervisor_build_id", "hypervisor", problem);
}

/**
 * build_check() - is this object a build manifest?
 *
 * Return: 0, or -EINVAL with @problem set.
 */
int build_check(const json_t *build, struct problem *problem)
{
	json_t *value, *item;
	const char *key;
	size_t i;
	int ret;

	if (!json_is_object(build))
		return problem_set(problem, 400, NULL, "a build is a JSON object");
	json_object_foreach ((json_t *)build, key, value) {
		if (!known_key(key))
			return problem_set(problem, 422, key, "unknown key");
		if (strcmp(key, "series") && !json_is_string(value))
			return problem_set(problem, 422, key, "must be a string");
	}
	for (i = 0; i < ARRAY_SIZE(keys); i++) {
		value = json_object_get(build, keys[i].name);
		if (keys[i].required && (!value || !json_string_length(value)))
			return problem_set(problem, 422, keys[i].name, "is missing");
	}
	value = json_object_get(build, "series");
	if (value && !json_is_array(value))
		return problem_set(problem, 422, "series", "must be a list of patch names");
	json_array_foreach (value, i, item) {
		if (!json_is_string(item))
			return problem_set(problem, 422, "series", "must be a list of patch names");
	}
	if (!good_name(json_string_value(json_object_get(build, "name"))))
		return problem_set(problem, 422, "name",
				   "must be 1 to 64 letters, digits, dots, dashes or underscores");
	ret = check_build_id(build, "build_id", "kernel", problem);
	if (ret)
		return ret;
	if (*json_string_value(json_object_get(build, "kernel")) != '/')
		return problem_set(problem, 422, "kernel", "must be an absolute path");
	return check_hypervisor(build, problem);
}

static int load_manifest(const char *dir, const char *file, json_t **ret_json)
{
	char path[PATH_MAX], *text;
	json_error_t error;
	json_t *json;
	int ret;

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	ret = read_file(path, MANIFEST_MAX, &text, NULL);
	if (ret)
		return ret;
	json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
	free(text);
	if (!json) {
		log_warn("%s, line %d: %s", path, error.line, error.text);
		return -EBADMSG;
	}
	*ret_json = json;
	return 0;
}

static int is_manifest(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return len > 5 && !strcmp(entry->d_name + len - 5, ".json");
}

static int add_found(json_t *builds, const char *dir)
{
	struct problem problem;
	struct dirent **names;
	json_t *build;
	int n;

	n = scandir(dir, &names, is_manifest, alphasort);
	if (n < 0)
		return errno == ENOENT ? 0 : -errno;
	for (int i = 0; i < n; i++) {
		problem.status = 0;
		if (!load_manifest(dir, names[i]->d_name, &build)) {
			if (build_check(build, &problem)) {
				log_warn("%s/%s: %s %s", dir, names[i]->d_name, problem.key,
					 problem.detail);
				json_decref(build);
			} else {
				json_array_append_new(builds, build);
			}
		}
		free(names[i]);
	}
	free(names);
	return 0;
}

/**
 * build_list() - every build, those of kernel/ first
 * @ret_builds: array of manifests, a new reference
 *
 * Return: 0 or negative errno.
 */
int build_list(sqlite3 *db, const char *builds_dir, json_t **ret_builds)
{
	json_t *builds = json_array(), *build;
	sqlite3_stmt *stmt;
	int ret;

	if (!builds)
		return -ENOMEM;
	ret = add_found(builds, builds_dir);
	if (!ret)
		ret = db_prepare(db, &stmt, "SELECT manifest FROM build ORDER BY name", "");
	if (ret) {
		json_decref(builds);
		return ret;
	}
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		build = json_loads((const char *)sqlite3_column_text(stmt, 0), 0, NULL);
		if (build)
			json_array_append_new(builds, build);
	}
	sqlite3_finalize(stmt);
	*ret_builds = builds;
	return 0;
}

static int pick(json_t *builds, const char *name, json_t **ret_build)
{
	json_t *build;
	size_t i;

	json_array_foreach (builds, i, build) {
		if (!strcmp(json_text(build, "name"), name)) {
			*ret_build = json_incref(build);
			return 0;
		}
	}
	return -ENOENT;
}

/**
 * build_find() - one build by its name
 * @ret_build: a new reference
 *
 * Return: 0, -ENOENT, or another negative errno.
 */
int build_find(sqlite3 *db, const char *builds_dir, const char *name, json_t **ret_build)
{
	json_t *builds;
	int ret;

	ret = build_list(db, builds_dir, &builds);
	if (ret)
		return ret;
	ret = pick(builds, name, ret_build);
	json_decref(builds);
	return ret;
}

/**
 * build_find_made() - the same among those that the lab's own scripts made
 *
 * Only their manifests name files that may be read for who asks: a registered one says what its
 * sender likes.
 */
int build_find_made(const char *builds_dir, const char *name, json_t **ret_build)
{
	json_t *builds = json_array();
	int ret;

	ret = builds ? add_found(builds, builds_dir) : -ENOMEM;
	if (!ret)
		ret = pick(builds, name, ret_build);
	json_decref(builds);
	return ret;
}

/**
 * image_find() - the image of a subject: {"name", "image", "sha256", "files"}
 *
 * Return: 0, -ENOENT, -EBADMSG for a file that is no image manifest, or another negative errno.
 */
int image_find(const char *images_dir, const char *subject, json_t **ret_image)
{
	char file[80];
	json_t *image;
	int ret;

	if (!good_name(subject))
		return -ENOENT;
	snprintf(file, sizeof(file), "%s.json", subject);
	ret = load_manifest(images_dir, file, &image);
	if (ret)
		return ret;
	if (!json_is_string(json_object_get(image, "image")) ||
	    !json_is_string(json_object_get(image, "sha256"))) {
		json_decref(image);
		return -EBADMSG;
	}
	*ret_image = image;
	return 0;
}
