// SPDX-License-Identifier: GPL-2.0-only
/* One number per run and metric, from the run's raw events or from what its workload said. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "stats/percentile.h"
#include "plan/sample.h"

static void no_value(struct sample_value *sample, const char *why)
{
	sample->valid = false;
	snprintf(sample->note, sizeof(sample->note), "%s", why);
}

static void set_value(struct sample_value *sample, double value)
{
	sample->valid = true;
	sample->value = value;
}

static void set_rate(struct sample_value *sample, int64_t measured_ns)
{
	if (measured_ns <= 0)
		no_value(sample, "the measured span is not known");
	else
		set_value(sample, (double)sample->n_events * 1e9 / (double)measured_ns);
}

static double sum_i64(const int64_t *values, size_t n)
{
	__int128 sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return (double)sum;
}

/* @sorted has at least P999_MIN_N values. */
static void set_interval(struct sample_value *sample, const int64_t *sorted, size_t n)
{
	size_t low, high;

	if (p999_interval(n, &low, &high))
		return;
	sample->low = (double)sorted[low - 1];
	if (high)
		sample->high = (double)sorted[high - 1];
	else
		snprintf(sample->note, sizeof(sample->note),
			 "fewer than %d events: the p99.9 has no upper bound", P999_INTERVAL_N);
}

static void set_percentile(struct sample_value *sample, const int64_t *sorted, size_t n,
			   unsigned int per_mille)
{
	size_t least = 1000 / (1000 - per_mille);
	int64_t value = 0;

	if (n < least) {
		snprintf(sample->note, sizeof(sample->note),
			 "fewer than %zu events: a p%g would be the maximum", least,
			 per_mille / 10.0);
		return;
	}
	percentile_i64(sorted, n, per_mille, &value);
	set_value(sample, (double)value);
	if (per_mille == 999)
		set_interval(sample, sorted, n);
}

/* @values are sorted here if need be; sample->n_events becomes @n. */
static void aggregate(struct sample_value *sample, enum metric_agg agg, int64_t *values, size_t n,
		      int64_t measured_ns, bool lossy)
{
	double median = 0;

	sample->n_events = n;
	switch (agg) {
	case AGG_COUNT:
		set_value(sample, (double)n);
		return;
	case AGG_SUM:
		set_value(sample, sum_i64(values, n));
		return;
	case AGG_RATE:
		set_rate(sample, measured_ns);
		return;
	default:
		break;
	}
	if (!n) {
		no_value(sample, "no events");
		return;
	}
	sort_i64(values, n);
	switch (agg) {
	case AGG_MEDIAN:
		median_i64(values, n, &median);
		set_value(sample, median);
		break;
	case AGG_P99:
		set_percentile(sample, values, n, 990);
		break;
	case AGG_P999:
		if (lossy)
			no_value(sample, "the run lost events");
		else
			set_percentile(sample, values, n, 999);
		break;
	case AGG_MAX:
		set_value(sample, (double)values[n - 1]);
		break;
	default:
		no_value(sample, "this aggregate needs another source");
	}
}

static int raw_event(struct events_db *db, int64_t run, const struct spec_metric *metric,
		     struct sample_raw *raw)
{
	int ret;

	ret = metric->field
		      ? events_values(db, run, metric->event, metric->field, &raw->values, &raw->n)
		      : -ENOENT;
	if (ret == -ENOENT || ret == -EINVAL) {
		snprintf(raw->note, sizeof(raw->note),
			 ret == -ENOENT ? "%.60s has no field %.60s"
					: "of %.60s, the field %.60s is no number",
			 metric->event, metric->field ?: "");
		return -ENODATA;
	}
	return ret;
}

static int raw_pair(struct events_db *db, int64_t run, const struct spec_metric *metric,
		    struct sample_raw *raw)
{
	struct event_pairs pairs;
	int ret;

	ret = events_pairs(db, run, metric->begin, metric->end, metric->keys, metric->n_keys,
			   &pairs);
	if (ret == -ENOENT || ret == -EINVAL) {
		snprintf(raw->note, sizeof(raw->note),
			 "a key is not a number that both events have");
		return -ENODATA;
	}
	if (ret)
		return ret;
	raw->values = pairs.durations;
	raw->n = pairs.n;
	if (pairs.unmatched || pairs.excluded)
		snprintf(raw->note, sizeof(raw->note),
			 "%zu events without a partner, %zu pairs cut out beside lost events",
			 pairs.unmatched, pairs.excluded);
	return 0;
}

