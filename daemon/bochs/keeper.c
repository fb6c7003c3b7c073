// SPDX-License-Identifier: GPL-2.0-only
/*
 * Makes one boot of Bochs look like any other machine: publishes its time, and passes the frames of
 * its disk on to the session. It ends when Bochs did and everything was passed on, when the session
 * closed its end, or on SIGTERM.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/util.h"
#include "bochs/boot_disk.h"
#include "bochs/bridge.h"
#include "bochs/keeper.h"
#include "bochs/tail.h"
#include "bochs/ticks.h"
#include "machine/bochs_args.h"
#include "machine/spawn.h"

#define DISK_POLL_MS 25
#define IDLE_POLL_MS 1000
/* So that the console's log tells which time of the host was which of the machine. */
#define TELL_SECONDS 5
/* The session has limits of its own, which the time that was published has passed by then. */
#define LIMIT_GRACE_NS 5000000000LL

/**
 * struct keeper - the boot
 * @terminal_fd: what Bochs says, -1 at its end
 * @pid_fd: of Bochs, -1 once it ended
 * @signal_fd: SIGTERM
 * @told_seconds: the virtual time that was written last
 * @disk_over: the disk holds nothing more of use
 * @limited: the script came to its end
 * @grace_ns: how long the session has to find out
 * @killed_by: signal that ended Bochs, 0 for none
 * @gone: the session is, or wants no more
 * @failed: something was wrong and told
 */
struct keeper {
	const struct keeper_config *config;
	_Atomic int64_t *clock_ns;
	int terminal_fd;
	int pid_fd;
	int signal_fd;
	struct ticks ticks;
	struct tail tail;
	struct bridge bridge;
	int64_t told_seconds;
	bool disk_over;
	bool limited;
	int64_t grace_ns;
	int killed_by;
	bool gone;
	bool failed;
};

static void fail(struct keeper *keeper, const char *what, int error)
{
	keeper->failed = true;
	if (error)
		fprintf(stderr, "%s: %s\n", what, strerror(-error));
	else
		fprintf(stderr, "%s\n", what);
}

static int map_clock(struct keeper *keeper)
{
	void *page = mmap(NULL, sizeof(*keeper->clock_ns), PROT_READ | PROT_WRITE, MAP_SHARED,
			  keeper->config->clock_fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	keeper->clock_ns = page;
	return 0;
}

static int catch_sigterm(struct keeper *keeper)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	keeper->signal_fd = signalfd(-1, &set, SFD_CLOEXEC);
	return keeper->signal_fd < 0 ? -errno : 0;
}

static int open_terminal(int *ret_master, int *ret_slave)
{
	const struct winsize size = {.ws_row = 25, .ws_col = 80};
	char name[64];
	int master;

	master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (master < 0)
		return -errno;
	*ret_master = master;
	if (grantpt(master) || unlockpt(master) || ptsname_r(master, name, sizeof(name)) ||
	    fcntl(master, F_SETFL, O_NONBLOCK))
		return -errno;
	*ret_slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (*ret_slave < 0 || ioctl(*ret_slave, TIOCSWINSZ, &size))
		return -errno;
	return 0;
}

static int start_bochs(struct keeper *keeper)
{
	const struct keeper_config *config = keeper->config;
	const int keep[] = {config->config_fd,	config->script_fd,  config->boot_fd,
			    config->channel_fd, config->console_fd, config->hypervisor_fd};
	char config_path[32], script_path[32];
	char *argv[] = {(char *)config->bochs, "-q", "-f", config_path, "-rc", script_path, NULL};
	int slave = -1, pid, ret;

	snprintf(config_path, sizeof(config_path), "/dev/fd/%d", config->config_fd);
	snprintf(script_path, sizeof(script_path), "/dev/fd/%d", config->script_fd);
	setenv("TERM", "vt100", 1);
	ret = open_terminal(&keeper->terminal_fd, &slave);
	ret = ret
		      ?: spawn(&(struct spawn_request){.argv = argv,
						       .output_fd = slave,
						       .keep = keep,
						       .n_keep =
							       config->hypervisor_fd >= 0 ? 6 : 5},
			       &pid, &keeper->pid_fd);
	if (slave >= 0)
		close(slave);
	/* The consoles end when Bochs does. */
	close(config->console_fd);
	if (config->hypervisor_fd >= 0)
		close(config->hypervisor_fd);
	return ret;
}

