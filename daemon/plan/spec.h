/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_PLAN_SPEC_H
#define LABD_PLAN_SPEC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/problem.h"

#define SPEC_MAX_BODY (1u << 20)
#define SPEC_MAX_ARMS 8
#define SPEC_MAX_SCENARIOS 32
#define SPEC_MAX_ROUNDS 100
#define SPEC_MAX_REPEATS 20
#define SPEC_MAX_EVENTS 64
#define SPEC_MAX_METRICS 64
#define SPEC_MAX_KEYS 4
#define SPEC_MAX_RUNS 20000 /* of a whole plan */

enum spec_test {
	SPEC_TEST_RANK,	  /* of all boots' values, the default */
	SPEC_TEST_PAIRED, /* of the pairs' log ratios */
};

struct spec_arm {
	char *name;
	char *build;
};

struct spec_scenario {
	char *name;
	char *workload;
	json_t *args;		/* object, owned by the spec */
	unsigned int timeout_s; /* of one run, 1..3600 */
};

enum metric_source {
	METRIC_EVENT,	 /* aggregate of @field of @event (count and rate need no field) */
	METRIC_PAIR,	 /* aggregate of the time between @begin and @end, ns */
	METRIC_RATIO,	 /* @num / @den, each a sum or a count */
	METRIC_WORKLOAD, /* key of the workload's JSON: a number, or an array with an aggregate */
};

enum metric_agg {
	AGG_VALUE, /* METRIC_WORKLOAD without an aggregate: the number itself */
	AGG_COUNT,
	AGG_SUM,
	AGG_MEDIAN,
	AGG_P99,
	AGG_P999,
	AGG_MAX,
	AGG_RATE, /* events per second of the measured span */
	AGG_RATIO,
};

/**
 * struct spec_term - numerator or denominator of a ratio
 * @event: "system:event"
 * @field: summed field, NULL counts events
 */
struct spec_term {
	char *event;
	char *field;
};

/**
 * struct spec_metric - one number per run
 * @better: -1 lower is better, 1 higher is better, 0 neither
 * @primary: belongs to the family that verdicts are corrected over
 * @not_a_result: the spec says why the figure is shown but is no result on this machine, or NULL
 */
struct spec_metric {
	char *name;
	char *unit;
	enum metric_source source;
	enum metric_agg agg;
	char *event;
	char *field;
	char *begin;
	char *end;
	char *keys[SPEC_MAX_KEYS];
	size_t n_keys;
	struct spec_term num;
	struct spec_term den;
	char *workload_key;
	int better;
	bool primary;
	char *not_a_result;
};

/**
 * struct spec - the experiment as it was asked for, with the defaults filled in
 * @aa: both arms are one build, so that what differs is the machine's own noise
 * @alpha: error rate of the whole family
 * @test: what p_holm is made from
 * @primary_arm: index of the arm whose comparison with the base (index 0) makes the family
 * @primary_scenario: by scenario: is in the family
 */
struct spec {
	char *name;
	char *machine;
	char *subject;
	struct spec_arm arms[SPEC_MAX_ARMS];
	size_t n_arms;
	unsigned int rounds;
	unsigned int repeats;
	uint64_t seed;
	struct spec_scenario scenarios[SPEC_MAX_SCENARIOS];
	size_t n_scenarios;
	char *events[SPEC_MAX_EVENTS]; /* "system:event"; the system xen is the hypervisor */
	size_t n_events;
	char *kprobes[SPEC_MAX_EVENTS]; /* tracefs syntax: "p:labd/zap tdp_mmu_zap_leafs" */
	size_t n_kprobes;
	unsigned int buffer_kib_per_cpu;
	char *clock;
	uint32_t xen_mask; /* xentrace's, beyond what @events need */
	struct spec_metric metrics[SPEC_MAX_METRICS];
	size_t n_metrics;
	unsigned int boot_timeout_s; /* power-on to the agent, 1..600 */
	bool aa;
	double alpha;
	enum spec_test test;
	size_t primary_arm;
	bool primary_scenario[SPEC_MAX_SCENARIOS];
	double margin;	   /* shift that is still "no change", as a fraction; 0 when not said */
	uint64_t max_lost; /* events a run may lose before its pair is void */
	char *cmdline; /* declared additions to the kernel's command line, the same in each arm */
	char *xen_cmdline; /* the same for the hypervisor's */
	json_t *source;	   /* the whole document as sent */
};

int spec_parse(const char *body, size_t length, struct spec **ret_spec, struct problem *problem);
void spec_free(struct spec *spec);
const char *metric_agg_name(enum metric_agg agg);
const char *spec_test_name(enum spec_test test);
char *spec_kprobe_event(const char *probe);
bool spec_event_is_xen(const char *event);
uint32_t spec_xen_mask(const struct spec *spec);
int spec_workload_argv(const json_t *args, json_t **ret_argv, struct problem *problem,
		       const char *key);

#endif
