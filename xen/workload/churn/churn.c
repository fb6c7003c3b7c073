// SPDX-License-Identifier: GPL-2.0-only
/*
 * The batches, through /dev/xen/gntdev as every backend in user space does it.
 *
 * gntdev maps grants when its file is mapped, and removes them when neither a mapping nor its own
 * table names them any more: that is, in the ioctl, if munmap() comes first.
 */
#include "churn.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xen/sys/gntdev.h>

#include "../common/pattern.h"
#include "../common/tracing.h"

struct churn {
	const struct gnt_domain *d;
	const struct gchurn_options *o;
	struct gchurn_result *r;
	struct ioctl_gntdev_map_grant_ref *map;
	unsigned int *pages;
	int fd;
};

static int failed(const char *what)
{
	int ret = -errno;

	fprintf(stderr, "grant-churn: %s: %m\n", what);
	return ret;
}

/* The owner's side: @turn is what it writes before the map, @turn + 1 what it must find after. */
static void owner_writes(struct churn *c, uint64_t turn)
{
	for (unsigned int i = 0; i < c->o->batch; i++)
		gnt_pattern_write(c->o->seed, c->pages[i], turn,
				  gnt_domain_page(c->d, c->pages[i]));
}

static void owner_checks(struct churn *c, uint64_t turn)
{
	for (unsigned int i = 0; i < c->o->batch; i++)
		c->r->wrong += gnt_pattern_check(c->o->seed, c->pages[i], turn,
						 gnt_domain_page(c->d, c->pages[i]));
}

static void use(struct churn *c, uint8_t *at, uint64_t turn)
{
	for (unsigned int i = 0; i < c->o->batch; i++, at += GNT_PAGE) {
		if (!c->o->check) {
			/* A page that nobody touches need not be in any TLB. */
			*(volatile uint8_t *)at;
			continue;
		}
		c->r->wrong += gnt_pattern_check(c->o->seed, c->pages[i], turn, at);
		gnt_pattern_write(c->o->seed, c->pages[i], turn + 1, at);
	}
}

static int map(struct churn *c, uint64_t *ret_index, uint8_t **ret_at)
{
	unsigned int n = c->o->batch;
	void *at;

	c->map->count = n;
	for (unsigned int i = 0; i < n; i++) {
		c->map->refs[i].domid = c->d->domid;
		c->map->refs[i].ref = GNT_FIRST_REF + c->pages[i];
	}
	if (ioctl(c->fd, IOCTL_GNTDEV_MAP_GRANT_REF, c->map))
		return failed("gntdev does not take the grants");
	at = mmap(NULL, (size_t)n * GNT_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, c->fd,
		  c->map->index);
	if (at == MAP_FAILED)
		return failed("cannot map the grants");
	*ret_index = c->map->index;
	*ret_at = at;
	return 0;
}

static int unmap(struct churn *c, uint64_t index, uint8_t *at)
{
	struct ioctl_gntdev_unmap_grant_ref request = {.index = index, .count = c->o->batch};

	if (munmap(at, (size_t)c->o->batch * GNT_PAGE))
		return failed("cannot leave the mapping");
	if (ioctl(c->fd, IOCTL_GNTDEV_UNMAP_GRANT_REF, &request))
		return failed("cannot unmap the grants");
	return 0;
}

static int one_batch(struct churn *c, uint64_t batch, uint64_t *ret_map_ns, uint64_t *ret_unmap_ns)
{
	uint64_t start, mapped, done, turn = 2 * batch, index = 0;
	uint8_t *at = NULL;
	int ret;

	gnt_batch_pages(c->o->seed, batch, c->o->batch, c->pages);
	if (c->o->check)
		owner_writes(c, turn);

	start = gnt_now_ns();
	ret = map(c, &index, &at);
	if (ret)
		return ret;
	mapped = gnt_now_ns();
	c->r->maps += c->o->batch;

	use(c, at, turn);

	*ret_map_ns = mapped - start;
	start = gnt_now_ns();
	ret = unmap(c, index, at);
	if (ret)
		return ret;
	done = gnt_now_ns();
	c->r->unmaps += c->o->batch;
	*ret_unmap_ns = done - start;

	if (c->o->check)
		owner_checks(c, turn + 1);
	return 0;
}

/**
 * gchurn_run - do all batches through gntdev
 * @d: a domain with three times as many pages as a batch
 * @o: checked options
 * @r: filled as far as it goes; r->unmap_ns has room for o->batches
 *
 * Return: 0 or a negative errno, printed. Wrong contents do not end the run.
 */
int gchurn_run(const struct gnt_domain *d, const struct gchurn_options *o, struct gchurn_result *r)
{
	struct churn c = {.d = d, .o = o, .r = r, .fd = -1};
	uint64_t total = (uint64_t)o->warmup + o->batches;
	int ret = -ENOMEM;

	c.map = calloc(1, sizeof(*c.map) + o->batch * sizeof(c.map->refs[0]));
	c.pages = calloc(o->batch, sizeof(*c.pages));
	if (!c.map || !c.pages)
		goto out;
	c.fd = open("/dev/xen/gntdev", O_RDWR | O_CLOEXEC);
	if (c.fd < 0) {
		ret = failed("/dev/xen/gntdev");
		goto out;
	}
	ret = 0;
	for (uint64_t batch = 0; batch < total; batch++) {
		uint64_t map_ns = 0, unmap_ns = 0;

		if (gnt_stopped()) {
			ret = -EINTR;
			break;
		}
		if (batch == o->warmup) {
			ret = gnt_tracing(true);
			if (ret)
				break;
		}
		ret = one_batch(&c, batch, &map_ns, &unmap_ns);
		if (ret)
			break;
		if (batch < o->warmup)
			continue;
		r->map_ns += map_ns;
		r->measured += o->batch;
		r->unmap_ns[r->batches++] = unmap_ns;
	}
out:
	if (c.fd >= 0)
		close(c.fd);
	free(c.pages);
	free(c.map);
	return ret;
}