static void publish_time(struct keeper *keeper)
{
	int64_t now = keeper->ticks.ticks * BOCHS_TICK_NS, seconds = now / 1000000000;

	atomic_store(keeper->clock_ns, now);
	if (seconds < keeper->told_seconds + TELL_SECONDS)
		return;
	keeper->told_seconds = seconds;
	fprintf(stderr, "%lld virtual seconds\n", (long long)seconds);
}

/* False when nothing was there. */
static bool take_terminal(struct keeper *keeper)
{
	char bytes[16 * 1024];
	ssize_t n;

	if (keeper->terminal_fd < 0)
		return false;
	n = read(keeper->terminal_fd, bytes, sizeof(bytes));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) { /* EIO: nobody has the other end any more */
		close(keeper->terminal_fd);
		keeper->terminal_fd = -1;
		return false;
	}
	ticks_feed(&keeper->ticks, bytes, n);
	publish_time(keeper);
	return true;
}

static void take_exit(struct keeper *keeper)
{
	siginfo_t info = {};

	if (waitid(P_PIDFD, keeper->pid_fd, &info, WEXITED | WNOWAIT | WNOHANG) || !info.si_pid)
		return;
	while (take_terminal(keeper))
		;
	spawn_kill(&keeper->pid_fd);
	if (keeper->ticks.powered_off)
		return;
	if (keeper->ticks.reason[0]) {
		fprintf(stderr, "Bochs gave up: %s\n", keeper->ticks.reason);
		keeper->failed = true;
	} else if (info.si_code != CLD_EXITED) {
		keeper->killed_by = info.si_status;
	} else if (info.si_status) {
		fprintf(stderr, "Bochs ended with status %d and no reason\n", info.si_status);
		keeper->failed = true;
	} else {
		fprintf(stderr, "the limit of %lld virtual seconds was reached\n",
			(long long)keeper->config->limit_ms / 1000);
		keeper->failed = keeper->limited = true;
		keeper->grace_ns = mono_ns() + LIMIT_GRACE_NS;
	}
}

static void take_session(struct keeper *keeper)
{
	char bytes[64 * 1024];
	ssize_t n = recv(keeper->config->agent_fd, bytes, sizeof(bytes), MSG_DONTWAIT);
	int ret;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		keeper->gone = true;
		return;
	}
	ret = bridge_session(&keeper->bridge, bytes, n);
	if (ret)
		fail(keeper, "the session sent another job than the machine was started with", 0);
	/* Jobs are left, but nobody wants them. */
	if (ret || (keeper->bridge.quit && !bridge_complete(&keeper->bridge)))
		keeper->gone = true;
}

/* Sends what may be sent; false when there is more that the socket does not take. */
static bool send_ready(struct keeper *keeper)
{
	const uint8_t *bytes;
	size_t length;
	ssize_t n;

	while ((length = bridge_ready(&keeper->bridge, &bytes))) {
		n = send(keeper->config->agent_fd, bytes, length, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno != EAGAIN)
			keeper->gone = true;
		if (n < 0)
			return false;
		bridge_sent(&keeper->bridge, n);
	}
	return true;
}

