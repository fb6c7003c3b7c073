// SPDX-License-Identifier: GPL-2.0-only
/*
 * The default machine: QEMU, on the host's KVM where that can nest, emulated everywhere else.
 * LABD_QEMU names another program to start.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "machine/drivers.h"
#include "machine/qemu_args.h"
#include "machine/spawn.h"

#define SEND_TIMEOUT_S 10
#define ARGS_MAX 64

static const char *program(void)
{
	const char *name = getenv("LABD_QEMU");

	return name && *name ? name : "qemu-system-x86_64";
}

static bool can_nest(const char *module)
{
	char path[64], *text;
	bool yes;

	snprintf(path, sizeof(path), "/sys/module/%s/parameters/nested", module);
	if (read_file(path, 64, &text, NULL))
		return false;
	yes = text[0] == 'Y' || text[0] == '1';
	free(text);
	return yes;
}

/* The machine under test runs KVM itself, so a KVM that does not nest is of no use. */
static bool have_kvm(void)
{
	int fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return false;
	close(fd);
	return can_nest("kvm_intel") || can_nest("kvm_amd");
}

static int spawn_qemu(const json_t *args, int output_fd, const int *keep, size_t n_keep,
		      int *ret_pid, int *ret_pid_fd)
{
	char *argv[ARGS_MAX + 1] = {};
	struct spawn_request request = {
		.argv = argv, .output_fd = output_fd, .keep = keep, .n_keep = n_keep};
	json_t *arg;
	size_t i;

	if (json_array_size(args) > ARGS_MAX)
		return -E2BIG;
	json_array_foreach ((json_t *)args, i, arg)
		argv[i] = (char *)json_string_value(arg);
	return spawn(&request, ret_pid, ret_pid_fd);
}

/* First line of --version; the program is asked once per life of labd. */
static struct {
	pthread_once_t once;
	char version[128];
	int error;
} qemu = {.once = PTHREAD_ONCE_INIT};

static void ask_version(void)
{
	char *argv[] = {(char *)program(), "--version", NULL};

	qemu.error = spawn_ask(argv, "", qemu.version, sizeof(qemu.version));
}

static const char *describe_clock(bool emulated, bool hypervisor)
{
	if (!emulated)
		return "the host's clock, through KVM";
	return hypervisor ? "the host's wall clock; each emulated CPU has a host thread"
			  : "the host's wall clock; all emulated CPUs share one host thread";
}

static int qemu_describe(bool hypervisor, json_t **ret_description)
{
	bool emulated = !have_kvm();
	json_t *argv, *description;
	int ret;

	pthread_once(&qemu.once, ask_version);
	if (qemu.error)
		return qemu.error;
	argv = json_array();
	ret = argv ? qemu_machine_args(argv, program(), !emulated, hypervisor) : -ENOMEM;
	if (ret) {
		json_decref(argv);
		return ret;
	}
	description = json_pack("{s:s, s:b, s:s, s:s, s:o}", "driver", "qemu", "emulated", emulated,
				"clock", describe_clock(emulated, hypervisor), "qemu_version",
				qemu.version, "argv", argv);
	if (!description)
		return -ENOMEM;
	*ret_description = description;
	return 0;
}

static void close_pair(int fds[2])
{
	for (int i = 0; i < 2; i++) {
		if (fds[i] >= 0)
			close(fds[i]);
		fds[i] = -1;
	}
}

static int qemu_boot(const struct boot_request *request, struct machine_transport *ret_transport)
{
	/* A guest that stops to read must not hold labd in a write. */
	const struct timeval send_timeout = {.tv_sec = SEND_TIMEOUT_S};
	int console[2] = {-1, -1}, hypervisor[2] = {-1, -1}, agent[2] = {-1, -1};
	int messages[2] = {-1, -1}, pid, pid_fd, ret;
	json_t *args = json_array();
	struct qemu_fds fds;

	ret = args ? qemu_machine_args(args, program(), have_kvm(), request->hypervisor != NULL)
		   : -ENOMEM;
	if (ret)
		goto close;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, console) ||
	    (request->hypervisor &&
	     socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, hypervisor)) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, agent) ||
	    setsockopt(agent[0], SOL_SOCKET, SO_SNDTIMEO, &send_timeout, sizeof(send_timeout)) ||
	    pipe2(messages, O_CLOEXEC)) {
		ret = -errno;
		goto close;
	}
	fds = (struct qemu_fds){console[1], hypervisor[1], agent[1]};
	ret = qemu_boot_args(args, request, &fds, have_kvm());
	if (ret)
		goto close;
	ret = spawn_qemu(args, messages[1], (int[]){console[1], agent[1], hypervisor[1]},
			 request->hypervisor ? 3 : 2, &pid, &pid_fd);
	if (ret)
		goto close;
	*ret_transport = (struct machine_transport){
		.console_fd = console[0],
		.hypervisor_fd = hypervisor[0],
		.agent_fd = agent[0],
		.messages_fd = messages[0],
		.pid_fd = pid_fd,
		.pid = pid,
	};
	console[0] = hypervisor[0] = agent[0] = messages[0] = -1;
close:
	close_pair(console);
	close_pair(hypervisor);
	close_pair(agent);
	close_pair(messages);
	json_decref(args);
	return ret;
}

static void qemu_kill(struct machine_transport *transport)
{
	spawn_kill(&transport->pid_fd);
}

const struct machine_ops qemu_machine = {
	.name = "qemu",
	.version = 2,
	.describe = qemu_describe,
	.boot = qemu_boot,
	.kill = qemu_kill,
};
