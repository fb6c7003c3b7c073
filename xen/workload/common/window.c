// SPDX-License-Identifier: GPL-2.0-only
/*
 * Grants without gntdev: the map and unmap hypercalls as this process words them, at guest frames
 * that Linux has set aside for us.
 *
 * privcmd sets frames aside: for mapping pages of the granting domain it takes unpopulated ones and
 * enters them in our page tables. It does not tell which, and /proc/self/pagemap passes its
 * mappings over. gntdev's are shown there, and Linux hands out the unpopulated frames first that
 * were freed last. So: map with gntdev, read the frame numbers, unmap, map with privcmd. That the
 * frames have gone there is checked: gntdev must not get any of them now, and they must show what
 * is put there.
 *
 * Then the pages are taken out of the p2m, with the call that privcmd makes itself at the munmap(),
 * where it does not mind to find nothing. Until then the frames are ours, and our page tables never
 * change when a grant comes or goes, which makes this the place where only Xen's flush stands
 * between us and an old page.
 */
#include "window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xen/memory.h>
#include <xen/sys/gntdev.h>
#include <xen/sys/privcmd.h>

#include "pattern.h"

#define PAGEMAP_PRESENT (UINT64_C(1) << 63)
#define PAGEMAP_PFN ((UINT64_C(1) << 55) - 1)

/* Any pages of the domain will do, they do not stay. */
static int take_frames(struct gnt_window *w, uint32_t domid)
{
	xen_pfn_t *wanted = calloc(w->pages, sizeof(*wanted));
	int *errs = calloc(w->pages, sizeof(*errs));
	privcmd_mmapbatch_v2_t batch = {
		.num = w->pages,
		.dom = domid,
		.addr = (uintptr_t)w->at,
		.arr = wanted,
		.err = errs,
	};
	int ret = 0;

	if (!wanted || !errs) {
		ret = -ENOMEM;
		goto out;
	}
	for (unsigned int i = 0; i < w->pages; i++)
		wanted[i] = GNT_FIRST_GFN + i;
	if (ioctl(w->fd, IOCTL_PRIVCMD_MMAPBATCH_V2, &batch)) {
		ret = -errno;
		goto out;
	}
	for (unsigned int i = 0; !ret && i < w->pages; i++)
		ret = errs[i];
out:
	free(errs);
	free(wanted);
	return ret;
}

static int read_gfns(const void *at, unsigned int n, uint64_t *gfns)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	size_t len = n * sizeof(*gfns);
	ssize_t got;

	if (fd < 0)
		return -errno;
	got = pread(fd, gfns, len, (uintptr_t)at / GNT_PAGE * sizeof(*gfns));
	close(fd);
	if (got != (ssize_t)len)
		return -EIO;
	for (unsigned int i = 0; i < n; i++) {
		if (!(gfns[i] & PAGEMAP_PRESENT) || !(gfns[i] & PAGEMAP_PFN))
			return -ENXIO;
		gfns[i] &= PAGEMAP_PFN;
	}
	return 0;
}

/* Maps grants with gntdev and unmaps them again: which frames did they get? */
static int gntdev_gfns(struct gnt_window *w, const struct gnt_domain *d, uint64_t *gfns)
{
	struct ioctl_gntdev_map_grant_ref *map;
	struct ioctl_gntdev_unmap_grant_ref unmap = {.count = w->pages};
	int fd = open("/dev/xen/gntdev", O_RDWR | O_CLOEXEC);
	size_t len = (size_t)w->pages * GNT_PAGE;
	int ret = 0;
	void *at;

	if (fd < 0)
		return -errno;
	map = calloc(1, sizeof(*map) + w->pages * sizeof(map->refs[0]));
	if (!map) {
		ret = -ENOMEM;
		goto out;
	}
	map->count = w->pages;
	for (unsigned int i = 0; i < w->pages; i++) {
		map->refs[i].domid = d->domid;
		map->refs[i].ref = GNT_FIRST_REF + i;
	}
	if (ioctl(fd, IOCTL_GNTDEV_MAP_GRANT_REF, map)) {
		ret = -errno;
		goto out;
	}
	at = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, map->index);
	if (at == MAP_FAILED) {
		ret = -errno;
		goto out;
	}
	ret = read_gfns(at, w->pages, gfns);
	munmap(at, len);
	unmap.index = map->index;
	if (ioctl(fd, IOCTL_GNTDEV_UNMAP_GRANT_REF, &unmap) && !ret)
		ret = -errno;
	w->grants += w->pages;
out:
	free(map);
	close(fd);
	return ret;
}

/* Frames come back in the reverse order: each that is freed becomes the first to be taken. */
static int find_frames(struct gnt_window *w, const struct gnt_domain *d)
{
	uint64_t *gfns = calloc(w->pages, sizeof(*gfns));
	int ret;

	if (!gfns)
		return -ENOMEM;
	ret = gntdev_gfns(w, d, gfns);
	for (unsigned int i = 0; i < w->pages; i++)
		w->gfns[i] = gfns[w->pages - 1 - i];
	if (!ret)
		ret = take_frames(w, d->domid);
	if (!ret)
		ret = gntdev_gfns(w, d, gfns);
	for (unsigned int i = 0; !ret && i < w->pages; i++) {
		for (unsigned int j = 0; j < w->pages; j++) {
			if (gfns[i] == w->gfns[j])
				ret = -EBUSY;
		}
	}
	free(gfns);
	return ret;
}

static long hypercall(const struct gnt_window *w, unsigned int call, unsigned long a, void *b,
		      unsigned long c)
{
	privcmd_hypercall_t request = {.op = call, .arg = {a, (uintptr_t)b, c}};
	long ret = ioctl(w->fd, IOCTL_PRIVCMD_HYPERCALL, &request);

	return ret < 0 ? -errno : ret;
}

