/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GCHURN_REPORT_H
#define GCHURN_REPORT_H

#include <stdio.h>

#include "churn.h"

void gchurn_report(FILE *out, const struct gchurn_options *o, const struct gchurn_result *r,
		   uint32_t domid);

#endif
