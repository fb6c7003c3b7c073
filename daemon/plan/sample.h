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
 * @low: of a p99.9, the lower end of its 95 % interval from order statistics, else NAN
 * @high: the upper end, NAN also below P999_INTERVAL_N values, where none exists
 * @note: for a person, may be empty
 */
struct sample_value {
	bool valid;
	double value;
	double low;
	double high;
	uint64_t n_events;
	char note[256];
};

/**
 * struct sample_raw - the values that a number is made of
 * @values: in the unit of the event's field, or ns; in no order
 * @note: what was left out or why there are none, for a person, may be empty
 */
struct sample_raw {
	int64_t *values;
	size_t n;
	char note[160];
};

bool sample_has_raw(const struct spec_metric *metric);
int sample_raw(struct events_db *db, int64_t run, const struct spec_metric *metric,
	       const json_t *workload, struct sample_raw *ret_raw);
bool sample_lossy(const json_t *done, size_t n_losses);
int sample_compute(struct events_db *db, int64_t run, const struct spec_metric *metric,
		   const json_t *workload, int64_t measured_ns, bool lossy,
		   struct sample_value *ret_sample);
int sample_run(struct events_db *db, int64_t run, const struct spec *spec, const json_t *done,
	       const struct ingest_result *result, struct sample_value *ret_samples);

#endif
