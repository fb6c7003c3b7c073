// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bochs, whose clock counts instructions: what a boot does is a function of what it is started
 * with. Its process is kept by lab-bochs (see bochs/), one for each boot. All files of a boot have
 * lost their names before it begins, so that nothing is left of it, whoever dies first.
 *
 * LABD_BOCHS names another Bochs, LABD_LAB_BOCHS another lab-bochs, LABD_BOCHS_DISK_MB another size
 * of the disk that agent and host share.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/disk.h"
#include "base/frame.h"
#include "base/log.h"
#include "base/util.h"
#include "machine/bochs_args.h"
#include "machine/drivers.h"
#include "machine/spawn.h"

#define SEND_TIMEOUT_S 10
#define KILL_TIMEOUT_MS 2000
#define DISK_MB 512
#define CLOCK_BYTES 4096

static const char *program(void)
{
	const char *name = getenv("LABD_BOCHS");

	return name && *name ? name : "bochs";
}

/* lab-bochs stands beside labd. */
static void keeper_path(char ret_path[PATH_MAX])
{
	const char *name = getenv("LABD_LAB_BOCHS");

	if (!name || !*name)
		path_beside_program("lab-bochs", ret_path, PATH_MAX);
	else if (snprintf(ret_path, PATH_MAX, "%s", name) >= PATH_MAX)
		*ret_path = '\0';
}

static unsigned int bochs_capacity(void)
{
	cpu_set_t set;
	int n = sched_getaffinity(0, sizeof(set), &set) ? 1 : CPU_COUNT(&set);

	return n < 1 ? 1 : n;
}

/* The line of its help that says "Bochs x86 Emulator 2.7"; asked once per life of labd. */
static struct {
	pthread_once_t once;
	char version[64];
	int error;
} bochs = {.once = PTHREAD_ONCE_INIT};

static void ask_version(void)
{
	char *argv[] = {(char *)program(), "--help", NULL};

	bochs.error = spawn_ask(argv, "Bochs x86 Emulator ", bochs.version, sizeof(bochs.version));
}

/* What a boot needs besides Bochs itself. */
static int check_files(void)
{
	static const char *const files[] = {
		"/usr/share/bochs/BIOS-bochs-latest",
		"/usr/share/bochs/VGABIOS-lgpl-latest",
		"/usr/lib/grub/i386-pc/boot.img",
		"/usr/bin/grub-mkimage",
	};
	char keeper[PATH_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (access(files[i], R_OK)) {
			log_err("the machine bochs needs %s: install the packages bochs, "
				"bochs-term, bochsbios, vgabios, grub-pc-bin and grub-common",
				files[i]);
			return -ENOENT;
		}
	}
	keeper_path(keeper);
	if (access(keeper, X_OK)) {
		log_err("the machine bochs needs the program %s: run make", keeper);
		return -ENOENT;
	}
	return 0;
}

static int bochs_describe(bool hypervisor, json_t **ret_description)
{
	json_t *lines, *description;
	int ret;

	pthread_once(&bochs.once, ask_version);
	if (bochs.error) {
		log_err("%s, the emulator Bochs, does not start: %s", program(),
			strerror(-bochs.error));
		return bochs.error;
	}
	ret = check_files();
	if (ret)
		return ret;
	lines = json_array();
	ret = lines ? bochs_machine_lines(lines, hypervisor) : -ENOMEM;
	if (ret) {
		json_decref(lines);
		return ret;
	}
	description = json_pack("{s:s, s:b, s:b, s:s, s:s, s:o}", "driver", "bochs", "emulated", 1,
				"deterministic", 1, "clock",
				"instructions at 100 MIPS, emulated; no caches, no IPI cost",
				"bochs_version", bochs.version, "argv", lines);
	if (!description)
		return -ENOMEM;
	*ret_description = description;
	return 0;
}

/* A new file in the boot's folder that only its descriptor leads to. */
static int nameless_file(const char *dir, int *ret_fd)
{
	char *path = str_printf("%s/bochs-XXXXXX", dir);
	int fd, ret = 0;

	if (!path)
		return -ENOMEM;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		ret = -errno;
	else
		unlink(path);
	free(path);
	*ret_fd = fd;
	return ret;
}

/* Such a file with a text in it, which is freed. */
static int text_file(const char *dir, char *text, int *ret_fd)
{
	int ret = text ? nameless_file(dir, ret_fd) : -ENOMEM;

	if (!ret)
		ret = write_all(*ret_fd, text, strlen(text));
	free(text);
	return ret;
}

