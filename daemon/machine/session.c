// SPDX-License-Identifier: GPL-2.0-only
/* The life of a boot: each wait has its own limit, and whatever ends it is kept as a fact. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "machine/session.h"

#define MS 1000000LL
#define POWER_OFF_NS (BOOT_POWER_OFF_MS * MS)
#define LISTING_NS (30000 * MS)
/* A machine's own clock says nothing of when it will reach a limit: look often. */
#define CLOCK_POLL_NS (500 * MS)
/* After the end: a report in the making is read until the console is quiet, but not for ever. */
#define LINGER_NS (3000 * MS)
#define QUIET_NS (1000 * MS)

/**
 * boot_stop() - note why the boot is over; the first reason stays
 * @error: negative errno for the caller of the wait
 */
void boot_stop(struct boot *boot, enum boot_stop stop, int error, const char *fmt, ...)
{
	va_list args;

	if (boot->facts.stop)
		return;
	boot->facts.stop = stop;
	boot->error = error;
	va_start(args, fmt);
	vsnprintf(boot->facts.why, sizeof(boot->facts.why), fmt, args);
	va_end(args);
}

/** machine_now() - the machine's time since power-on: its own, or the host's when it has none */
int64_t machine_now(const struct boot *boot)
{
	return boot->transport.clock_ns ? *boot->transport.clock_ns : mono_ns() - boot->power_on_ns;
}

static double seconds_since(const struct boot *boot, int64_t ns)
{
	return (machine_now(boot) - ns) / 1e9;
}

/* A wait begins: until now nobody looked whether the machine's clock moves. */
static void wait_begin(struct boot *boot)
{
	boot->moved_host_ns = mono_ns();
}

/*
 * A machine whose own clock stands still reaches no limit, so the host's time has to tell. That
 * what the machine did is still being passed on to the session, counts as movement.
 */
static void check_clock(struct boot *boot)
{
	int64_t now = machine_now(boot);

	if (!boot->transport.clock_ns || boot->facts.exited)
		return;
	if (now != boot->moved_ns) {
		boot->moved_ns = now;
		boot->moved_host_ns = mono_ns();
	}
	if (mono_ns() - boot->moved_host_ns >= boot->request.stall_timeout_ms * MS)
		boot_stop(boot, STOP_STALLED, -ETIMEDOUT,
			  "The machine's virtual time stood still at %.1f s for %u s.", now / 1e9,
			  boot->request.stall_timeout_ms / 1000);
}

/* Takes in what happens, until at most the machine's time @limit_ns. */
static void wait_some(struct boot *boot, int64_t limit_ns)
{
	pump(boot, boot->transport.clock_ns ? CLOCK_POLL_NS : limit_ns - machine_now(boot));
	check_clock(boot);
}

static void power_on(struct boot *boot)
{
	const struct boot_request *request = &boot->request;
	const char *const files[] = {request->kernel, request->image, request->hypervisor};
	const int *fds[] = {&boot->transport.console_fd, &boot->transport.hypervisor_fd,
			    &boot->transport.messages_fd};
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (!files[i] || !access(files[i], R_OK))
			continue;
		ret = -errno;
		boot_stop(boot, STOP_INFRA, ret, "%.160s cannot be read: %s.", files[i],
			  strerror(-ret));
		return;
	}
	ret = boot->ops->boot(request, &boot->transport);
	if (ret) {
		boot_stop(boot, STOP_INFRA, ret, "The %s machine does not start: %s.",
			  boot->ops->name, strerror(-ret));
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
		if (*fds[i] >= 0)
			fcntl(*fds[i], F_SETFL, O_NONBLOCK);
}

/**
 * boot_start() - power a machine on
 * @request: copied; its strings must live until boot_finish()
 * @ret_boot: ended by boot_finish()
 *
 * Return: 0, also when the machine did not start, which boot_wait_hello() then tells; or the
 * negative errno that kept the console's file from being made.
 */
int boot_start(const struct machine_ops *ops, const struct boot_request *request,
	       struct boot **ret_boot)
{
	struct boot *boot;
	int ret;