static int empty_frames(const struct gnt_window *w)
{
	for (unsigned int i = 0; i < w->pages; i++) {
		struct xen_remove_from_physmap remove = {
			.domid = DOMID_SELF,
			.gpfn = w->gfns[i],
		};
		long ret = hypercall(w, __HYPERVISOR_memory_op, XENMEM_remove_from_physmap, &remove,
				     0);

		if (ret)
			return ret;
	}
	return 0;
}

/**
 * gnt_op - one grant table hypercall
 * @w:		an open window
 * @cmd:	GNTTABOP_...
 * @ops:	array of operations; Xen reads and writes it through our page tables
 * @count:	how many these are
 *
 * Return: what Xen returned: 0 or a negative errno. The operations have statuses of their own.
 */
long gnt_op(const struct gnt_window *w, unsigned int cmd, void *ops, unsigned int count)
{
	return hypercall(w, __HYPERVISOR_grant_table_op, cmd, ops, count);
}

/**
 * gnt_window_map - map granted pages at the window's first frames
 * @w:		the window, nothing mapped at its first @n frames
 * @d:		the domain that grants
 * @pages:	which of its pages, in the order of the frames
 * @n:		how many
 * @ret_undo:	room for @n; filled with the operations that unmap them again
 *
 * Return: 0, or a negative errno, printed; nothing is mapped then.
 */
int gnt_window_map(const struct gnt_window *w, const struct gnt_domain *d,
		   const unsigned int *pages, unsigned int n, gnttab_unmap_grant_ref_t *ret_undo)
{
	gnttab_map_grant_ref_t *ops = calloc(n, sizeof(*ops));
	unsigned int mapped = 0;
	long ret;

	if (!ops)
		return -ENOMEM;
	for (unsigned int i = 0; i < n; i++) {
		ops[i].host_addr = w->gfns[i] * GNT_PAGE;
		ops[i].flags = GNTMAP_host_map;
		ops[i].ref = GNT_FIRST_REF + pages[i];
		ops[i].dom = d->domid;
		ops[i].status = GNTST_general_error;
	}
	ret = gnt_op(w, GNTTABOP_map_grant_ref, ops, n);
	for (unsigned int i = 0; i < n; i++) {
		if (ops[i].status != GNTST_okay)
			continue;
		ret_undo[mapped++] = (gnttab_unmap_grant_ref_t){
			.host_addr = ops[i].host_addr,
			.handle = ops[i].handle,
		};
	}
	if (ret || mapped < n) {
		fprintf(stderr, "window: mapped %u of %u grants: %s\n", mapped, n, strerror(-ret));
		gnt_op(w, GNTTABOP_unmap_grant_ref, ret_undo, mapped);
		ret = ret < 0 ? ret : -EIO;
	}
	free(ops);
	return ret;
}

/* Every page must show at its own address. */
static int prove(struct gnt_window *w, const struct gnt_domain *d)
{
	gnttab_unmap_grant_ref_t *undo = calloc(w->pages, sizeof(*undo));
	unsigned int *pages = calloc(w->pages, sizeof(*pages));
	unsigned int wrong = 0;
	int ret = -ENOMEM;

	if (!undo || !pages)
		goto out;
	for (unsigned int i = 0; i < w->pages; i++) {
		pages[i] = i;
		gnt_pattern_write(0, i, 0, gnt_domain_page(d, i));
	}
	ret = gnt_window_map(w, d, pages, w->pages, undo);
	if (ret)
		goto out;
	for (unsigned int i = 0; i < w->pages; i++)
		wrong += gnt_pattern_check(0, i, 0, w->at + (size_t)i * GNT_PAGE);
	ret = gnt_op(w, GNTTABOP_unmap_grant_ref, undo, w->pages);
	w->grants += w->pages;
	if (wrong && !ret)
		ret = -EXDEV;
out:
	free(pages);
	free(undo);
	return ret;
}

/**
 * gnt_window_close - give the frames back
 * @w: opened or closed, with no grant mapped in it
 */
void gnt_window_close(struct gnt_window *w)
{
	if (w->at) {
		munmap(w->at, (size_t)w->pages * GNT_PAGE);
		close(w->fd);
	}
	free(w->gfns);
	*w = (struct gnt_window){};
}

/**
 * gnt_window_open - get empty guest frames
 * @w:		filled; has to be zero before
 * @d:		a domain of at least as many pages; none stays mapped, and their contents change
 * @pages:	how many frames
 *
 * Return: 0, or a negative errno, printed; nothing is left over then.
 */
int gnt_window_open(struct gnt_window *w, const struct gnt_domain *d, unsigned int pages)
{
	void *at;
	int ret;

	w->pages = pages;
	w->fd = open("/dev/xen/privcmd", O_RDWR | O_CLOEXEC);
	if (w->fd < 0) {
		ret = -errno;
		fprintf(stderr, "window: /dev/xen/privcmd: %m\n");
		*w = (struct gnt_window){};
		return ret;
	}
	at = mmap(NULL, (size_t)pages * GNT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, w->fd, 0);
	if (at == MAP_FAILED) {
		ret = -errno;
		goto err;
	}
	w->at = at;
	w->gfns = calloc(pages, sizeof(*w->gfns));
	if (!w->gfns) {
		ret = -ENOMEM;
		goto err;
	}
	ret = find_frames(w, d);
	if (!ret)
		ret = empty_frames(w);
	if (!ret)
		ret = prove(w, d);
	if (!ret)
		return 0;
err:
	fprintf(stderr, "window: cannot get %u empty guest frames: %s\n", pages, strerror(-ret));
	gnt_window_close(w);
	return ret;
}
