// SPDX-License-Identifier: GPL-2.0-only
/* One metric of the spec: where its number comes from and how the events become one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "plan/spec_read.h"

#define FIELD_MAX 64

static const char *const agg_names[] = {
	[AGG_VALUE] = "value",	 [AGG_COUNT] = "count", [AGG_SUM] = "sum",
	[AGG_MEDIAN] = "median", [AGG_P99] = "p99",	[AGG_P999] = "p99.9",
	[AGG_MAX] = "max",	 [AGG_RATE] = "rate",	[AGG_RATIO] = "ratio",
};

/** metric_agg_name() - as the spec spells it */
const char *metric_agg_name(enum metric_agg agg)
{
	return agg_names[agg];
}

static int read_agg(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		    void *object)
{
	struct spec_metric *metric = object;
	size_t i;
	int ret;

	ret = spec_take_choice(reader, value, agg_names, ARRAY_SIZE(agg_names), &i);
	if (!ret)
		metric->agg = i;
	return ret;
}

static int read_better(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		       void *object)
{
	static const char *const names[] = {"lower", "none", "higher"};
	struct spec_metric *metric = object;
	size_t i;
	int ret;

	ret = spec_take_choice(reader, value, names, ARRAY_SIZE(names), &i);
	if (!ret)
		metric->better = (int)i - 1;
	return ret;
}

static int read_event(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		      void *object)
{
	return spec_read_event(reader, value, (char *)object + key->offset);
}

/* A field of a trace event or a key of a workload's object. */
static int read_field(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		      void *object)
{
	const char *text;
	int ret;

	ret = spec_take_string(reader, value, FIELD_MAX, &text);
	if (ret)
		return ret;
	if (!spec_is_word(text, FIELD_MAX, ""))
		return spec_problem(reader, NULL, "May hold only letters, digits and '_'.");
	return spec_store_string((char **)((char *)object + key->offset), text);
}

static int read_pair_key(struct spec_reader *reader, json_t *value, void *slot)
{
	static const struct spec_key at_slot;

	return read_field(reader, &at_slot, value, slot);
}

static const struct spec_list pair_keys = {read_pair_key, offsetof(struct spec_metric, n_keys),
					   sizeof(char *)};

static const struct spec_key term_keys[] = {
	{"event", read_event, offsetof(struct spec_term, event), true},
	{"field", read_field, offsetof(struct spec_term, field)},
	{NULL}};

static int read_term(struct spec_reader *reader, const struct spec_key *key, json_t *value,
		     void *object)
{
	return spec_read_object(reader, term_keys, value, (char *)object + key->offset);
}

static const struct spec_key metric_keys[] = {
	{"name", spec_read_name, offsetof(struct spec_metric, name), true},
	{"unit", spec_read_text, offsetof(struct spec_metric, unit), true, 1, 16},
	{"event", read_event, offsetof(struct spec_metric, event)},
	{"field", read_field, offsetof(struct spec_metric, field)},
	{"begin", read_event, offsetof(struct spec_metric, begin)},
	{"end", read_event, offsetof(struct spec_metric, end)},
	{"keys", spec_read_list, offsetof(struct spec_metric, keys), false, 1, SPEC_MAX_KEYS,
	 &pair_keys},
	{"num", read_term, offsetof(struct spec_metric, num)},
	{"den", read_term, offsetof(struct spec_metric, den)},
	{"workload_key", read_field, offsetof(struct spec_metric, workload_key)},
	{"agg", read_agg, 0},
	{"better", read_better, 0},
	{"primary", spec_read_bool, offsetof(struct spec_metric, primary)},
	{"not_a_result", spec_read_text, offsetof(struct spec_metric, not_a_result), false, 1, 200},
	{NULL}};