static int raw_array(const struct spec_metric *metric, const json_t *workload,
		     struct sample_raw *raw)
{
	const json_t *array = json_object_get(workload, metric->workload_key);
	size_t n = json_array_size(array);

	if (!json_is_array(array)) {
		snprintf(raw->note, sizeof(raw->note),
			 array ? "%.100s of the workload is no array"
			       : "the workload did not say %.100s",
			 metric->workload_key);
		return -ENODATA;
	}
	raw->values = malloc((n + 1) * sizeof(*raw->values));
	if (!raw->values)
		return -ENOMEM;
	for (raw->n = 0; raw->n < n; raw->n++) {
		const json_t *element = json_array_get(array, raw->n);

		if (!json_is_integer(element)) {
			free(raw->values);
			*raw = (struct sample_raw){0};
			snprintf(raw->note, sizeof(raw->note),
				 "the workload's array holds what is no integer");
			return -ENODATA;
		}
		raw->values[raw->n] = json_integer_value(element);
	}
	return 0;
}

/**
 * sample_has_raw() - is the metric's number made of values that have a distribution?
 *
 * Not so a count, a rate, a ratio and a number that the workload printed.
 */
bool sample_has_raw(const struct spec_metric *metric)
{
	switch (metric->agg) {
	case AGG_SUM:
	case AGG_MEDIAN:
	case AGG_P99:
	case AGG_P999:
	case AGG_MAX:
		return true;
	default:
		return false;
	}
}

/**
 * sample_raw() - the values that a run's number is made of
 * @db: where the run's events are; not used for what the workload printed
 * @metric: of a spec that was checked; sample_has_raw(), or of pairs or an array
 * @workload: JSON object that the workload printed, NULL if it printed none
 * @ret_raw: the caller frees its values; also filled with a note at -ENODATA
 *
 * Return: 0, -ENODATA where the run cannot have such values, which the note explains, or another
 * negative errno when the store cannot be read.
 */
int sample_raw(struct events_db *db, int64_t run, const struct spec_metric *metric,
	       const json_t *workload, struct sample_raw *ret_raw)
{
	struct sample_raw raw = {0};
	int ret = -EINVAL;

	switch (metric->source) {
	case METRIC_EVENT:
		ret = raw_event(db, run, metric, &raw);
		break;
	case METRIC_PAIR:
		ret = raw_pair(db, run, metric, &raw);
		break;
	case METRIC_WORKLOAD:
		ret = raw_array(metric, workload, &raw);
		break;
	case METRIC_RATIO:
		break;
	}
	if (!ret || ret == -ENODATA)
		*ret_raw = raw;
	return ret;
}

static int sample_values(struct events_db *db, int64_t run, const struct spec_metric *metric,
			 const json_t *workload, int64_t measured_ns, bool lossy,
			 struct sample_value *sample)
{
	struct sample_raw raw;
	size_t len;
	int ret;

	ret = sample_raw(db, run, metric, workload, &raw);
	if (ret == -ENODATA) {
		no_value(sample, raw.note);
		return 0;
	}
	if (ret)
		return ret;
	aggregate(sample, metric->agg, raw.values, raw.n, measured_ns, lossy);
	free(raw.values);
	len = strlen(sample->note);
	if (*raw.note)
		snprintf(sample->note + len, sizeof(sample->note) - len, "%s%s", len ? "; " : "",
			 raw.note);
	return 0;
}

/* No need to read the events: the store knows how many there are. */
static int sample_count(struct events_db *db, int64_t run, const struct spec_metric *metric,
			int64_t measured_ns, struct sample_value *sample)
{
	int ret;

	ret = events_count(db, run, metric->event, &sample->n_events);
	if (ret)
		return ret;
	if (metric->agg == AGG_COUNT)
		set_value(sample, (double)sample->n_events);
	else
		set_rate(sample, measured_ns);
	return 0;
}

/* A sum or a count; -ENOENT and -EINVAL as events_values(). */
static int term(struct events_db *db, int64_t run, const struct spec_term *of, double *ret_value,
		uint64_t *ret_n)
{
	uint64_t count;
	int64_t *values;
	size_t n;
	int ret;

	if (!of->field) {
		ret = events_count(db, run, of->event, &count);
		if (ret)
			return ret;
		*ret_value = (double)count;
		*ret_n = count;
		return 0;
	}
	ret = events_values(db, run, of->event, of->field, &values, &n);
	if (ret)
		return ret;
	*ret_value = sum_i64(values, n);
	*ret_n = n;
	free(values);
	return 0;
}

