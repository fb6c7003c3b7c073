// SPDX-License-Identifier: GPL-2.0-only
/*
 * The default machine: QEMU, on the host's KVM where that can nest, emulated everywhere else.
 *
 * Emulated CPUs share one thread: with one thread each, a nested guest of QEMU 7.2 and 10.0 now and
 * then takes a page fault that no page table explains. LABD_QEMU names another program to start.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/util.h"
#include "machine/drivers.h"
#include "machine/spawn.h"

#define VERSION_TIMEOUT_MS 10000
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

/* What every boot is started with; argv grows a JSON array since that is also how it is stored. */
static int machine_args(json_t *argv)
{
	const char *const args[] = {
		"-nodefaults",
		"-no-user-config",
		"-display",
		"none",
		"-no-reboot",
		"-sandbox",
		"on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
		"-machine",
		"q35",
		"-accel",
		have_kvm() ? "kvm" : "tcg,thread=single",
		"-cpu",
		have_kvm() ? "host" : "EPYC,+svm,+npt",
		"-smp",
		"2",
		"-m",
		"3G",
		"-nic",
		"none",
		"-serial",
		"chardev:console",
		"-device",
		"virtio-serial-pci",
		"-device",
		"virtserialport,chardev=agent,name=org.labd.agent",
	};

	if (json_array_append_new(argv, json_string(program())))
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(args); i++)
		if (json_array_append_new(argv, json_string(args[i])))
			return -ENOMEM;
	return 0;
}

static __attribute__((format(printf, 3, 4))) int add(json_t *argv, const char *option,
						     const char *fmt, ...)
{
	char *text;
	va_list args;
	int n, ret;

	va_start(args, fmt);
	n = vasprintf(&text, fmt, args);
	va_end(args);
	if (n < 0)
		return -ENOMEM;
	ret = json_array_append_new(argv, json_string(option)) ||
			      json_array_append_new(argv, json_string(text))
		      ? -ENOMEM
		      : 0;
	free(text);
	return ret;
}

/* What differs between boots. */
static int boot_args(json_t *argv, const struct boot_request *request, int console_fd, int agent_fd)
{
	const char *more = request->cmdline ? request->cmdline : "";
	int ret;

	ret = add(argv, "-name", "labd-%.12s", request->token);
	if (!ret)
		ret = add(argv, "-chardev", "socket,id=console,fd=%d", console_fd);
	if (!ret)
		ret = add(argv, "-chardev", "socket,id=agent,fd=%d", agent_fd);
	if (!ret)
		ret = add(argv, "-kernel", "%s", request->kernel);
	if (!ret)
		ret = add(argv, "-initrd", "%s", request->image);
	/*
	 * nokaslr: addresses in a console or a capture then mean the same in every boot.
	 * tsc=reliable: the emulator's TSC is; on a busy host the kernel's watchdog doubts it, and
	 * a boot that fell back to another clock would no longer match its pair.
	 */
	if (!ret)
		ret = add(argv, "-append",
			  "console=ttyS0 panic=-1 mitigations=off nokaslr tsc=reliable "
			  "labd.token=%s%s%s",
			  request->token, *more ? " " : "", more);
	return ret;
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
	json_t *args = json_pack("[s, s]", program(), "--version");
	struct pollfd poll_fd = {.events = POLLIN};
	int pipe_fd[2], pid, pid_fd = -1;
	ssize_t n;

	qemu.error = args ? 0 : -ENOMEM;
	if (!qemu.error && pipe2(pipe_fd, O_CLOEXEC))
		qemu.error = -errno;
	if (qemu.error)
		goto free_args;
	qemu.error = spawn_qemu(args, pipe_fd[1], NULL, 0, &pid, &pid_fd);
	close(pipe_fd[1]);
	poll_fd.fd = pipe_fd[0];
	if (!qemu.error && poll(&poll_fd, 1, VERSION_TIMEOUT_MS) <= 0)
		qemu.error = -ETIMEDOUT;
	if (!qemu.error) {
		n = read(pipe_fd[0], qemu.version, sizeof(qemu.version) - 1);
		qemu.version[n > 0 ? strcspn(qemu.version, "\r\n") : 0] = '\0';
		for (char *p = qemu.version; *p; p++)
			if (*p < ' ' || *p > '~')
				*p = '?';
		qemu.error = qemu.version[0] ? 0 : -ENOEXEC;
	}
	spawn_kill(&pid_fd);
	close(pipe_fd[0]);
free_args:
	json_decref(args);
}

static int qemu_describe(json_t **ret_description)
{
	bool emulated = !have_kvm();
	json_t *argv, *description;
	int ret;

	pthread_once(&qemu.once, ask_version);
	if (qemu.error)
		return qemu.error;
	argv = json_array();
	ret = argv ? machine_args(argv) : -ENOMEM;
	if (ret) {
		json_decref(argv);
		return ret;
	}
	description = json_pack(
		"{s:s, s:b, s:s, s:s, s:o}", "driver", "qemu", "emulated", emulated, "clock",
		emulated ? "the host's wall clock; all emulated CPUs share one host thread"
			 : "the host's clock, through KVM",
		"qemu_version", qemu.version, "argv", argv);
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
	int console[2] = {-1, -1}, agent[2] = {-1, -1}, messages[2] = {-1, -1}, pid, pid_fd, ret;
	json_t *args = json_array();

	ret = args ? machine_args(args) : -ENOMEM;
	if (ret)
		goto close;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, console) ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, agent) ||
	    setsockopt(agent[0], SOL_SOCKET, SO_SNDTIMEO, &send_timeout, sizeof(send_timeout)) ||
	    pipe2(messages, O_CLOEXEC)) {
		ret = -errno;
		goto close;
	}
	ret = boot_args(args, request, console[1], agent[1]);
	if (ret)
		goto close;
	ret = spawn_qemu(args, messages[1], (int[]){console[1], agent[1]}, 2, &pid, &pid_fd);
	if (ret)
		goto close;
	*ret_transport = (struct machine_transport){
		.console_fd = console[0],
		.agent_fd = agent[0],
		.messages_fd = messages[0],
		.pid_fd = pid_fd,
		.pid = pid,
	};
	console[0] = agent[0] = messages[0] = -1;
close:
	close_pair(console);
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
	.version = 1,
	.describe = qemu_describe,
	.boot = qemu_boot,
	.kill = qemu_kill,
};