/* Takes from the disk and sends until one of them has to wait. True when it is the session. */
static bool pass_on(struct keeper *keeper)
{
	bool ended = keeper->pid_fd < 0; /* what is not on the disk now will not come */
	size_t length;
	int ret;

	for (;;) {
		if (!send_ready(keeper))
			return true;
		if (!bridge_wants_more(&keeper->bridge) || keeper->disk_over)
			return false;
		ret = tail_next(&keeper->tail, &length);
		if (ret == -EAGAIN) {
			keeper->disk_over = ended;
			return false;
		}
		if (!ret && length)
			ret = bridge_guest(&keeper->bridge, keeper->tail.payload, length);
		else if (!ret)
			bridge_full(&keeper->bridge);
		keeper->disk_over = ret || !length;
		if (ret == -EBADMSG)
			fail(keeper, "the guest wrote to its disk what is no frame", 0);
		else if (ret)
			fail(keeper, "the guest's disk cannot be read", ret);
	}
}

static bool is_over(const struct keeper *keeper)
{
	if (keeper->gone)
		return true;
	if (!keeper->disk_over || !bridge_wants_more(&keeper->bridge))
		return false;
	if (keeper->limited)
		return mono_ns() >= keeper->grace_ns;
	if (keeper->failed || keeper->pid_fd >= 0)
		return keeper->failed;
	/* A guest that switched off by order does so before the session gives it. */
	return !keeper->ticks.powered_off || keeper->bridge.quit ||
	       !bridge_complete(&keeper->bridge);
}

static void loop(struct keeper *keeper)
{
	enum { SIGNAL, AGENT, TERMINAL, BOCHS };
	struct pollfd fds[4] = {};
	bool blocked;
	int timeout;

	for (;;) {
		blocked = pass_on(keeper);
		if (is_over(keeper))
			return;
		fds[SIGNAL] = (struct pollfd){keeper->signal_fd, POLLIN};
		fds[AGENT] =
			(struct pollfd){keeper->config->agent_fd, POLLIN | (blocked ? POLLOUT : 0)};
		fds[TERMINAL] = (struct pollfd){keeper->terminal_fd, POLLIN};
		fds[BOCHS] = (struct pollfd){keeper->pid_fd, POLLIN};
		timeout = bridge_wants_more(&keeper->bridge) && !keeper->disk_over ? DISK_POLL_MS
										   : IDLE_POLL_MS;
		if (poll(fds, ARRAY_SIZE(fds), timeout) <= 0)
			continue;
		if (fds[SIGNAL].revents)
			keeper->gone = true;
		if (fds[TERMINAL].revents)
			take_terminal(keeper);
		if (fds[BOCHS].revents)
			take_exit(keeper);
		if (fds[AGENT].revents & ~POLLOUT)
			take_session(keeper);
	}
}

static int start(struct keeper *keeper)
{
	const struct keeper_config *config = keeper->config;
	size_t length;
	void *told;
	int ret;

	ret = map_clock(keeper);
	ret = ret ?: catch_sigterm(keeper);
	ret = ret ?: tail_open(&keeper->tail, config->channel_fd);
	ret = ret ?: tail_told(&keeper->tail, &told, &length);
	ret = ret ?: bridge_init(&keeper->bridge, told, length);
	if (ret) {
		fail(keeper, "the boot cannot be prepared", ret);
		return ret;
	}
	ret = boot_disk_make(config->boot_fd, config->grub_fd, config->files, STDERR_FILENO);
	if (ret) {
		fail(keeper, "the boot disk cannot be made", ret);
		return ret;
	}
	ret = start_bochs(keeper);
	if (ret)
		fail(keeper, "Bochs does not start", ret);
	return ret;
}

/**
 * keeper_run() - one boot from its start to its end
 *
 * Return: the program's exit code, unless it ends by Bochs' signal.
 */
int keeper_run(const struct keeper_config *config)
{
	static struct keeper keeper;

	keeper.config = config;
	keeper.terminal_fd = keeper.pid_fd = keeper.signal_fd = -1;
	if (start(&keeper))
		return EXIT_FAILURE;
	loop(&keeper);
	spawn_kill(&keeper.pid_fd);
	if (keeper.killed_by) {
		signal(keeper.killed_by, SIG_DFL);
		raise(keeper.killed_by);
	}
	return keeper.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
