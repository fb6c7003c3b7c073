// SPDX-License-Identifier: GPL-2.0-only
/* From what was observed to how a boot ended: no I/O, no clock. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "machine/state.h"

static const char *const state_names[] = {
	[BOOT_RUNNING] = "running",
	[BOOT_OK] = "ok",
	[BOOT_PANIC] = "panic",
	[BOOT_OOPS] = "oops",
	[BOOT_HUNG] = "hung",
	[BOOT_WRONG_KERNEL] = "wrong-kernel",
	[BOOT_TIMEOUT] = "boot-timeout",
	[BOOT_WORKLOAD_FAILED] = "workload-failed",
	[BOOT_LOST_CONNECTION] = "lost-connection",
	[BOOT_INFRA_FAILED] = "infra-failed",
	[BOOT_DISTURBED] = "disturbed",
	[BOOT_CANCELLED] = "cancelled",
};

/** boot_state_name() - as it is stored and shown */
const char *boot_state_name(enum boot_state state)
{
	return state_names[state];
}

/* Sentences quote paths and messages; shown is only what any reader can take. */
static __attribute__((format(printf, 3, 4))) void end(struct boot_end *ret_end,
						      enum boot_state state, const char *fmt, ...)
{
	va_list args;

	ret_end->state = state;
	va_start(args, fmt);
	vsnprintf(ret_end->detail, sizeof(ret_end->detail), fmt, args);
	va_end(args);
	for (char *p = ret_end->detail; *p; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
}

/* The machine went away without a word of its kernel. */
static void end_gone(const struct boot_facts *facts, const struct console_report *console,
		     struct boot_end *ret_end)
{
	if (facts->exit_signal)
		end(ret_end, BOOT_LOST_CONNECTION,
		    "The machine's process was killed by signal %d (%s).", facts->exit_signal,
		    strsignal(facts->exit_signal));
	else if (facts->exit_status && !console->bytes)
		end(ret_end, BOOT_INFRA_FAILED, "The machine did not start, exit status %d: %s",
		    facts->exit_status, console->program_line);
	else if (facts->exit_status)
		end(ret_end, BOOT_LOST_CONNECTION, "The machine's process ended with status %d: %s",
		    facts->exit_status, console->program_line);
	else
		end(ret_end, BOOT_LOST_CONNECTION,
		    "The machine switched off or reset by itself, and its console shows no reason.");
}

/**
 * boot_classify() - name the end and say why
 * @console: after console_end()
 * @ret_end: filled in
 *
 * The kernel's own words outrank what the session saw happen because of them, but for a wrong
 * kernel, whose words count for no arm. A watchdog's report of a hang only explains a silence: the
 * machine may also have been starved for a while and then done all of its work.
 */
void boot_classify(const struct boot_facts *facts, const struct console_report *console,
		   struct boot_end *ret_end)
{
	bool hang = console->cause == CONSOLE_HANG;

	snprintf(ret_end->console_lines, sizeof(ret_end->console_lines), "%s", console->lines);
	if (facts->stop == STOP_WRONG_KERNEL) {
		end(ret_end, BOOT_WRONG_KERNEL, "%s", facts->why);
		return;
	}
	if (console->cause >= CONSOLE_CRASH && console->first[0] &&
	    strcmp(console->first, console->line)) {
		end(ret_end, BOOT_PANIC, "%.100s (it began with: %.120s)", console->line,
		    console->first);
		return;
	}
	if (console->cause >= CONSOLE_OOPS) {
		end(ret_end, console->cause == CONSOLE_OOPS ? BOOT_OOPS : BOOT_PANIC, "%s",
		    console->line);
		return;
	}
	switch (facts->stop) {
	case STOP_NONE:
		end(ret_end, BOOT_OK, "%s", "");
		break;
	case STOP_CANCELLED:
		end(ret_end, BOOT_CANCELLED, "%s", facts->why);
		break;
	case STOP_INFRA:
		end(ret_end, BOOT_INFRA_FAILED, "%s", facts->why);
		break;
	case STOP_REFUSED:
		end(ret_end, BOOT_WORKLOAD_FAILED, "%s", facts->why);
		break;
	case STOP_BOOT_TIMEOUT:
	case STOP_SILENT:
	case STOP_RUN_TIMEOUT:
	case STOP_OFF_TIMEOUT:
	case STOP_STALLED:
		if (hang)
			end(ret_end, BOOT_HUNG, "%.140s %.110s", facts->why, console->line);
		else
			end(ret_end, facts->stop == STOP_BOOT_TIMEOUT ? BOOT_TIMEOUT : BOOT_HUNG,
			    "%s", facts->why);
		break;
	default:
		if (console->cause == CONSOLE_REBOOT)
			end(ret_end, BOOT_LOST_CONNECTION,
			    "The machine started a second time, unasked: %s", console->line);
		else if (facts->stop == STOP_PROTOCOL)
			end(ret_end, BOOT_LOST_CONNECTION, "%s", facts->why);
		else if (facts->exited)
			end_gone(facts, console, ret_end);
		else
			end(ret_end, BOOT_LOST_CONNECTION, "%s", facts->why);
	}
}
