/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHURN_HOLD_H
#define CHURN_HOLD_H

#include <stddef.h>
#include <stdint.h>

/**
 * struct hold - pages kept from being freed
 * @pipe:	both ends of the pipe that refers to them, owned
 * @pages:	number of pages in the pipe
 */
struct hold {
	int pipe[2];
	size_t pages;
};

int hold_create(struct hold *h, size_t max_pages);
void hold_destroy(struct hold *h);
int hold_pages(struct hold *h, char *mem, const uint64_t *offsets, size_t n);
int hold_next(struct hold *h, void *page);

#endif
