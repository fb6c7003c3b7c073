// SPDX-License-Identifier: GPL-2.0-only
/*
 * dom0's part: the folders that Xen's programs want, its daemons, the bridge.
 *
 * The daemons are started by the first run of a boot and stay. xenstored cannot even be restarted:
 * its rings and watches are gone with it.
 */
#include "host.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "../common/netdev.h"
#include "../common/tracing.h"
#include "tool.h"

enum {
	TOOL_LIMIT_S = 30,
	STORE_LIMIT_S = 20,
	POLL_NS = 50 * 1000 * 1000,
};

static const char started_mark[] = NET_RUN_DIR "/xenstored-started";
static const char store_socket[] = "/var/run/xenstored/socket";
static const char xl_config[] = "/etc/xen/xl.conf";
static const char console_pid[] = "/var/run/xen/xenconsoled.pid";

static int make_folders(void)
{
	static const char *const folders[] = {
		"/dev/pts",	"/etc",		"/etc/xen",	      "/var",
		"/var/lib",	"/var/lib/xen", "/var/lib/xen/dump",  "/var/lib/xenstored",
		"/var/lock",	"/var/log",	"/var/log/xen",	      "/var/log/xen/console",
		"/run",		"/var/run/xen", "/var/run/xenstored", NET_RUN_DIR,
		NET_CONSOLE_DIR};

	mkdir("/var", 0755);
	/* A folder of the image stays. */
	if (symlink("/run", "/var/run") && errno != EEXIST)
		goto failed;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (mkdir(folders[i], 0755) && errno != EEXIST)
			goto failed;
	return 0;

failed:
	fprintf(stderr, "net: cannot make the folders of Xen's programs: %m\n");
	return -EIO;
}

/* -ENODEV where there is no Xen, or this is not the domain in control. */
static int mount_xenfs(void)
{
	char text[64] = "";
	FILE *file;

	if (mount("xenfs", "/proc/xen", "xenfs", 0, NULL) && errno != EBUSY)
		return -ENODEV;
	file = fopen("/proc/xen/capabilities", "re");
	if (!file)
		return -ENODEV;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return strstr(text, "control_d") ? 0 : -ENODEV;
}

/* xenconsoled needs terminals, xl a configuration. */
static int make_surroundings(void)
{
	FILE *file;

	if (mount("devpts", "/dev/pts", "devpts", 0, "mode=0620,ptmxmode=0666") && errno != EBUSY) {
		fprintf(stderr, "net: cannot mount /dev/pts: %m\n");
		return -EIO;
	}
	if (!access(xl_config, F_OK))
		return 0;
	file = fopen(xl_config, "we");
	if (file) {
		/* dom0's memory stays as the experiment's boot gave it. */
		fputs("autoballoon = \"off\"\n", file);
		if (!fclose(file))
			return 0;
	}
	fprintf(stderr, "net: cannot write %s: %m\n", xl_config);
	return -EIO;
}

static bool store_answers(void)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	bool answers;
	int fd;

	memcpy(to.sun_path, store_socket, sizeof(store_socket));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	answers = !connect(fd, (struct sockaddr *)&to, sizeof(to));
	close(fd);
	return answers;
}

static int start_store(void)
{
	const char *store[] = {NET_TOOLS "/xenstored", NULL};
	const char *dom0[] = {NET_TOOLS "/xen-init-dom0", NULL};
	uint64_t end = gnt_now_ns() + STORE_LIMIT_S * UINT64_C(1000000000);
	struct timespec pause = {.tv_nsec = POLL_NS};
	FILE *mark;
	int ret;

	if (store_answers())
		return 0;
	if (!access(started_mark, F_OK)) {
		fprintf(stderr, "net: xenstored has died, this machine must be booted anew\n");
		return -EPIPE;
	}
	mark = fopen(started_mark, "we");
	if (mark)
		fclose(mark);
	ret = net_tool("start the store", store, TOOL_LIMIT_S);
	if (ret)
		return ret;
	while (!store_answers()) {
		if (gnt_now_ns() >= end || gnt_stopped()) {
			fprintf(stderr, "net: xenstored did not answer within %d s\n",
				STORE_LIMIT_S);
			net_print_tail(NET_RUN_DIR "/xenstored.log", "xenstored");
			return -ETIMEDOUT;
		}
		nanosleep(&pause, NULL);
	}
	return net_tool("tell the store about dom0", dom0, TOOL_LIMIT_S);
}

static bool console_runs(void)
{
	FILE *file;
	char text[32];
	long pid = 0;

	file = fopen(console_pid, "re");
	if (!file)
		return false;
	if (fgets(text, sizeof(text), file))
		pid = strtol(text, NULL, 10);
	fclose(file);
	return pid > 0 && !kill((pid_t)pid, 0);
}

static int start_console(void)
{
	const char *argv[] = {NET_TOOLS "/xenconsoled", "--log=guest", "--log-dir=" NET_CONSOLE_DIR,
			      "--pid-file=/var/run/xen/xenconsoled.pid", NULL};

	return console_runs() ? 0 : net_tool("start the consoles", argv, TOOL_LIMIT_S);
}

/**
 * net_host_prepare - have everything that xl needs
 *
 * Return: 0, -ENODEV if this is not a dom0, or a negative errno, printed.
 */
int net_host_prepare(void)
{
	int ret;

	ret = mount_xenfs();
	if (!ret)
		ret = make_folders();
	if (!ret)
		ret = make_surroundings();
	if (!ret)
		ret = start_store();
	if (!ret)
		ret = start_console();
	return ret;
}

/**
 * net_host_bridge - make the bridge, a new one if an earlier run left its own
 *
 * Return: 0 or a negative errno, printed.
 */
int net_host_bridge(void)
{
	int ret = 0;

	if (netdev_exists(NET_BRIDGE))
		ret = netdev_bridge_delete(NET_BRIDGE);
	if (!ret)
		ret = netdev_bridge_create(NET_BRIDGE);
	if (!ret)
		ret = netdev_up("lo", true);
	if (!ret)
		ret = netdev_up(NET_BRIDGE, true);
	if (!ret)
		ret = netdev_address(NET_BRIDGE, NET_BRIDGE_ADDRESS);
	if (ret)
		fprintf(stderr, "net: cannot make the bridge\n");
	return ret;
}

/** net_host_bridge_gone - remove the bridge; a failure is printed and left to the next run */
void net_host_bridge_gone(void)
{
	if (netdev_exists(NET_BRIDGE) && netdev_bridge_delete(NET_BRIDGE))
		fprintf(stderr, "net: the bridge stays\n");
}
