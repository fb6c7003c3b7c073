/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_SAMPLE_H
#define LABD_PLAN_SAMPLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "plan/spec.h"
#include "store/events.h"

/**
 * struct sample_value - one number of one run
 * @valid: there is a number; if not, @note says why
 * @value: in the metric's unit
 * @n_events: events, pairs or array elements that it was made of
 * @note: for a person, may be empty
 */
struct sample_value {
	bool valid;
	double value;
	uint64_t n_events;
	char note[160];
};

int sample_compute(struct events_db *db, int64_t run, const struct spec_metric *metric,
		   const json_t *workload, int64_t measured_ns, bool lossy,
		   struct sample_value *ret_sample);
int sample_run(struct events_db *db, int64_t run, const struct spec *spec, const json_t *done,
	       const struct ingest_result *result, struct sample_value *ret_samples);

#endif
