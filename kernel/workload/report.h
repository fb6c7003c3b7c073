/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHURN_REPORT_H
#define CHURN_REPORT_H

#include <stdio.h>

#include "options.h"
#include "rounds.h"

void churn_report(FILE *out, const struct churn_options *o, const struct churn_result *r);

#endif