/* Exactly one of the four sources, whole and without keys of another. */
static int find_source(struct spec_reader *reader, struct spec_metric *metric)
{
	bool pair = metric->begin || metric->end || metric->n_keys;
	bool ratio = metric->num.event || metric->den.event;
	int sources = !!metric->event + pair + ratio + !!metric->workload_key;

	if (sources != 1)
		return spec_problem(reader, NULL,
				    "Must have exactly one source: event, begin and end with "
				    "keys, num and den, or workload_key; this one has %s.",
				    sources ? "several" : "none");
	if (metric->field && !metric->event)
		return spec_problem(reader, "field", "Belongs to event, which is missing.");
	if (pair && !metric->begin)
		return spec_problem(reader, "begin", "Required beside end and keys, but missing.");
	if (pair && !metric->end)
		return spec_problem(reader, "end", "Required beside begin and keys, but missing.");
	if (pair && !metric->n_keys)
		return spec_problem(
			reader, "keys",
			"Required beside begin and end, but missing: the fields "
			"that tell which end belongs to which begin (\"pid\", \"cpu\").");
	if (ratio && !metric->num.event)
		return spec_problem(reader, "num", "Required beside den, but missing.");
	if (ratio && !metric->den.event)
		return spec_problem(reader, "den", "Required beside num, but missing.");

	metric->source = pair		 ? METRIC_PAIR
			 : ratio	 ? METRIC_RATIO
			 : metric->event ? METRIC_EVENT
					 : METRIC_WORKLOAD;
	return 0;
}

/* The aggregates that make sense for the source, with or without a field. */
static int check_agg(struct spec_reader *reader, struct spec_metric *metric, bool has_agg)
{
	bool counts = metric->agg == AGG_COUNT || metric->agg == AGG_RATE;

	if (metric->source != METRIC_WORKLOAD && !has_agg)
		return spec_problem(reader, "agg", "Required, but missing.");
	if ((metric->source == METRIC_RATIO) != (metric->agg == AGG_RATIO))
		return spec_problem(reader, "agg",
				    "The aggregate ratio goes with num and den, and only "
				    "with them.");
	if (metric->source != METRIC_WORKLOAD && metric->agg == AGG_VALUE)
		return spec_problem(reader, "agg",
				    "The aggregate value is for a workload_key only.");
	if (metric->source == METRIC_WORKLOAD && metric->agg == AGG_RATE)
		return spec_problem(reader, "agg", "A workload_key has no rate.");
	if (metric->source != METRIC_EVENT)
		return 0;
	if (counts && metric->field)
		return spec_problem(reader, "field", "%s takes the whole event and no field.",
				    metric_agg_name(metric->agg));
	if (!counts && !metric->field)
		return spec_problem(reader, "field", "Required for %s, but missing.",
				    metric_agg_name(metric->agg));
	return 0;
}

/**
 * spec_read_metric() - one item of "metrics"
 * @slot: zeroed struct spec_metric; what was read is in it also after a mistake
 *
 * Return: 0, -EINVAL with the problem set, or -ENOMEM.
 */
int spec_read_metric(struct spec_reader *reader, json_t *value, void *slot)
{
	struct spec_metric *metric = slot;
	int ret;

	ret = spec_read_object(reader, metric_keys, value, metric);
	if (ret)
		return ret;
	ret = find_source(reader, metric);
	if (ret)
		return ret;
	ret = check_agg(reader, metric, json_object_get(value, "agg") != NULL);
	if (ret)
		return ret;
	if (metric->primary && !metric->better)
		return spec_problem(reader, "better",
				    "Must be lower or higher: the metric is primary.");
	if (metric->primary && metric->not_a_result)
		return spec_problem(reader, "primary",
				    "A metric that is not a result cannot be primary.");
	return 0;
}

/** spec_metric_free() - release what a metric holds */
void spec_metric_free(struct spec_metric *metric)
{
	free(metric->name);
	free(metric->unit);
	free(metric->event);
	free(metric->field);
	free(metric->begin);
	free(metric->end);
	for (size_t i = 0; i < metric->n_keys; i++)
		free(metric->keys[i]);
	free(metric->num.event);
	free(metric->num.field);
	free(metric->den.event);
	free(metric->den.field);
	free(metric->workload_key);
	free(metric->not_a_result);
}