static int sample_ratio(struct events_db *db, int64_t run, const struct spec_metric *metric,
			struct sample_value *sample)
{
	uint64_t n_num, n_den;
	double num, den;
	int ret;

	ret = term(db, run, &metric->num, &num, &n_num);
	ret = ret ?: term(db, run, &metric->den, &den, &n_den);
	if (ret == -ENOENT || ret == -EINVAL) {
		no_value(sample, "a field is not a number that its event has");
		return 0;
	}
	if (ret)
		return ret;
	sample->n_events = n_num + n_den;
	if (den == 0)
		no_value(sample, "the denominator is 0");
	else
		set_value(sample, num / den);
	return 0;
}

static void sample_number(const struct spec_metric *metric, const json_t *workload,
			  struct sample_value *sample)
{
	const json_t *value = json_object_get(workload, metric->workload_key);

	if (!json_is_number(value)) {
		snprintf(sample->note, sizeof(sample->note),
			 value ? "%.100s of the workload is no number"
			       : "the workload did not say %.100s",
			 metric->workload_key);
		return;
	}
	sample->n_events = 1;
	set_value(sample, json_number_value(value));
}

/**
 * sample_compute() - a run's number for one metric
 * @db: where the run's events are
 * @metric: of a spec that was checked
 * @workload: JSON object that the workload printed, NULL if it printed none
 * @measured_ns: time that the run measured, for rates
 * @lossy: the run lost events, so that it has no p99.9 of them: where pairs beside a gap are cut
 * out, the longest are the likeliest to be missed
 * @ret_sample: what cannot be computed from sound events is a value that is not valid and says why
 *
 * An event that did not come, or that this arm's kernel does not have, counts 0.
 *
 * Return: 0, or a negative errno when the store cannot be read.
 */
int sample_compute(struct events_db *db, int64_t run, const struct spec_metric *metric,
		   const json_t *workload, int64_t measured_ns, bool lossy,
		   struct sample_value *ret_sample)
{
	bool counts = metric->agg == AGG_COUNT || metric->agg == AGG_RATE;
	struct sample_value sample = {.low = NAN, .high = NAN};
	int ret = 0;

	if (metric->source == METRIC_RATIO)
		ret = sample_ratio(db, run, metric, &sample);
	else if (metric->source == METRIC_EVENT && counts)
		ret = sample_count(db, run, metric, measured_ns, &sample);
	else if (metric->source == METRIC_WORKLOAD && metric->agg == AGG_VALUE)
		sample_number(metric, workload, &sample);
	else
		ret = sample_values(db, run, metric, workload, measured_ns,
				    lossy && metric->source != METRIC_WORKLOAD, &sample);
	if (!ret)
		*ret_sample = sample;
	return ret;
}

/**
 * sample_lossy() - did the run lose events?
 * @done: the agent's last word: the rings' books
 * @n_losses: gaps that the captures show
 */
bool sample_lossy(const json_t *done, size_t n_losses)
{
	const json_t *ring;
	size_t i;

	json_array_foreach (json_object_get(done, "rings"), i, ring) {
		static const char *const keys[] = {"entries", "overrun", "dropped",
						   "commit_overrun"};

		for (size_t k = 0; k < ARRAY_SIZE(keys); k++) {
			if (json_integer_value(json_object_get(ring, keys[k])))
				return true;
		}
	}
	return n_losses > 0;
}

/**
 * sample_run() - a run's numbers for all metrics
 * @done: the agent's last word: what the workload printed, the rings' books
 * @result: of the ingest that stored the run's events
 * @ret_samples: one for each metric of @spec
 *
 * Return: 0, or a negative errno when the store cannot be read.
 */
int sample_run(struct events_db *db, int64_t run, const struct spec *spec, const json_t *done,
	       const struct ingest_result *result, struct sample_value *ret_samples)
{
	const json_t *workload = json_object_get(done, "workload");
	int64_t measured = json_integer_value(json_object_get(done, "measure_ns"));
	bool lossy = sample_lossy(done, result->n_losses);
	int ret = 0;

	for (size_t i = 0; !ret && i < spec->n_metrics; i++)
		ret = sample_compute(db, run, &spec->metrics[i], workload, measured, lossy,
				     &ret_samples[i]);
	return ret;
}
