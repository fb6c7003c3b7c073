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
 * @banners: by source
 * @kernel_spoke: the kernel has a console of its own, which has said something
 * @await_reason: the hypervisor's next line says why it panicked
 * @recent: ring of the last lines, for what led to a cause
 * @n_recent: lines ever put into it
 * @after: lines that still belong to the report
 */
struct console {
	FILE *file;
	uint64_t written;
	int64_t power_on_ns;
	unsigned int banners[CONSOLE_N_SOURCES];
	bool kernel_spoke;
	bool await_reason;
	struct stream streams[CONSOLE_N_SOURCES];
	char recent[RECENT][CONSOLE_LINE_SHOWN];
	unsigned int n_recent;
	unsigned int after;
	struct console_report report;
};

static const char *const marks[CONSOLE_N_SOURCES] = {
	[CONSOLE_SERIAL] = "",		 [CONSOLE_XEN] = CONSOLE_MARK_XEN,
	[CONSOLE_PROGRAM] = "machine: ", [CONSOLE_AGENT] = "agent: ",
	[CONSOLE_LAB] = "labd: ",
};

/* @also must be in the line too, @unless must not. First match counts. */
struct phrase {
	const char *text;
	const char *also;
	const char *unless;
	enum console_cause cause;
};

static const struct phrase kernel_phrases[] = {
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
	{NULL, NULL, NULL, CONSOLE_FINE},
};

/*
 * Xen says why before it panics for an assertion or a BUG, and afterwards for the rest. A device
 * that the IOMMU caught at memory that is not its own is at least an oops: that is how a missing
 * flush would show.
 */
static const struct phrase xen_phrases[] = {
	{"Panic on CPU ", NULL, NULL, CONSOLE_PANIC},
	{"*** DOUBLE FAULT ***", NULL, NULL, CONSOLE_PANIC},
	{"Early fatal page fault at ", NULL, NULL, CONSOLE_PANIC},
	{"Hardware Dom", " crashed: ", NULL, CONSOLE_CRASH},
	{"FATAL TRAP: ", NULL, NULL, CONSOLE_PANIC},
	{"FATAL PAGE FAULT", NULL, NULL, CONSOLE_PANIC},
	{"Assertion '", "' failed at ", NULL, CONSOLE_OOPS},
	{"Xen BUG at ", NULL, NULL, CONSOLE_OOPS},
	{"Watchdog timer detects that CPU", "is stuck", NULL, CONSOLE_OOPS},
	{"domain_crash called from ", NULL, NULL, CONSOLE_OOPS},
	{"Triple fault - invoking", NULL, NULL, CONSOLE_OOPS},
	{"IO_PAGE_FAULT: ", NULL, NULL, CONSOLE_OOPS},
	{"ILLEGAL_DEV_TABLE_ENTRY ", NULL, NULL, CONSOLE_OOPS},
	{"DEV_TABLE_HW_ERROR ", NULL, NULL, CONSOLE_OOPS},
	{"PAGE_TAB_HW_ERROR ", NULL, NULL, CONSOLE_OOPS},
	{"ILLEGAL_COMMAND_ERROR ", NULL, NULL, CONSOLE_OOPS},
	{"COMMAND_HW_ERROR ", NULL, NULL, CONSOLE_OOPS},
	{"IOTLB_INV_TIMEOUT ", NULL, NULL, CONSOLE_OOPS},
	{"INVALID_DEV_REQUEST ", NULL, NULL, CONSOLE_OOPS},
	{"[VT-D]", "Request device [", NULL, CONSOLE_OOPS},
	{"Hardware Dom", " shutdown", NULL, CONSOLE_REBOOT},
	{"Hardware domain ", "unsupported soft reset", NULL, CONSOLE_REBOOT},
	{NULL, NULL, NULL, CONSOLE_FINE},
};

static enum console_cause find_cause(const struct phrase *phrase, const char *line)
{
	for (; phrase->text; phrase++)
		if (strstr(line, phrase->text) && (!phrase->also || strstr(line, phrase->also)) &&
		    (!phrase->unless || !strstr(line, phrase->unless)))
			break;
	return phrase->cause;
}

/* A kernel's first line, behind nothing or the stamp "[    0.000000]". */
static bool is_kernel_banner(const char *line)
{
	if (!strncmp(line, "[    0.", 7)) {
		line = strchr(line, ']');
		if (!line || line[1] != ' ')
			return false;
		line += 2;
	}
	return !strncmp(line, "Linux version ", 14);
}

