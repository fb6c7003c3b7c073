// SPDX-License-Identifier: GPL-2.0-only
/*
 * The disk that the machine boots from: GRUB in front, with its script and the few modules that it
 * needs inside, and from a fixed sector the files, which the script names by their places. There is
 * no file system, and nothing in it says when it was made.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bochs/boot_disk.h"
#include "machine/bochs_args.h"
#include "machine/spawn.h"

#define BOOT_SECTOR "/usr/lib/grub/i386-pc/boot.img"

/* Copies all of @from to @fd, and moves *@offset to the next sector behind it. */
static int put_file(int fd, off_t *offset, int from)
{
	char buffer[64 * 1024];
	ssize_t n;

	while ((n = read(from, buffer, sizeof(buffer))) > 0) {
		if (pwrite(fd, buffer, n, *offset) != n)
			return errno ? -errno : -EIO;
		*offset += n;
	}
	*offset += (BOCHS_SECTOR - *offset % BOCHS_SECTOR) % BOCHS_SECTOR;
	return n < 0 ? -errno : 0;
}

static int put_path(int fd, off_t *offset, const char *path)
{
	int from = open(path, O_RDONLY | O_CLOEXEC), ret;

	ret = from < 0 ? -errno : put_file(fd, offset, from);
	if (from >= 0)
		close(from);
	if (ret)
		fprintf(stderr, "%s cannot be put on the boot disk\n", path);
	return ret;
}

static int make_core(int core_fd, int grub_fd, int output_fd)
{
	char script[32], core[32];
	char *argv[] = {"grub-mkimage", "-O",	  "i386-pc",  "-p",	  "(hd0)/", "-c",
			script,		"-o",	  core,	      "biosdisk", "linux",  "multiboot2",
			"boot",		"serial", "terminal", "halt",	  NULL};
	const int keep[] = {core_fd, grub_fd};
	siginfo_t info;
	int pid, pid_fd, ret;

	snprintf(script, sizeof(script), "/dev/fd/%d", grub_fd);
	snprintf(core, sizeof(core), "/dev/fd/%d", core_fd);
	ret = spawn(
		&(struct spawn_request){
			.argv = argv, .output_fd = output_fd, .keep = keep, .n_keep = 2},
		&pid, &pid_fd);
	if (ret)
		return ret;
	while (waitid(P_PIDFD, pid_fd, &info, WEXITED | WNOWAIT) && errno == EINTR)
		;
	spawn_kill(&pid_fd);
	return info.si_code == CLD_EXITED && !info.si_status ? 0 : -ENOEXEC;
}

/**
 * boot_disk_make() - fill the boot disk
 * @fd: an empty file
 * @grub_fd: GRUB's script (see bochs_grub())
 * @files: as bochs_files() gave them, and NULL
 * @output_fd: for what GRUB's tool has to say
 *
 * Return: 0 or negative errno.
 */
int boot_disk_make(int fd, int grub_fd, char *const *files, int output_fd)
{
	off_t offset = 0;
	int core, ret;

	core = memfd_create("core", MFD_CLOEXEC);
	if (core < 0)
		return -errno;
	ret = make_core(core, grub_fd, output_fd);
	ret = ret ?: put_path(fd, &offset, BOOT_SECTOR);
	ret = ret ?: put_file(fd, &offset, core);
	close(core);
	if (!ret && offset > BOCHS_FILES_SECTOR * BOCHS_SECTOR)
		ret = -EFBIG;
	offset = BOCHS_FILES_SECTOR * BOCHS_SECTOR;
	for (; !ret && *files; files++)
		ret = put_path(fd, &offset, *files);
	if (!ret && ftruncate(fd, offset))
		ret = -errno;
	return ret;
}
