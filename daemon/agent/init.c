// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life as PID 1. It mounts what the agent needs, forks the agent proper and does nothing else but
 * reap, so that whatever happens to the agent the machine is powered off, and the console says why.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/init.h"
#include "base/log.h"
#include "base/util.h"

struct mount_point {
	const char *type;
	const char *path;
	unsigned long flags;
	const char *data;
};

/* Only where Xen is below; its devices come with devtmpfs. */
static const struct mount_point xenfs = {"xenfs", "/proc/xen", MS_NOSUID | MS_NODEV | MS_NOEXEC,
					 NULL};

static const struct mount_point mounts[] = {
	{"devtmpfs", "/dev", MS_NOSUID | MS_NOEXEC, "mode=0755"},
	{"proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL},
	{"sysfs", "/sys", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL},
	{"tracefs", "/sys/kernel/tracing", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700"},
	{"tmpfs", "/run", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755,size=75%"},
	{"tmpfs", "/tmp", MS_NOSUID | MS_NODEV, "mode=1777,size=25%"},
};

/*
 * The kernel's log is the better console: each line is whole, has the kernel's time and does not
 * tear the kernel's own lines. Until it is there, /dev/console has to do.
 */
static void open_stderr(void)
{
	int fd;

	fd = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		fd = open("/dev/console", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && fd != STDERR_FILENO) {
		dup2(fd, STDERR_FILENO);
		close(fd);
	}
}

/* 0, 1 and 2 must be open: the kernel leaves them closed when the initramfs has no /dev/console. */
static void open_standard_fds(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
	open_stderr();
}

static void mount_one(const struct mount_point *m)
{
	/* Busy is mounted already: devtmpfs by the kernel itself, for one. */
	if (mount(m->type, m->path, m->type, m->flags, m->data) && errno != EBUSY)
		log_warn("cannot mount %s on %s: %s", m->type, m->path, strerror(errno));
}

static void mount_all(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		const struct mount_point *m = &mounts[i];

		make_dir(m->path, 0755);
		mount_one(m);
		if (!i)
			open_standard_fds();
	}
	if (!access(xenfs.path, F_OK))
		mount_one(&xenfs);
}

static void power_off(void) __attribute__((noreturn));

static void power_off(void)
{
	kill(-1, SIGKILL);
	sync();
	reboot(RB_POWER_OFF);
	log_err("power-off failed: %s", strerror(errno));
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

/* Wait for the agent; everybody else who ends is an orphan. */
static void reap_until(pid_t agent)
{
	int status;
	pid_t pid;

	do {
		pid = waitpid(-1, &status, 0);
		if (pid < 0 && errno != EINTR) {
			log_err("lost the agent: %s", strerror(errno));
			return;
		}
	} while (pid != agent);

	if (WIFSIGNALED(status))
		log_err("lab-agent died of signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		log_err("lab-agent ended with code %d", WEXITSTATUS(status));
}

/**
 * agent_init_become() - be PID 1
 *
 * Only the agent proper, PID 1's child, returns from this; PID 1 itself powers the machine off when
 * that child has ended.
 *
 * Return: 0 in the child.
 */
int agent_init_become(void)
{
	pid_t agent;

	mount_all();
	setenv("PATH", "/bin:/sbin:/usr/bin:/usr/sbin", 1);
	agent = fork();
	if (!agent) {
		setsid();
		return 0;
	}
	if (agent < 0)
		log_err("cannot fork the agent: %s", strerror(errno));
	else
		reap_until(agent);
	power_off();
}
