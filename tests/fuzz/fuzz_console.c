// SPDX-License-Identifier: GPL-2.0-only
/* A console in pieces of any size: what is found does not depend on the cuts, and all text is
 * clean. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machine/console.h"
#include "machine/state.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_clean(const char *text)
{
	for (; *text; text++)
		if ((*text < ' ' || *text > '~') && *text != '\n')
			abort();
}

static struct console_report read_cut(enum console_source source, const uint8_t *data, size_t size,
				      size_t cut)
{
	struct boot_facts facts = {.stop = STOP_CONSOLE};
	struct console_report report;
	struct console *console;
	struct boot_end end;
	size_t n;

	if (console_open("/dev/null", 0, &console))
		abort();
	for (; size; data += n, size -= n) {
		n = cut < size ? cut : size;
		console_feed(console, source, data, n);
		console_feed(console, CONSOLE_AGENT, data, n);
	}
	console_end(console);
	report = *console_report(console);
	console_free(console);
	check_clean(report.line);
	check_clean(report.first);
	check_clean(report.lines);
	boot_classify(&facts, &report, &end);
	check_clean(end.detail);
	check_clean(end.console_lines);
	return report;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum console_source source;
	struct console_report whole, cut;

	if (!size)
		return 0;
	source = data[0] & 1 ? CONSOLE_XEN : CONSOLE_SERIAL;
	whole = read_cut(source, data + 1, size - 1, size);
	cut = read_cut(source, data + 1, size - 1, 1 + data[0]);
	if (whole.cause != cut.cause || strcmp(whole.line, cut.line) || whole.bytes != cut.bytes)
		abort();
	return 0;
}
