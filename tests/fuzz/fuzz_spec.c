// SPDX-License-Identifier: GPL-2.0-only
/* Any body gives a spec that can be planned or whose family is refused, or one problem; never more,
 * never less. */
#include <stdlib.h>
#include <string.h>

#include "plan/family.h"
#include "plan/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct problem problem = {};
	struct spec *spec = NULL;
	struct plan *plan;
	int ret;

	ret = spec_parse((const char *)data, size, &spec, &problem);
	if (ret) {
		if (spec || problem.status < 400 || problem.status > 499 || !problem.detail[0])
			abort();
		return 0;
	}
	if (problem.status || !spec->n_arms || !spec->rounds || !spec->n_scenarios)
		abort();
	if (spec->primary_arm < 1 || spec->primary_arm >= spec->n_arms)
		abort();
	ret = family_check(spec, &problem);
	if ((ret != 0) != (problem.status == 422))
		abort();
	if (!plan_make(spec, &plan)) {
		if (plan->n_slots != spec->rounds * spec->n_arms || strlen(plan->sha256) != 64)
			abort();
		plan_free(plan);
	}
	spec_free(spec);
	return 0;
}
