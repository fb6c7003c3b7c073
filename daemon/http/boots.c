// SPDX-License-Identifier: GPL-2.0-only
/* /api/v1/boots: one boot with its runs and its environment, and its console. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "http/request.h"
#include "machine/console.h"
#include "store/db.h"

/* clang-format off */
static const char get_sql[] =
	"SELECT json_object('boot', b.id, 'experiment', s.experiment, 'name', e.name,"
	" 'emulated', " SQL_BOOL("e.emulated") ","
	" 'clock', json_extract(e.machine_json, '$.clock'), 'deterministic',"
	" json(iif(json_extract(e.machine_json, '$.deterministic'), 'true', 'false')),"
	" 'round', s.round, 'position', s.position,"
	" 'arm', s.arm, 'attempt', b.attempt, 'state', b.state, 'detail', b.detail,"
	" 'console_lines', b.console_lines, 'boot_id', b.boot_id, 'build_id', b.build_id,"
	" 'kernel', b.kernel, 'hypervisor', b.hypervisor,"
	" 'hypervisor_build_id', b.hypervisor_build_id, 'cmdline', b.cmdline,"
	" 'environment', json(b.env_json),"
	" 'environment_key', b.env_key, 'observed', json(b.observed_json),"
	" 'started', " SQL_TIME("b.started") ", 'ended', " SQL_TIME("b.ended") ","
	" 'boot_ms', (b.hello - b.started) / 1000000, 'took_ms', (b.ended - b.started) / 1000000,"
	" 'runs', json((SELECT json_group_array(json_object('run', id, 'scenario', scenario,"
	"   'state', state, 'reason', reason, 'events', events, 'lost', lost,"
	"   'complete', " SQL_BOOL("complete") ", 'bytes', bytes,"
	"   'xen_bytes', xen_bytes, 'measure_ns', measure_ns,"
	"   'ship_ns', ship_ns, 'ingest_ns', ingest_ns))"
	"   FROM (SELECT * FROM run WHERE boot = b.id ORDER BY id))),"
	" 'console', '/api/v1/boots/' || b.id || '/console')"
	" FROM boot b JOIN slot s ON s.id = b.slot JOIN experiment e ON e.id = s.experiment"
	" WHERE b.id = ?1";
/* clang-format on */

/** boots_get() - GET /api/v1/boots/{id} */
void boots_get(struct request *req)
{
	char *text = NULL;
	int ret;

	ret = db_get_text(req->http->db, &text, get_sql, "i", req->id);
	respond_row(req, ret, text, "boot");
}

static bool starts(const char *text, const char *end, const char *with)
{
	size_t n = strlen(with);

	return (size_t)(end - text) >= n && !memcmp(text, with, n);
}

/* Who said a line, "[   1.234] " and its text: what is nobody's is the lab's own. */
static enum console_source line_source(const char *line, const char *end)
{
	/* "qemu: " is what consoles of older boots say for "machine: ". */
	static const char *const others[] = {"machine: ", "qemu: ", "agent: ", "labd: "};
	const char *text = memchr(line, ']', end - line);

	if (!text || end - text < 2)
		return CONSOLE_LAB;
	text += 2;
	if (starts(text, end, CONSOLE_MARK_XEN) || starts(text, end, CONSOLE_OWN_XEN))
		return CONSOLE_XEN;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (starts(text, end, others[i]))
			return CONSOLE_LAB;
	return CONSOLE_SERIAL;
}

/* Keeps the lines of one source, in place; returns the length that is left. */
static size_t keep_source(char *text, size_t length, enum console_source source)
{
	char *to = text, *line = text, *end = text + length, *next;

	for (; line < end; line = next) {
		next = memchr(line, '\n', end - line);
		next = next ? next + 1 : end;
		if (line_source(line, next) != source)
			continue;
		memmove(to, line, next - line);
		to += next - line;
	}
	return to - text;
}

static void respond_source(struct request *req, const char *console, enum console_source source)
{
	char *path = str_printf("%s/%s", req->http->data_dir, console), *text;
	size_t length;
	int ret;

	/* The note of a console that was cut comes on top of the limit. */
	ret = path ? read_file(path, CONSOLE_FILE_MAX + 1024, &text, &length) : -ENOMEM;
	if (ret == -ENOENT)
		respond_error(req, MHD_HTTP_NOT_FOUND, NULL, "the file %s is gone", console);
	else if (ret)
		respond_errno(req, ret, "reading the console");
	else
		respond_text(req, MHD_HTTP_OK, "text/plain; charset=utf-8", text,
			     keep_source(text, length, source));
	free(path);
}

/**
 * boots_console() - GET /api/v1/boots/{id}/console: the text, as far as there is one
 *
 * ?source=kernel or xen leaves only what that one said.
 */
void boots_console(struct request *req)
{
	const char *source =
		MHD_lookup_connection_value(req->connection, MHD_GET_ARGUMENT_KIND, "source");
	char *path = NULL;
	int ret;

	if (source && strcmp(source, "kernel") && strcmp(source, "xen")) {
		respond_error(req, MHD_HTTP_BAD_REQUEST, "source", "must be kernel or xen");
		return;
	}
	ret = db_get_text(req->http->db, &path, "SELECT console FROM boot WHERE id = ?1", "i",
			  req->id);
	if (ret)
		respond_row(req, ret, NULL, "boot");
	else if (source)
		respond_source(req, path, *source == 'x' ? CONSOLE_XEN : CONSOLE_SERIAL);
	else
		respond_file(req, path, "text/plain; charset=utf-8", NULL);
	free(path);
}
