/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef CHURN_TRACING_H
#define CHURN_TRACING_H

#include <stdbool.h>

int churn_tracing(bool on);

#endif
