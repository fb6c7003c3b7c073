// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keeps the pages that an invalidation drops. A stale mapping still points to the old page. If that
 * page were free, the kernel could hand it out again: to the same guest page, where the stale
 * mapping would look right, or to itself, which the guest would then overwrite. A pipe can refer to
 * pages without mapping them (vmsplice), and reading it later shows what has become of them.
 */
#include "hold.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#include "schedule.h"

/**
 * hold_create - make an empty hold
 * @h: filled; destroy it with hold_destroy()
 * @max_pages: how many pages it must take at once
 *
 * Return: 0 or a negative errno, printed.
 */
int hold_create(struct hold *h, size_t max_pages)
{
	int ret;

	h->pages = 0;
	if (pipe2(h->pipe, O_CLOEXEC | O_NONBLOCK) < 0) {
		ret = -errno;
		fprintf(stderr, "kvm-churn: pipe: %m\n");
		return ret;
	}
	if (fcntl(h->pipe[1], F_SETPIPE_SZ, (int)(max_pages * CHURN_PAGE)) < 0) {
		ret = -errno;
		fprintf(stderr, "kvm-churn: a pipe for %zu pages: %m\n", max_pages);
		hold_destroy(h);
		return ret;
	}
	return 0;
}

/**
 * hold_destroy - let go of all pages
 * @h: a hold
 */
void hold_destroy(struct hold *h)
{
	close(h->pipe[0]);
	close(h->pipe[1]);
}

/**
 * hold_pages - take hold of pages
 * @h: an empty hold
 * @mem: start of the memory, on a page border
 * @offsets: which of its pages, in bytes from @mem
 * @n: number of @offsets, at most what the hold was made for
 *
 * Return: 0 or a negative errno, printed.
 */
int hold_pages(struct hold *h, char *mem, const uint64_t *offsets, size_t n)
{
	for (; h->pages < n; h->pages++) {
		struct iovec page = {mem + offsets[h->pages], CHURN_PAGE};

		if (vmsplice(h->pipe[1], &page, 1, SPLICE_F_NONBLOCK) != (ssize_t)CHURN_PAGE) {
			int ret = errno ? -errno : -EIO;

			fprintf(stderr, "kvm-churn: cannot hold page %zu: %m\n", h->pages);
			return ret;
		}
	}
	return 0;
}

/**
 * hold_next - look at the page that has been held longest, and let go of it
 * @h: a hold with pages
 * @page: receives the page as it is now
 *
 * Return: 0 or a negative errno, printed.
 */
int hold_next(struct hold *h, void *page)
{
	if (read(h->pipe[0], page, CHURN_PAGE) != (ssize_t)CHURN_PAGE) {
		int ret = errno ? -errno : -EIO;

		fprintf(stderr, "kvm-churn: cannot read a held page: %m\n");
		return ret;
	}
	h->pages--;
	return 0;
}
