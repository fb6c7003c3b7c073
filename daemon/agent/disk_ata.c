// SPDX-License-Identifier: GPL-2.0-only
/*
 * The second disk of a PC's first ATA channel by its ports: commands that move data by the
 * processor, no interrupts, no driver in the kernel, which would be one more thing under test.
 */
#include <errno.h>
#include <poll.h>
#include <sys/io.h>

#include "agent/disk.h"
#include "base/bytes.h"
#include "base/util.h"

#define PORT_DATA 0x1f0
#define PORT_COUNT 0x1f2
#define PORT_LBA_LOW 0x1f3
#define PORT_LBA_MID 0x1f4
#define PORT_LBA_HIGH 0x1f5
#define PORT_DEVICE 0x1f6
#define PORT_COMMAND 0x1f7
#define PORT_CONTROL 0x3f6 /* read: the status, without a side effect */
#define N_PORTS 8

#define STATUS_ERR 0x01
#define STATUS_DRQ 0x08
#define STATUS_FAULT 0x20
#define STATUS_READY 0x40
#define STATUS_BUSY 0x80

#define CONTROL_NO_INTERRUPTS 0x02
#define DEVICE_SECOND 0x10
#define DEVICE_LBA 0x40

#define READ_SECTORS 0x20
#define READ_SECTORS_EXT 0x24
#define WRITE_SECTORS 0x30
#define WRITE_SECTORS_EXT 0x34
#define IDENTIFY 0xec

#define LBA28_SECTORS (1u << 28)
#define WORDS (DISK_SECTOR / 2)
#define TIMEOUT_MS 10000
/* A sector is there within microseconds; only a seek takes long enough to sleep. */
#define SPINS 200

/* Until it is not busy and shows all of @want. */
static int wait_for(uint8_t want)
{
	int64_t deadline = 0;
	uint8_t status;

	for (unsigned int i = 0;; i++) {
		status = inb(PORT_CONTROL);
		if (!(status & STATUS_BUSY)) {
			if (status & (STATUS_ERR | STATUS_FAULT))
				return -EIO;
			if ((status & want) == want)
				return 0;
		}
		if (i < SPINS)
			continue;
		if (!deadline)
			deadline = mono_ns() + TIMEOUT_MS * 1000000LL;
		else if (mono_ns() > deadline)
			return -ETIMEDOUT;
		poll(NULL, 0, 1);
	}
}

/* The status is valid 400 ns after a command or a change of the device: four reads. */
static void pause_400ns(void)
{
	for (int i = 0; i < 4; i++)
		inb(PORT_CONTROL);
}

static void select_device(uint8_t bits)
{
	outb(DEVICE_SECOND | bits, PORT_DEVICE);
	pause_400ns();
}

static void put_address(uint32_t lba, uint32_t count)
{
	outb(count, PORT_COUNT);
	outb(lba, PORT_LBA_LOW);
	outb(lba >> 8, PORT_LBA_MID);
	outb(lba >> 16, PORT_LBA_HIGH);
}

/* The shorter command if the address fits it; in its count 0 stands for 256. */
static int command(uint32_t sector, uint32_t count, uint8_t lba28, uint8_t lba48)
{
	bool is_short = sector <= LBA28_SECTORS - count;
	int ret;

	select_device(DEVICE_LBA | (is_short ? sector >> 24 : 0));
	ret = wait_for(STATUS_READY);
	if (ret)
		return ret;
	if (!is_short)
		put_address(sector >> 24, count >> 8);
	put_address(sector, count);
	outb(is_short ? lba28 : lba48, PORT_COMMAND);
	pause_400ns();
	return 0;
}

static void words_in(void *data)
{
	unsigned long n = WORDS;

	asm volatile("rep insw" : "+D"(data), "+c"(n) : "d"(PORT_DATA) : "memory");
}

static void words_out(const void *data)
{
	unsigned long n = WORDS;

	asm volatile("rep outsw" : "+S"(data), "+c"(n) : "d"(PORT_DATA) : "memory");
}

static int ata_read(const struct agent_disk *disk, uint32_t sector, uint32_t count, void *ret_data)
{
	uint8_t *at = ret_data;
	int ret = command(sector, count, READ_SECTORS, READ_SECTORS_EXT);

	for (; !ret && count; count--, at += DISK_SECTOR) {
		ret = wait_for(STATUS_DRQ);
		if (!ret)
			words_in(at);
	}
	return ret;
}

static int ata_write(const struct agent_disk *disk, uint32_t sector, uint32_t count,
		     const void *data)
{
	const uint8_t *at = data;
	int ret = command(sector, count, WRITE_SECTORS, WRITE_SECTORS_EXT);

	for (; !ret && count; count--, at += DISK_SECTOR) {
		ret = wait_for(STATUS_DRQ);
		if (!ret)
			words_out(at);
	}
	return ret ?: wait_for(STATUS_READY);
}

static int use_ports(bool on)
{
	if (ioperm(PORT_DATA, N_PORTS, on) || ioperm(PORT_CONTROL, 1, on))
		return -errno;
	return 0;
}

/* What has the ports makes each switch to it dearer. */
static void ata_close(struct agent_disk *disk)
{
	use_ports(false);
}

static const struct agent_disk_ops ops = {
	.read = ata_read,
	.write = ata_write,
	.close = ata_close,
};

static int identify(uint64_t *ret_sectors)
{
	uint8_t answer[DISK_SECTOR];
	uint8_t status;
	int ret;

	outb(CONTROL_NO_INTERRUPTS, PORT_CONTROL);
	select_device(0);
	put_address(0, 0);
	outb(IDENTIFY, PORT_COMMAND);
	pause_400ns();
	/* Nothing drives the lines where no device is; on some channels they stay high. */
	status = inb(PORT_CONTROL);
	if (!status || status == 0xff)
		return -ENODEV;
	ret = wait_for(STATUS_DRQ);
	if (ret)
		return ret;
	words_in(answer);
	/* Word 83 says whether the numbers of 48 bits count, at word 100; else those of 28. */
	if (get16(answer + 2 * 83) & 1 << 10)
		*ret_sectors = get32(answer + 2 * 100) | (uint64_t)get32(answer + 2 * 102) << 32;
	else
		*ret_sectors = get32(answer + 2 * 60);
	return 0;
}

/**
 * agent_disk_open_ata() - find the disk
 *
 * Return: 0, -ENODEV where there is none, or another negative errno. It ends with its close.
 */
int agent_disk_open_ata(struct agent_disk *ret_disk)
{
	struct agent_disk disk = {.ops = &ops, .fd = -1};
	int ret;

	ret = use_ports(true);
	if (ret)
		return ret;
	ret = identify(&disk.sectors);
	if (ret) {
		ata_close(&disk);
		return ret;
	}
	*ret_disk = disk;
	return 0;
}
