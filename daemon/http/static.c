// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dashboard. Its files are part of the program; a request is looked up in a table of names, so
 * there is no path to climb out of.
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

/* Addresses of pages; every other file is served as /<name>. */
static const struct {
	const char *pattern;
	const char *file;
} pages[] = {
	{"/", "index.html"},
	{"/experiments/{id}", "experiment.html"},
	{"/boots/{id}", "boot.html"},
	{"/builds", "builds.html"},
	{"/machines", "machines.html"},
	{"/api/v1/openapi.json", "openapi.json"},
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
};

struct static_file {
	const char *name; /* without web/, NULL ends the table */
	const char *type;
	const char *data;
	size_t length;
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

/**
 * static_load() - the table of what can be served
 * @ret_files: freed by static_free()
 *
 * Return: 0 or -ENOMEM.
 */
int static_load(struct static_file **ret_files)
{
	struct static_file *files, *file;
	size_t n = 0;

	while (embedded_files[n].name)
		n++;
	files = file = calloc(n + 1, sizeof(*files));
	if (!files)
		return -ENOMEM;
	for (const struct embedded *from = embedded_files; from->name; from++) {
		char hash[SHA256_HEX_LEN + 1];

		if (strncmp(from->name, WEB_PREFIX, sizeof(WEB_PREFIX) - 1) || !type_of(from->name))
			continue;
		file->name = from->name + sizeof(WEB_PREFIX) - 1;
		file->type = type_of(from->name);
		file->data = from->data;
		file->length = (size_t)(from->end - from->data);
		sha256_hex(file->data, file->length, hash);
		snprintf(file->etag, sizeof(file->etag), "\"%.16s\"", hash);
		file++;
	}
	*ret_files = files;
	return 0;
}

/** static_free() - NULL is allowed */
void static_free(struct static_file *files)
{
	free(files);
}

static const char *file_of(const char *path)
{
	struct route_args args;

	for (size_t i = 0; i < ARRAY_SIZE(pages); i++) {
		if (route_match(pages[i].pattern, path, &args))
			return pages[i].file;
	}
	return *path == '/' ? path + 1 : NULL;
}

/** static_find() - the page or asset at a path, or NULL */
const struct static_file *static_find(const struct static_file *files, const char *path)
{
	const char *name = file_of(path);

	for (; name && files->name; files++) {
		if (!strcmp(files->name, name))
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
