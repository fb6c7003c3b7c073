// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/util.h"
#include "machine/console.h"

#define LINE_MAX_BYTES 1024
#define CARRY 64 /* longer than any phrase below */
#define RECENT 12
#define AFTER_CAUSE 48

/**
 * struct stream - a line in the making
 * @text: its bytes, as they came
 * @carry: how many of them are in the file already, kept so that a phrase is found over the cut of
 * an overlong line
 * @at_ns: when its first byte came
 */
struct stream {
	char text[LINE_MAX_BYTES + 1];
	size_t length;
	size_t carry;
	int64_t at_ns;
};

/**
 * struct console - see console.h
 * @recent: ring of the last lines, for what led to a cause
 * @n_recent: lines ever put into it
 * @after: lines that still belong to the report
 */
struct console {
	FILE *file;
	uint64_t written;
	int64_t power_on_ns;
	unsigned int banners;
	struct stream streams[CONSOLE_N_SOURCES];
	char recent[RECENT][CONSOLE_LINE_SHOWN];
	unsigned int n_recent;
	unsigned int after;
	struct console_report report;
};

static const char *const marks[CONSOLE_N_SOURCES] = {
	[CONSOLE_SERIAL] = "",
	[CONSOLE_PROGRAM] = "qemu: ",
	[CONSOLE_AGENT] = "agent: ",
	[CONSOLE_LAB] = "labd: ",
};

/* @also must be in the line too, @unless must not. First match counts. */
static const struct phrase {
	const char *text;
	const char *also;
	const char *unless;
	enum console_cause cause;
} phrases[] = {
	{"Kernel panic - not syncing", NULL, NULL, CONSOLE_PANIC},
	{"INFO: task ", "blocked for more than", NULL, CONSOLE_HANG},
	{"soft lockup - CPU", NULL, NULL, CONSOLE_HANG},
	{"hard LOCKUP", NULL, NULL, CONSOLE_HANG},
	{"BUG: workqueue lockup", NULL, NULL, CONSOLE_HANG},
	{"self-detected stall on CPU", NULL, NULL, CONSOLE_HANG},
	{"detected stalls on CPUs", NULL, NULL, CONSOLE_HANG},
	{"detected expedited stalls", NULL, NULL, CONSOLE_HANG},
	{"Oops: ", NULL, NULL, CONSOLE_OOPS},
	{"kernel BUG at ", NULL, NULL, CONSOLE_OOPS},
	{"BUG: ", NULL, NULL, CONSOLE_OOPS},
	/* A program that is killed for the same fault is announced by "traps: name[pid]". */
	{"general protection fault", NULL, "traps: ", CONSOLE_OOPS},
	{": 0000 [#", NULL, NULL, CONSOLE_OOPS},
};

static enum console_cause find_cause(const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(phrases); i++) {
		const struct phrase *phrase = &phrases[i];

		if (strstr(line, phrase->text) && (!phrase->also || strstr(line, phrase->also)) &&
		    (!phrase->unless || !strstr(line, phrase->unless)))
			return phrase->cause;
	}
	return CONSOLE_FINE;
}

/* A kernel's first line, behind nothing or the stamp "[    0.000000]". */
static bool is_banner(const char *line)
{
	if (!strncmp(line, "[    0.", 7)) {
		line = strchr(line, ']');
		if (!line || line[1] != ' ')
			return false;
		line += 2;
	}
	return !strncmp(line, "Linux version ", 14);
}

/* As much of a line as the report shows. */
static void cut_line(char ret_shown[CONSOLE_LINE_SHOWN], const char *line)
{
	size_t n = strnlen(line, CONSOLE_LINE_SHOWN - 1);

	memcpy(ret_shown, line, n);
	ret_shown[n] = '\0';
}

static bool append_line(struct console_report *report, const char *line)
{
	size_t have = strlen(report->lines), more = strlen(line);

	if (have + more + 2 > sizeof(report->lines))
		return false;
	memcpy(report->lines + have, line, more);
	strcpy(report->lines + have + more, "\n");
	return true;
}

static void append_recent(struct console *console)
{
	unsigned int n = console->n_recent < RECENT ? console->n_recent : RECENT;

	for (unsigned int i = console->n_recent - n; i < console->n_recent; i++)
		append_line(&console->report, console->recent[i % RECENT]);
}

/* Takes a cause in; @shown is already the last of the recent lines. */
static void note_cause(struct console *console, enum console_cause cause, const char *shown)
{
	struct console_report *report = &console->report;
	bool first = cause >= CONSOLE_REBOOT && report->cause < CONSOLE_REBOOT;

	/* The report begins at the first hang and anew at the first worse thing. */
	if (first || report->cause == CONSOLE_FINE) {
		report->lines[0] = '\0';
		append_recent(console);
		console->after = AFTER_CAUSE;
	}
	if (cause >= CONSOLE_OOPS && !report->first[0])
		strcpy(report->first, shown);
	if (cause > report->cause) {
		report->cause = cause;
		strcpy(report->line, shown);
	}
}

static void put_line(struct console *console, const char *text, size_t length, int64_t at_ns)
{
	char stamp[32];
	int64_t ms = (at_ns - console->power_on_ns) / 1000000;
	int n;

	n = snprintf(stamp, sizeof(stamp), "[%4lld.%03lld] ", (long long)ms / 1000,
		     (long long)ms % 1000);
	if (console->report.error || console->written + n + length + 1 > CONSOLE_FILE_MAX) {
		console->report.dropped += length;
		return;
	}
	console->written += n + length + 1;
	fwrite(stamp, 1, n, console->file);
	fwrite(text, 1, length, console->file);
	putc('\n', console->file);
}