	boot = calloc(1, sizeof(*boot));
	if (!boot)
		return -ENOMEM;
	boot->ops = ops;
	boot->request = *request;
	boot->transport = (struct machine_transport){-1, -1, -1, -1, -1, 0, NULL};
	boot->files[0].fd = boot->files[1].fd = -1;
	boot->power_on_ns = boot->last_sign_host_ns = mono_ns();
	ret = frame_reader_init(&boot->reader);
	if (ret)
		goto free_boot;
	ret = console_open(request->console_path, boot->power_on_ns, &boot->console);
	if (ret)
		goto free_reader;
	power_on(boot);
	*ret_boot = boot;
	return 0;

free_reader:
	frame_reader_free(&boot->reader);
free_boot:
	free(boot);
	return ret;
}

/* A kernel that spoke and then fell silent hangs; one that never spoke has until the boot's limit.
 */
static void check_silence(struct boot *boot, int64_t hang_ns)
{
	if (console_report(boot->console)->bytes &&
	    machine_now(boot) - boot->last_sign_ns >= hang_ns)
		boot_stop(boot, STOP_SILENT, -ETIMEDOUT,
			  "The machine fell silent for %.0f s before its agent said hello.",
			  seconds_since(boot, boot->last_sign_ns));
}

/**
 * boot_wait_hello() - wait for the agent and its proof that the right kernel runs
 * @ret_hello: its HELLO, new reference
 *
 * Return: 0, or a negative errno: the boot is over.
 */
int boot_wait_hello(struct boot *boot, json_t **ret_hello)
{
	int64_t limit = boot->request.boot_timeout_ms * MS;
	int64_t hang_ns = boot->request.hang_timeout_ms * MS, silent_at;

	wait_begin(boot);
	while (!boot->facts.stop && !boot->hello) {
		silent_at = boot->last_sign_ns + hang_ns;
		wait_some(boot,
			  silent_at > machine_now(boot) && silent_at < limit ? silent_at : limit);
		if (boot->facts.stop || boot->hello)
			break;
		check_silence(boot, hang_ns);
		if (machine_now(boot) >= limit)
			boot_stop(boot, STOP_BOOT_TIMEOUT, -ETIMEDOUT,
				  "The agent did not say hello within %u s of power-on.",
				  boot->request.boot_timeout_ms / 1000);
	}
	if (!boot->hello)
		return boot->error;
	boot->phase = PHASE_IDLE;
	*ret_hello = boot->hello;
	boot->hello = NULL;
	return 0;
}

static int send_job(struct boot *boot, const json_t *job)
{
	char *text = json_dumps(job, JSON_COMPACT);
	int ret;

	ret = text ? frame_write(boot->transport.agent_fd, FRAME_JOB, text, strlen(text)) : -ENOMEM;
	free(text);
	return ret;
}

/**
 * boot_run() - let the agent do one run
 * @ret_done: its DONE, new reference; whether the run succeeded is in there
 *
 * Return: 0, or a negative errno: the boot is over. -ENOSPC, -EROFS, -EIO and the like are the
 * lab's own disk.
 */
int boot_run(struct boot *boot, const struct run_request *request, json_t **ret_done)
{
	int64_t limit = machine_now(boot) + request->timeout_ms * MS;
	int ret;

	if (boot->facts.stop)
		return boot->error;
	boot->run = request;
	boot->phase = PHASE_RUNNING;
	boot->announced = 0;
	boot->started = false;
	ret = send_job(boot, request->job);
	if (ret == -EMSGSIZE || ret == -ENOMEM)
		boot_stop(boot, STOP_INFRA, ret, "The job cannot be sent: %s.", strerror(-ret));
	else if (ret == -EAGAIN)
		boot_stop(boot, STOP_RUN_TIMEOUT, -ETIMEDOUT, "The agent does not read its job.");
	else if (ret)
		boot_stop(boot, STOP_CHANNEL, ret, "The agent's channel closed.");

	wait_begin(boot);
	while (!boot->facts.stop && !boot->done) {
		wait_some(boot, limit);
		if (!boot->done && machine_now(boot) >= limit)
			boot_stop(
				boot, STOP_RUN_TIMEOUT, -ETIMEDOUT,
				"The run did not end within %u s; the machine was silent for the last %.0f.",
				request->timeout_ms / 1000,
				seconds_since(boot, boot->last_sign_ns));
	}
	receive_abort(&boot->files[0]);
	receive_abort(&boot->files[1]);
	boot->run = NULL;
	if (!boot->done) /* else the run was complete before whatever stopped the boot */
		return boot->error;
	boot->phase = PHASE_IDLE;
	*ret_done = boot->done;
	boot->done = NULL;
	return 0;
}

