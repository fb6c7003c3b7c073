// SPDX-License-Identifier: GPL-2.0-only
/* Moves a boot's bytes: consoles and program messages into its log, the agent's into frames. */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "machine/session.h"

/* Console or agent said something. */
static void note_sign(struct boot *boot)
{
	boot->last_sign_ns = machine_now(boot);
	boot->last_sign_host_ns = mono_ns();
}

static void close_fd(int *fd)
{
	close(*fd);
	*fd = -1;
}

/* Takes what is there of a log's stream; @fd becomes -1 at its end. False when nothing was there.
 */
static bool take_log(struct boot *boot, enum console_source source, int *fd)
{
	char chunk[16 * 1024];
	ssize_t n;

	if (*fd < 0)
		return false;
	n = read(*fd, chunk, sizeof(chunk));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		close_fd(fd);
		return false;
	}
	if (source != CONSOLE_PROGRAM) /* a machine may speak while its guest is stuck */
		note_sign(boot);
	console_feed(boot->console, source, chunk, n);
	if (console_report(boot->console)->cause >= CONSOLE_REBOOT)
		boot_stop(boot, STOP_CONSOLE, -EPIPE, "%s", "");
	return true;
}

/* The same for the agent, whose bytes are of no use once the boot is over. */
static bool take_agent(struct boot *boot)
{
	char chunk[64 * 1024];
	ssize_t n;

	if (boot->transport.agent_fd < 0 || boot->facts.stop)
		return false;
	n = recv(boot->transport.agent_fd, chunk, sizeof(chunk), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		close_fd(&boot->transport.agent_fd);
		if (boot->phase != PHASE_OFF)
			boot_stop(boot, STOP_CHANNEL, -EPIPE, "The agent's channel closed.");
		return false;
	}
	note_sign(boot);
	boot->moved_host_ns = boot->last_sign_host_ns;
	if (frame_reader_push(&boot->reader, chunk, n, frames_take, boot) && !boot->facts.stop)
		boot_stop(boot, STOP_PROTOCOL, -EBADMSG,
			  "The agent sent bytes that are no frames.");
	return true;
}

/** pump_drain() - take everything that an ended machine left in its pipes */
void pump_drain(struct boot *boot)
{
	while (take_agent(boot))
		;
	while (take_log(boot, CONSOLE_SERIAL, &boot->transport.console_fd))
		;
	while (take_log(boot, CONSOLE_XEN, &boot->transport.hypervisor_fd))
		;
	while (take_log(boot, CONSOLE_PROGRAM, &boot->transport.messages_fd))
		;
}

static void take_exit(struct boot *boot)
{
	struct boot_facts *facts = &boot->facts;
	siginfo_t info = {};

	if (facts->exited ||
	    waitid(P_PIDFD, boot->transport.pid_fd, &info, WEXITED | WNOWAIT | WNOHANG) ||
	    !info.si_pid)
		return;
	facts->exited = true;
	facts->exit_signal = info.si_code == CLD_EXITED ? 0 : info.si_status;
	facts->exit_status = info.si_code == CLD_EXITED ? info.si_status : 0;
	pump_drain(boot);
	if (boot->phase != PHASE_OFF || info.si_status)
		boot_stop(boot, STOP_EXITED, -EPIPE, "%s", "");
}

/**
 * pump() - wait for one thing to happen and take it in
 * @timeout_ns: of the host's time, after which to return with nothing
 */
void pump(struct boot *boot, int64_t timeout_ns)
{
	struct machine_transport *transport = &boot->transport;
	int64_t left = (timeout_ns + 999999) / 1000000;
	struct pollfd fds[] = {
		{transport->console_fd, POLLIN},
		{transport->messages_fd, POLLIN},
		{boot->facts.stop ? -1 : transport->agent_fd, POLLIN},
		{boot->facts.exited ? -1 : transport->pid_fd, POLLIN},
		{boot->facts.stop ? -1 : boot->request.cancel_fd, POLLIN},
		{transport->hypervisor_fd, POLLIN},
	};

	if (poll(fds, ARRAY_SIZE(fds), left < 0 ? 0 : left < 1000000 ? left : 1000000) <= 0)
		return;
	if (fds[4].revents)
		boot_stop(boot, STOP_CANCELLED, -ECANCELED, "Cancelled while the machine ran.");
	if (fds[0].revents)
		take_log(boot, CONSOLE_SERIAL, &transport->console_fd);
	if (fds[5].revents)
		take_log(boot, CONSOLE_XEN, &transport->hypervisor_fd);
	if (fds[1].revents)
		take_log(boot, CONSOLE_PROGRAM, &transport->messages_fd);
	if (fds[2].revents)
		take_agent(boot);
	if (fds[3].revents)
		take_exit(boot);
}