/*
 * Makes bytes harmless: whatever is not printable ASCII becomes \xNN, so that no terminal obeys it
 * and any reader can take it for UTF-8. Returns the length of @ret_clean.
 */
static size_t clean(const char *text, size_t length, char *ret_clean)
{
	size_t n = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = text[i];

		if (c == '\t')
			ret_clean[n++] = ' ';
		else if (c >= ' ' && c <= '~')
			ret_clean[n++] = c;
		else
			n += sprintf(ret_clean + n, "\\x%02x", c);
	}
	ret_clean[n] = '\0';
	return n;
}

/* The stream holds a line, or as much of one as fits. */
static void take_line(struct console *console, enum console_source source, bool whole)
{
	struct stream *stream = &console->streams[source];
	char shown[CONSOLE_LINE_SHOWN], line[16 + 4 * LINE_MAX_BYTES + 1];
	enum console_cause cause = CONSOLE_FINE;
	size_t length = stream->length, mark, n;

	while (whole && length > stream->carry && stream->text[length - 1] == '\r')
		length--;
	mark = strlen(strcpy(line, marks[source]));
	n = mark + clean(stream->text + stream->carry, length - stream->carry, line + mark);
	cut_line(shown, line);
	/* What is left of an overlong line may be nothing. */
	if (length > stream->carry || !stream->carry) {
		put_line(console, line, n, stream->at_ns);
		strcpy(console->recent[console->n_recent++ % RECENT], shown);
		if (console->after)
			console->after =
				append_line(&console->report, shown) ? console->after - 1 : 0;
	}

	if (source == CONSOLE_PROGRAM)
		cut_line(console->report.program_line, line + mark);
	if (source == CONSOLE_SERIAL) {
		clean(stream->text, length, line);
		cause = find_cause(line);
		if (!stream->carry && is_banner(line) && console->banners++)
			cause = CONSOLE_REBOOT;
		if (cause != CONSOLE_FINE)
			note_cause(console, cause, shown);
	}

	stream->carry = 0;
	if (!whole && length > CARRY) {
		memmove(stream->text, stream->text + length - CARRY, CARRY);
		stream->carry = CARRY;
	}
	stream->length = stream->carry;
}

/**
 * console_feed() - take bytes as they come, in chunks of any size
 */
void console_feed(struct console *console, enum console_source source, const void *data,
		  size_t length)
{
	struct stream *stream = &console->streams[source];
	const char *bytes = data, *newline;
	int64_t now = mono_ns();
	size_t n;

	if (source == CONSOLE_SERIAL)
		console->report.bytes += length;
	while (length) {
		newline = memchr(bytes, '\n', length);
		n = newline ? (size_t)(newline - bytes) : length;
		if (n > LINE_MAX_BYTES - stream->length) {
			n = LINE_MAX_BYTES - stream->length;
			newline = NULL;
		}
		if (stream->length == stream->carry)
			stream->at_ns = now;
		memcpy(stream->text + stream->length, bytes, n);
		stream->length += n;
		if (newline || stream->length == LINE_MAX_BYTES)
			take_line(console, source, newline != NULL);
		n += newline != NULL;
		bytes += n;
		length -= n;
	}
	if (fflush(console->file) && !console->report.error)
		console->report.error = errno;
}

/** console_report() - what was seen so far; the console's own */
const struct console_report *console_report(const struct console *console)
{
	return &console->report;
}

/**
 * console_end() - take unfinished lines for whole, and complete the report; nothing may be fed
 * afterwards
 */
void console_end(struct console *console)
{
	char text[128];

	for (size_t i = 0; i < CONSOLE_N_SOURCES; i++)
		if (console->streams[i].length > console->streams[i].carry)
			take_line(console, i, true);
	if (console->report.cause == CONSOLE_FINE)
		append_recent(console);
	if (console->report.dropped) {
		snprintf(text, sizeof(text),
			 "labd: the limit of %u MiB was reached, %llu bytes more "
			 "were dropped",
			 CONSOLE_FILE_MAX >> 20, (unsigned long long)console->report.dropped);
		console->written = 0; /* the limit does not hold for saying so */
		put_line(console, text, strlen(text), mono_ns());
	}
	if (fclose(console->file) && !console->report.error)
		console->report.error = errno;
	console->file = NULL;
}

/**
 * console_open() - begin a boot's log
 * @path: file that is made or emptied; at most CONSOLE_FILE_MAX bytes are put into it
 * @power_on_ns: mono_ns() that the lines' times count from
 * @ret_console: freed with console_free()
 *
 * Return: 0 or negative errno.
 */
int console_open(const char *path, int64_t power_on_ns, struct console **ret_console)
{
	struct console *console;
	int fd, ret;

	console = calloc(1, sizeof(*console));
	if (!console)
		return -ENOMEM;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	if (fd < 0) {
		ret = -errno;
		goto free_console;
	}
	console->file = fdopen(fd, "w");
	if (!console->file) {
		ret = -errno;
		goto close_fd;
	}
	console->power_on_ns = power_on_ns;
	*ret_console = console;
	return 0;

close_fd:
	close(fd);
free_console:
	free(console);
	return ret;
}

/** console_free() - close and release; NULL is fine */
void console_free(struct console *console)
{
	if (!console)
		return;
	if (console->file)
		fclose(console->file);
	free(console);
}