/**
 * boot_list_events() - ask the agent which tracepoints the kernel has; no run may be in progress
 * @ret_events: {"events": [...]} as the kernel under test has it, new reference
 *
 * Return: 0, -ETIMEDOUT when the agent does not answer and may be powered off, or another negative
 * errno: the boot is over.
 */
int boot_list_events(struct boot *boot, json_t **ret_events)
{
	int64_t limit = machine_now(boot) + LISTING_NS;
	int ret;

	if (boot->facts.stop)
		return boot->error;
	boot->phase = PHASE_LISTING;
	ret = frame_write(boot->transport.agent_fd, FRAME_EVENTS, NULL, 0);
	if (ret)
		boot_stop(boot, STOP_CHANNEL, ret, "The agent's channel closed.");
	wait_begin(boot);
	while (!boot->facts.stop && !boot->events) {
		wait_some(boot, limit);
		/* The boot's runs are done: nothing of them hangs on this list. */
		if (!boot->facts.stop && !boot->events && machine_now(boot) >= limit)
			return -ETIMEDOUT;
	}
	if (!boot->events)
		return boot->error;
	boot->phase = PHASE_IDLE;
	*ret_events = boot->events;
	boot->events = NULL;
	return 0;
}

static void power_off(struct boot *boot)
{
	int64_t limit = machine_now(boot) + POWER_OFF_NS;

	wait_begin(boot);
	boot->phase = PHASE_OFF;
	frame_write(boot->transport.agent_fd, FRAME_QUIT, NULL,
		    0); /* a failure shows as its cause below */
	while (!boot->facts.stop && !boot->facts.exited) {
		wait_some(boot, limit);
		if (!boot->facts.exited && machine_now(boot) >= limit)
			boot_stop(boot, STOP_OFF_TIMEOUT, -ETIMEDOUT,
				  "The machine did not power off within %lld s of being told to.",
				  POWER_OFF_NS / (1000 * MS));
	}
}

/*
 * The kernel may be about to say what happened: that outranks what was seen of it. How long that
 * may take is the host's time.
 */
static void linger(struct boot *boot)
{
	int64_t limit = mono_ns() + LINGER_NS, quiet_from = mono_ns(), quiet;

	while ((boot->transport.console_fd >= 0 || boot->transport.hypervisor_fd >= 0 ||
		(boot->transport.pid_fd >= 0 && !boot->facts.exited)) &&
	       mono_ns() < limit) {
		quiet = (boot->last_sign_host_ns > quiet_from ? boot->last_sign_host_ns
							      : quiet_from) +
			QUIET_NS;
		if (mono_ns() >= quiet)
			break;
		pump(boot, (quiet < limit ? quiet : limit) - mono_ns());
	}
}

static void close_transport(struct machine_transport *transport)
{
	int *fds[] = {&transport->console_fd, &transport->hypervisor_fd, &transport->agent_fd,
		      &transport->messages_fd};

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
	if (transport->clock_ns)
		munmap((void *)transport->clock_ns, sysconf(_SC_PAGESIZE));
	transport->clock_ns = NULL;
}

/**
 * boot_finish() - power off, find out how the boot ended, and release it
 * @ret_end: filled in
 */
void boot_finish(struct boot *boot, struct boot_end *ret_end)
{
	const struct console_report *report = console_report(boot->console);

	if (!boot->facts.stop && boot->phase == PHASE_IDLE)
		power_off(boot);
	else
		boot_stop(boot, STOP_CANCELLED, -ECANCELED,
			  "Given up before the agent said hello.");
	if (boot->facts.stop && boot->facts.stop != STOP_CANCELLED)
		linger(boot);
	boot->ops->kill(&boot->transport);
	pump_drain(boot);
	close_transport(&boot->transport);

	if (boot->facts.why[0])
		console_feed(boot->console, CONSOLE_LAB, boot->facts.why, strlen(boot->facts.why));
	console_end(boot->console);
	if (report->error)
		log_warn("console of boot %.12s is incomplete: %s", boot->request.token,
			 strerror(report->error));
	boot_classify(&boot->facts, report, ret_end);

	console_free(boot->console);
	frame_reader_free(&boot->reader);
	json_decref(boot->hello);
	json_decref(boot->events);
	free(boot);
}
