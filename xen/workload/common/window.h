/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GNT_WINDOW_H
#define GNT_WINDOW_H

#include <stdint.h>

#include <xenctrl.h>
#include <xen/grant_table.h>

#include "domain.h"

/**
 * struct gnt_window - guest frames of our own that nothing is mapped at
 * @fd:		/dev/xen/privcmd
 * @pages:	how many frames
 * @at:		where they are in this process, in a row. Touch only what a grant is mapped at
 * @gfns:	their numbers
 * @grants:	how many grants were mapped and unmapped for getting them
 */
struct gnt_window {
	int fd;
	unsigned int pages;
	uint8_t *at;
	uint64_t *gfns;
	uint64_t grants;
};

int gnt_window_open(struct gnt_window *w, const struct gnt_domain *d, unsigned int pages);
void gnt_window_close(struct gnt_window *w);
long gnt_op(const struct gnt_window *w, unsigned int cmd, void *ops, unsigned int count);
int gnt_window_map(const struct gnt_window *w, const struct gnt_domain *d,
		   const unsigned int *pages, unsigned int n, gnttab_unmap_grant_ref_t *ret_undo);

#endif