/* The frames that the agent finds on its disk: all jobs, and QUIT. */
static int put_frames(const json_t *jobs, FILE *file)
{
	uint8_t header[FRAME_HEADER_SIZE];
	const json_t *job;
	size_t i, length;
	char *text;

	json_array_foreach (jobs, i, job) {
		text = json_dumps(job, JSON_COMPACT);
		if (!text)
			return -ENOMEM;
		length = strlen(text);
		if (length > FRAME_PAYLOAD_MAX) {
			free(text);
			return -EMSGSIZE;
		}
		frame_header(header, FRAME_JOB, text, length);
		fwrite(header, 1, sizeof(header), file);
		fwrite(text, 1, length, file);
		free(text);
	}
	frame_header(header, FRAME_QUIT, NULL, 0);
	fwrite(header, 1, sizeof(header), file);
	return 0;
}

static uint64_t channel_bytes(void)
{
	const char *text = getenv("LABD_BOCHS_DISK_MB");
	int64_t mb;

	if (!text || parse_i64(text, 1, 1 << 20, &mb))
		mb = DISK_MB;
	return mb << 20;
}

static int channel_file(const struct boot_request *request, int *ret_fd)
{
	uint8_t sector[DISK_SECTOR];
	struct disk_layout layout;
	size_t length;
	char *frames;
	FILE *file;
	int ret;

	file = open_memstream(&frames, &length);
	if (!file)
		return -ENOMEM;
	ret = put_frames(request->jobs, file);
	if (fclose(file) && !ret)
		ret = -ENOMEM;
	ret = ret ?: disk_layout_make(channel_bytes(), length, &layout);
	ret = ret ?: nameless_file(request->runtime_dir, ret_fd);
	if (ret)
		goto free_frames;
	disk_layout_write(&layout, sector);
	if (ftruncate(*ret_fd, (uint64_t)layout.sectors * DISK_SECTOR))
		ret = -errno;
	ret = ret ?: write_all(*ret_fd, sector, sizeof(sector));
	if (!ret && lseek(*ret_fd, (off_t)layout.in_sector * DISK_SECTOR, SEEK_SET) < 0)
		ret = -errno;
	ret = ret ?: write_all(*ret_fd, frames, length);
free_frames:
	free(frames);
	return ret;
}

static int grub_file(const struct boot_request *request, int *ret_fd)
{
	const char *paths[BOCHS_FILES_MAX];
	uint64_t sizes[BOCHS_FILES_MAX];
	unsigned int n = bochs_files(request, paths);
	struct stat st;
	char *text;
	int ret;

	for (unsigned int i = 0; i < n; i++) {
		if (stat(paths[i], &st))
			return -errno;
		sizes[i] = st.st_size;
	}
	ret = bochs_grub(request, sizes, &text);
	return ret ?: text_file(request->runtime_dir, text, ret_fd);
}

/*
 * What a boot holds open. Those before FD_SHARED are inherited by lab-bochs, each under an option
 * of that name; those behind them are labd's ends.
 */
enum {
	FD_CONFIG,
	FD_SCRIPT,
	FD_GRUB,
	FD_BOOT,
	FD_CHANNEL,
	FD_CLOCK,
	FD_AGENT,
	FD_CONSOLE,
	FD_HYPERVISOR,
	FD_SHARED,
	FD_MESSAGES = FD_SHARED,
	FD_MY_AGENT,
	FD_MY_CONSOLE,
	FD_MY_HYPERVISOR,
	FD_MY_MESSAGES,
	N_FDS,
};

static const char *const fd_options[FD_SHARED] = {
	"--config", "--script", "--grub",    "--boot",	     "--channel",
	"--clock",  "--agent",	"--console", "--hypervisor",
};

static int open_pipe(int *ret_reader, int *ret_writer)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	*ret_reader = fds[0];
	*ret_writer = fds[1];
	return 0;
}

static int open_streams(int fds[N_FDS], bool hypervisor)
{
	/* Who stops to read must not hold labd in a write. */
	const struct timeval send_timeout = {.tv_sec = SEND_TIMEOUT_S};
	int agent[2], ret;

	ret = open_pipe(&fds[FD_MY_CONSOLE], &fds[FD_CONSOLE])
		      ?: open_pipe(&fds[FD_MY_MESSAGES], &fds[FD_MESSAGES]);
	if (!ret && hypervisor)
		ret = open_pipe(&fds[FD_MY_HYPERVISOR], &fds[FD_HYPERVISOR]);
	if (ret)
		return ret;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, agent))
		return -errno;
	fds[FD_MY_AGENT] = agent[0];
	fds[FD_AGENT] = agent[1];
	if (setsockopt(agent[0], SOL_SOCKET, SO_SNDTIMEO, &send_timeout, sizeof(send_timeout)))
		return -errno;
	return 0;
}

