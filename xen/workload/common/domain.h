/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GNT_DOMAIN_H
#define GNT_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

#include <xenctrl.h>
#include <xenforeignmemory.h>
#include <xen/grant_table.h>

#define GNT_FIRST_REF 8u      /* the lower ones belong to the toolstack */
#define GNT_FIRST_GFN 0x1000u /* anywhere; the domain has no other memory */

/**
 * struct gnt_domain - a domain that never runs and grants its pages to this one
 * @xc:		the toolstack's interface
 * @fmem:	for mapping what belongs to the domain
 * @table_map:	the mapping of its grant table
 * @table:	its grant table, one entry for each reference
 * @memory:	all its pages in a row, as the owner sees them: a mapping that stays for the whole
 *		run and has nothing to do with grants
 * @domid:	its number
 * @pages:	how many pages it has; page i is granted by reference GNT_FIRST_REF + i
 * @exists:	whether there is a domain to destroy
 */
struct gnt_domain {
	xc_interface *xc;
	xenforeignmemory_handle *fmem;
	xenforeignmemory_resource_handle *table_map;
	grant_entry_v1_t *table;
	uint8_t *memory;
	uint32_t domid;
	unsigned int pages;
	bool exists;
};

int gnt_domain_create(struct gnt_domain *d, unsigned int pages);
int gnt_domain_destroy(struct gnt_domain *d);
void *gnt_domain_page(const struct gnt_domain *d, unsigned int page);
bool gnt_domain_in_use(const struct gnt_domain *d, unsigned int page);
unsigned int gnt_domain_leaked(const struct gnt_domain *d);

#endif
