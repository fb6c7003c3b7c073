// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "base/util.h"
#include "machine/drivers.h"

static const struct machine_ops *const drivers[] = {
	&qemu_machine,
	&bochs_machine,
};

/** machine_list() - all drivers there are; @ret_count of them */
const struct machine_ops *const *machine_list(size_t *ret_count)
{
	*ret_count = ARRAY_SIZE(drivers);
	return drivers;
}

/** machine_find() - the driver of that name, or NULL */
const struct machine_ops *machine_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (!strcmp(drivers[i]->name, name))
			return drivers[i];
	return NULL;
}