static int open_files(int fds[N_FDS], const struct boot_request *request)
{
	const char *dir = request->runtime_dir;
	struct bochs_fds inherited;
	int ret;

	ret = grub_file(request, &fds[FD_GRUB])
		      ?: text_file(dir, bochs_script(request->limit_ms), &fds[FD_SCRIPT])
		      ?: nameless_file(dir, &fds[FD_BOOT])
		      ?: channel_file(request, &fds[FD_CHANNEL]);
	if (ret)
		return ret;
	inherited = (struct bochs_fds){
		.boot = fds[FD_BOOT],
		.channel = fds[FD_CHANNEL],
		.console = fds[FD_CONSOLE],
		.hypervisor = fds[FD_HYPERVISOR],
	};
	return text_file(dir, bochs_config(&inherited), &fds[FD_CONFIG]);
}

static int open_clock(int *ret_fd, void **ret_page)
{
	void *page;
	int fd;

	fd = memfd_create("labd-clock", MFD_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_fd = fd;
	if (ftruncate(fd, CLOCK_BYTES))
		return -errno;
	page = mmap(NULL, CLOCK_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	*ret_page = page;
	return 0;
}

static int spawn_keeper(const struct boot_request *request, const int fds[N_FDS], int *ret_pid,
			int *ret_pid_fd)
{
	char keeper[PATH_MAX], limit[24], numbers[FD_SHARED][12];
	char *argv[6 + 2 * FD_SHARED + BOCHS_FILES_MAX] = {};
	const char *files[BOCHS_FILES_MAX];
	unsigned int n_files = bochs_files(request, files);
	int keep[FD_SHARED], argc = 0, n_keep = 0;

	keeper_path(keeper);
	snprintf(limit, sizeof(limit), "%llu", (unsigned long long)request->limit_ms);
	argv[argc++] = keeper;
	argv[argc++] = "--bochs";
	argv[argc++] = (char *)program();
	argv[argc++] = "--limit-ms";
	argv[argc++] = limit;
	for (int i = 0; i < FD_SHARED; i++) {
		if (fds[i] < 0)
			continue;
		snprintf(numbers[i], sizeof(numbers[i]), "%d", fds[i]);
		argv[argc++] = (char *)fd_options[i];
		argv[argc++] = numbers[i];
		keep[n_keep++] = fds[i];
	}
	for (unsigned int i = 0; i < n_files; i++)
		argv[argc++] = (char *)files[i];
	return spawn(&(struct spawn_request){.argv = argv,
					     .output_fd = fds[FD_MESSAGES],
					     .keep = keep,
					     .n_keep = n_keep},
		     ret_pid, ret_pid_fd);
}

static int bochs_boot(const struct boot_request *request, struct machine_transport *ret_transport)
{
	int fds[N_FDS], pid, pid_fd, ret;
	void *clock = NULL;

	for (int i = 0; i < N_FDS; i++)
		fds[i] = -1;
	ret = open_streams(fds, request->hypervisor != NULL)
		      ?: open_files(fds, request)
		      ?: open_clock(&fds[FD_CLOCK], &clock)
		      ?: spawn_keeper(request, fds, &pid, &pid_fd);
	if (ret)
		goto close;
	*ret_transport = (struct machine_transport){
		.console_fd = fds[FD_MY_CONSOLE],
		.hypervisor_fd = fds[FD_MY_HYPERVISOR],
		.agent_fd = fds[FD_MY_AGENT],
		.messages_fd = fds[FD_MY_MESSAGES],
		.pid_fd = pid_fd,
		.pid = pid,
		.clock_ns = clock,
	};
	fds[FD_MY_CONSOLE] = fds[FD_MY_HYPERVISOR] = fds[FD_MY_AGENT] = fds[FD_MY_MESSAGES] = -1;
	clock = NULL;
close:
	for (int i = 0; i < N_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (clock)
		munmap(clock, CLOCK_BYTES);
	return ret;
}

/* lab-bochs is asked first, for it can reap Bochs. */
static void bochs_kill(struct machine_transport *transport)
{
	struct pollfd poll_fd = {transport->pid_fd, POLLIN};

	if (transport->pid_fd >= 0 && !pidfd_send_signal(transport->pid_fd, SIGTERM, NULL, 0))
		poll(&poll_fd, 1, KILL_TIMEOUT_MS);
	spawn_kill(&transport->pid_fd);
}

const struct machine_ops bochs_machine = {
	.name = "bochs",
	.version = 1,
	.deterministic = true,
	.capacity = bochs_capacity,
	.describe = bochs_describe,
	.boot = bochs_boot,
	.kill = bochs_kill,
};