static bool is_xens_own(const char *line)
{
	return !strncmp(line, CONSOLE_OWN_XEN, strlen(CONSOLE_OWN_XEN));
}

/* "[    1.234567] ": Xen passes what its first domain says on as it is. */
static bool is_kernel_line(const char *line)
{
	size_t n = strspn(line, "[") == 1 ? 1 + strspn(line + 1, " ") : 0;
	size_t digits = n ? strspn(line + n, "0123456789") : 0;

	return digits && line[n + digits] == '.';
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
	if ((cause == CONSOLE_OOPS || cause == CONSOLE_PANIC) && !report->first[0])
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

/* The hypervisor panicked on the line before: its reason belongs to that line. */
static void add_reason(struct console *console, const char *line)
{
	struct console_report *report = &console->report;
	size_t n = strlen(report->line);
	bool first = !strcmp(report->first, report->line);

	console->await_reason = false;
	snprintf(report->line + n, sizeof(report->line) - n, " %s",
		 line + (is_xens_own(line) ? strlen(CONSOLE_OWN_XEN) : 0));
	if (first)
		strcpy(report->first, report->line);
}

/* Looks for trouble in a clean line; @shown is what the report shows of it. */
static void search_line(struct console *console, enum console_source source, const char *line,
			bool starts, const char *shown)
{
	bool xen = source == CONSOLE_XEN, own = xen && is_xens_own(line), banner;
	enum console_cause cause = CONSOLE_FINE;

	if (own && console->await_reason)
		add_reason(console, line);
	if (xen)
		cause = find_cause(xen_phrases, line);
	if (!own && cause == CONSOLE_FINE)
		cause = find_cause(kernel_phrases, line);
	banner = xen ? own && !strncmp(line + strlen(CONSOLE_OWN_XEN), "Xen version ", 12)
		     : is_kernel_banner(line);
	if (starts && banner && console->banners[source]++)
		cause = CONSOLE_REBOOT;
	if (cause == CONSOLE_FINE)
		return;
	if (xen && cause == CONSOLE_PANIC && console->report.cause < CONSOLE_PANIC)
		console->await_reason = strstr(line, "Panic on CPU ") != NULL;
	note_cause(console, cause, shown);
}

static void show_line(struct console *console, const char *line, size_t length, int64_t at_ns)
{
	char shown[CONSOLE_LINE_SHOWN];

	cut_line(shown, line);
	put_line(console, line, length, at_ns);
	strcpy(console->recent[console->n_recent++ % RECENT], shown);
	if (console->after)
		console->after = append_line(&console->report, shown) ? console->after - 1 : 0;
}

/* The stream holds a line, or as much of one as fits. */
static void take_line(struct console *console, enum console_source source, bool whole)
{
	struct stream *stream = &console->streams[source];
	char shown[CONSOLE_LINE_SHOWN], line[16 + 4 * LINE_MAX_BYTES + 1];
	size_t length = stream->length, mark, n;
	bool echo;

	while (whole && length > stream->carry && stream->text[length - 1] == '\r')
		length--;
	mark = strlen(strcpy(line, marks[source]));
	n = mark + clean(stream->text + stream->carry, length - stream->carry, line + mark);
	if (source == CONSOLE_XEN && is_xens_own(line + mark)) {
		n -= mark;
		memmove(line, line + mark, n + 1);
		mark = 0;
	}
	/* Two copies would only hide what is between them; trouble is looked for in both. */
	echo = source == CONSOLE_XEN && console->kernel_spoke && !stream->carry &&
	       is_kernel_line(line + mark);
	cut_line(shown, echo ? line + mark : line);
	if (echo)
		console->report.echoed++;
	else if (length > stream->carry || !stream->carry)
		/* What is left of an overlong line may be nothing. */
		show_line(console, line, n, stream->at_ns);

	if (source == CONSOLE_PROGRAM)
		cut_line(console->report.program_line, line + mark);
	if (source == CONSOLE_SERIAL)
		console->kernel_spoke = true;
	if (source == CONSOLE_SERIAL || source == CONSOLE_XEN) {
		clean(stream->text, length, line);
		search_line(console, source, line, !stream->carry, shown);
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

	if (source == CONSOLE_SERIAL || source == CONSOLE_XEN)
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
	if (console->report.echoed) {
		snprintf(text, sizeof(text),
			 "labd: %llu lines of the kernel came by the hypervisor's console, too",
			 (unsigned long long)console->report.echoed);
		put_line(console, text, strlen(text), mono_ns());
	}
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
