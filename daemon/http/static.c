// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dashboard. Its files are part of the program; a request is looked up in a table of names, so
 * there is no path to climb out of. All pages are one skeleton, web/page.html, that differ in title
 * and script.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embed.h"
#include "base/sha256.h"
#include "base/util.h"
#include "http/request.h"
#include "http/route.h"

#define WEB_PREFIX "web/"
#define SKELETON "page.html"

/* plots: its script draws with d3. */
static const struct {
	const char *pattern;
	const char *title;
	const char *script;
	bool plots;
} pages[] = {
	{"/", "Experiments", "list.js"},
	{"/schedule", "Schedule", "schedule.js"},
	{"/experiments/{id}", "Experiment", "experiment.js", true},
	{"/experiments/{id}/live", "Live", "live.js"},
	{"/compare", "Compare", "compare.js"},
	{"/boots/{id}", "Boot", "boot.js"},
	{"/builds", "Builds", "builds.js"},
	{"/builds/{name}", "Build", "build.js"},
	{"/machines", "Machines", "machines.js"},
	{"/machines/{name}", "Machine", "machine.js"},
	{"/sql", "SQL", "sql.js"},
};

static const struct {
	const char *suffix;
	const char *type;
} types[] = {
	{".html", "text/html; charset=utf-8"},
	{".css", "text/css; charset=utf-8"},
	{".js", "text/javascript; charset=utf-8"},
	{".svg", "image/svg+xml"},
	{".json", "application/json"},
	{".md", "text/markdown; charset=utf-8"},
};

/* The pages first, in the order of their table, then the assets; type NULL ends the table. */
struct static_file {
	const char *name; /* an asset's, without web/ */
	const char *type;
	const char *data;
	size_t length;
	char *page; /* data of a page, ours to free */
	char etag[20];
};

static const char *type_of(const char *name)
{
	const char *suffix = strrchr(name, '.');

	for (size_t i = 0; suffix && i < ARRAY_SIZE(types); i++) {
		if (!strcmp(suffix, types[i].suffix))
			return types[i].type;
	}
	return NULL;
}

static void set_data(struct static_file *file, const char *type, const char *data, size_t length)
{
	char hash[SHA256_HEX_LEN + 1];

	file->type = type;
	file->data = data;
	file->length = length;
	sha256_hex(data, length, hash);
	snprintf(file->etag, sizeof(file->etag), "\"%.16s\"", hash);
}

/* The skeleton with what stands for @title@ and, behind it, for @scripts@; NULL without memory. */
static char *fill_skeleton(const char *skeleton, const char *title, const char *script, bool plots)
{
	static const char title_mark[] = "@title@", scripts_mark[] = "@scripts@";
	const char *at_title = strstr(skeleton, title_mark);
	const char *at_scripts = strstr(skeleton, scripts_mark);
	const char *between = at_title + sizeof(title_mark) - 1;

	return str_printf("%.*s%s%.*s%s<script type=\"module\" src=\"/%s\"></script>%s",
			  (int)(at_title - skeleton), skeleton, title, (int)(at_scripts - between),
			  between, plots ? "<script defer src=\"/d3.js\"></script>\n" : "", script,
			  at_scripts + sizeof(scripts_mark) - 1);
}

static int load_pages(struct static_file *files, const char *skeleton)
{
	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		files[i].page =
			fill_skeleton(skeleton, pages[i].title, pages[i].script, pages[i].plots);
		if (!files[i].page)
			return -ENOMEM;
		set_data(&files[i], type_of(SKELETON), files[i].page, strlen(files[i].page));
	}
	return 0;
}

/**
 * static_load() - the table of what can be served
 * @ret_files: freed by static_free()
 *
 * Return: 0 or -ENOMEM.
 */
int static_load(struct static_file **ret_files)
{
	struct static_file *files, *file;
	size_t n = ARRAY_SIZE(pages);
	int ret;

	for (const struct embedded *from = embedded_files; from->name; from++)
		n++;
	files = calloc(n + 1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	file = files + ARRAY_SIZE(pages);
	for (const struct embedded *from = embedded_files; from->name; from++) {
		const char *name = from->name + sizeof(WEB_PREFIX) - 1;

		if (strncmp(from->name, WEB_PREFIX, sizeof(WEB_PREFIX) - 1) || !type_of(name))
			continue;
		if (!strcmp(name, SKELETON)) {
			ret = load_pages(files, from->data);
			if (ret)
				goto fail;
			continue;
		}
		file->name = name;
		set_data(file, type_of(name), from->data, (size_t)(from->end - from->data));
		file++;
	}
	*ret_files = files;
	return 0;

fail:
	static_free(files);
	return ret;
}

/** static_free() - NULL is allowed */
void static_free(struct static_file *files)
{
	for (size_t i = 0; files && i < ARRAY_SIZE(pages); i++)
		free(files[i].page);
	free(files);
}

/** static_find() - the page or asset at a path, or NULL */
const struct static_file *static_find(const struct static_file *files, const char *path)
{
	struct route_args args;

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		if (route_match(pages[i].pattern, path, &args))
			return &files[i];
	}
	/* The one asset that has an address like the API's. */
	if (!strcmp(path, "/api/v1/openapi.json"))
		path = "/openapi.json";
	for (files += ARRAY_SIZE(pages); files->type; files++) {
		if (*path == '/' && !strcmp(files->name, path + 1))
			return files;
	}
	return NULL;
}

/** static_serve() - answer with a page or an asset */
void static_serve(struct request *req, const struct static_file *file)
{
	char *copy;

	if (request_has_etag(req, file->etag)) {
		respond_not_modified(req);
	} else {
		copy = malloc(file->length + 1);
		if (copy)
			memcpy(copy, file->data, file->length);
		respond_text(req, MHD_HTTP_OK, file->type, copy, file->length);
	}
	respond_header(req, MHD_HTTP_HEADER_ETAG, file->etag);
}
