// SPDX-License-Identifier: GPL-2.0-only
/* Every mistake that a spec can hold is one sentence that names its key. */
#include <check.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "plan/family.h"
#include "plan/spec.h"

static const char good[] =
	"{\"name\": \"empty leaf \xc3\xa4\", \"machine\": \"qemu\", \"subject\": \"kvm\","
	" \"arms\": [{\"name\": \"base\", \"build\": \"kvm-base\"}, {\"name\": \"hint\", \"build\": \"kvm-hint\"}],"
	" \"rounds\": 5,"
	" \"scenarios\": [{\"name\": \"same16\", \"workload\": \"kvm-churn\", \"args\": {\"mode\": \"same\","
	" \"chunk_mib\": 16, \"verify\": true, \"writeback\": false}}],"
	" \"trace\": {\"events\": [\"kvmmmu:zap\"], \"kprobes\": [\"p:labd/in do_it\", \"r16:labd/out do_it\"]},"
	" \"metrics\": [{\"name\": \"total\", \"event\": \"kvmmmu:zap\", \"field\": \"ns\", \"agg\": \"sum\","
	" \"unit\": \"ns\", \"better\": \"lower\", \"primary\": true}]}";

static int parse(const char *body, struct spec **ret_spec, struct problem *problem)
{
	memset(problem, 0, sizeof(*problem));
	return spec_parse(body, strlen(body), ret_spec, problem);
}

/* The good spec with one text replaced; the caller frees. */
static char *edit(const char *from, const char *to)
{
	const char *at = strstr(good, from);

	ck_assert_msg(at != NULL, "%s is not in the good spec", from);
	return str_printf("%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
}

START_TEST(good_spec)
{
	struct problem problem;
	struct spec *spec;
	json_t *argv;
	char *text;

	ck_assert_msg(!parse(good, &spec, &problem), "%s: %s", problem.key, problem.detail);
	ck_assert_uint_eq(spec->n_arms, 2);
	ck_assert_str_eq(spec->arms[1].build, "kvm-hint");
	ck_assert_uint_eq(spec->repeats, 1);
	ck_assert_uint_eq(spec->seed, 1);
	ck_assert(!spec->aa);
	ck_assert_double_eq(spec->alpha, 0.05);
	ck_assert_int_eq(spec->test, SPEC_TEST_RANK);
	ck_assert_uint_eq(spec->primary_arm, 1);
	ck_assert(spec->primary_scenario[0]);
	ck_assert_uint_eq(spec->max_lost, 0);
	ck_assert_str_eq(spec->cmdline, "");
	ck_assert_str_eq(spec->clock, "mono");
	ck_assert_uint_eq(spec->scenarios[0].timeout_s, 120);
	ck_assert_int_eq(spec->metrics[0].source, METRIC_EVENT);
	ck_assert_int_eq(spec->metrics[0].better, -1);
	ck_assert_int_eq(spec_workload_argv(spec->scenarios[0].args, &argv, &problem, "args"), 0);
	text = json_dumps(argv, JSON_COMPACT);
	ck_assert_str_eq(text, "[\"--mode\",\"same\",\"--chunk-mib\",\"16\",\"--verify\"]");
	free(text);
	json_decref(argv);
	spec_free(spec);
}
END_TEST

/* What verdicts are for, wherever in the object it stands; and the family that it makes. */
START_TEST(primary)
{
	char *body = str_printf(
		"{\"primary\": {\"arm\": \"c\", \"scenarios\": [\"t\", \"s\"]}, \"alpha\": 0.2,"
		" \"test\": \"paired\", \"kind\": \"ab\", \"name\": \"n\", \"machine\": \"m\","
		" \"subject\": \"k\", \"rounds\": 5, \"arms\": [{\"name\": \"a\", \"build\": \"x\"},"
		" {\"name\": \"b\", \"build\": \"y\"}, {\"name\": \"c\", \"build\": \"z\"}],"
		" \"scenarios\": [{\"name\": \"s\", \"workload\": \"w\"},"
		" {\"name\": \"r\", \"workload\": \"w\"}, {\"name\": \"t\", \"workload\": \"w\"}],"
		" \"metrics\": [{\"name\": \"l\", \"unit\": \"1\", \"workload_key\": \"l\"},"
		" {\"name\": \"m\", \"unit\": \"1\", \"workload_key\": \"m\", \"better\": \"lower\","
		" \"primary\": true}]}");
	struct problem problem;
	struct family family;
	struct spec *spec;
	json_t *json;
	char *text;

	ck_assert_msg(!parse(body, &spec, &problem), "%s: %s", problem.key, problem.detail);
	ck_assert_uint_eq(spec->primary_arm, 2);
	ck_assert(spec->primary_scenario[0] && !spec->primary_scenario[1] &&
		  spec->primary_scenario[2]);
	ck_assert_double_eq(spec->alpha, 0.2);
	ck_assert_int_eq(spec->test, SPEC_TEST_PAIRED);
	family = family_of(spec);
	ck_assert_uint_eq(family.n_scenarios, 2);
	ck_assert_uint_eq(family.n_metrics, 1);
	ck_assert_uint_eq(family.size, 2);
	ck_assert_double_eq(family.p_floor, 0.0625);
	ck_assert_int_eq(family_check(spec, &problem), 0);
	json = family_to_json(spec);
	text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(3));
	ck_assert_str_eq(text, "{\"arm\":\"c\",\"scenarios\":[\"s\",\"t\"],\"metrics\":[\"m\"],"
			       "\"size\":2,\"alpha\":0.2,\"test\":\"paired\",\"p_floor\":0.0625}");
	free(text);
	json_decref(json);
	spec_free(spec);
	free(body);
}
END_TEST

START_TEST(aa)
{
	char *body =
		edit("\"build\": \"kvm-hint\"}],", "\"build\": \"kvm-base\"}], \"kind\": \"aa\",");
	struct problem problem;
	struct spec *spec;

	ck_assert_msg(!parse(body, &spec, &problem), "%s: %s", problem.key, problem.detail);
	ck_assert(spec->aa);
	spec_free(spec);
	free(body);
}
END_TEST

START_TEST(xen)
{
	static const struct {
		const char *trace;
		uint32_t mask;
	} traces[] = {
		{"[\"kvmmmu:zap\"]", 0},
		{"[\"kvmmmu:zap\", \"xen:p2m_flush\", \"xen:iotlb_flush\"]", 0x0810f000},
		{"[\"kvmmmu:zap\"], \"xen_mask\": \"0x0002f000\"", 0x0802f000},
		{"[\"kvmmmu:zap\", \"xen:p2m_flush\"], \"xen_mask\": 192512", 0x0812f000},
		{"[\"kvmmmu:zap\"], \"xen_mask\": 0", 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(traces); i++) {
		char *body = edit("[\"kvmmmu:zap\"]", traces[i].trace);
		struct problem problem;
		struct spec *spec;

		ck_assert_msg(!parse(body, &spec, &problem), "%s: %s", problem.key, problem.detail);
		ck_assert_uint_eq(spec_xen_mask(spec), traces[i].mask);
		ck_assert(!spec_event_is_xen(spec->events[0]));
		ck_assert(spec->n_events == 1 || spec_event_is_xen(spec->events[1]));
		ck_assert_str_eq(spec->xen_cmdline, "");
		spec_free(spec);
		free(body);
	}
}
END_TEST

/* A metric that replaces the good one, and what it becomes. */
static const struct {
	const char *metric;
	enum metric_source source;
	enum metric_agg agg;
} metrics[] = {
	{"\"event\": \"kvmmmu:zap\", \"agg\": \"count\"", METRIC_EVENT, AGG_COUNT},
	{"\"event\": \"labd:in\", \"agg\": \"rate\"", METRIC_EVENT, AGG_RATE},
	{"\"event\": \"kvmmmu:zap\", \"field\": \"ns\", \"agg\": \"p99.9\"", METRIC_EVENT,
	 AGG_P999},
	{"\"begin\": \"labd:in\", \"end\": \"labd:out\", \"keys\": [\"pid\"], \"agg\": \"median\"",
	 METRIC_PAIR, AGG_MEDIAN},
	{"\"agg\": \"ratio\", \"num\": {\"event\": \"kvmmmu:zap\", \"field\": \"ns\"}, "
	 "\"den\": {\"event\": \"kvmmmu:zap\"}",
	 METRIC_RATIO, AGG_RATIO},
	{"\"workload_key\": \"madvise_total_ns\"", METRIC_WORKLOAD, AGG_VALUE},
	{"\"workload_key\": \"madvise_ns\", \"agg\": \"max\"", METRIC_WORKLOAD, AGG_MAX},
};

START_TEST(metric_sources)
{
	char *metric = str_printf("[{\"name\": \"m\", \"unit\": \"1\", %s}]}", metrics[_i].metric);
	char *body = edit(strstr(good, "[{\"name\": \"total\""), metric);
	struct problem problem;
	struct spec *spec;

	ck_assert_msg(!parse(body, &spec, &problem), "%s: %s", problem.key, problem.detail);
	ck_assert_int_eq(spec->metrics[0].source, metrics[_i].source);
	ck_assert_int_eq(spec->metrics[0].agg, metrics[_i].agg);
	spec_free(spec);
	free(body);
	free(metric);
}
END_TEST

static const struct {
	const char *from;
	const char *to;
	int status;
	const char *key;
	const char *says;
} mistakes[] = {
	/* no JSON */
	{"\"rounds\": 5,", "\"rounds\": 5", 400, "", "line 1, column"},
	{"\"rounds\": 5,", "\"rounds\": 5, \"rounds\": 6,", 400, "", "twice"},
	{"\xc3\xa4", "\xc3\x28", 400, "", "not valid UTF-8"},
	{"empty leaf", "\\u0000", 400, "", "NUL"},
	{"\"rounds\": 5", "\"rounds\": 99999999999999999999", 400, "", "line 1"},
	{"\"metrics\"", "\"\xff\"", 400, "", "UTF-8"},
	/* keys */
	{"\"rounds\": 5,", "", 422, "rounds", "Required"},
	{"\"rounds\"", "\"runds\"", 422, "runds", "known here are name, kind, machine"},
	{"\"build\": \"kvm-hint\"", "\"biuld\": \"x\"", 422, "arms[1].biuld",
	 "known here are name, build"},
	{", \"build\": \"kvm-hint\"", "", 422, "arms[1].build", "Required"},
	{"\"rounds\"", "\"r\\u001bunds\"", 422, "r?unds", "Unknown"},
	{"\"events\"", "\"event\"", 422, "trace.event", "Unknown"},
	/* types and ranges */
	{"\"rounds\": 5", "\"rounds\": 0", 422, "rounds", "from 1 to 100, not 0"},
	{"\"rounds\": 5", "\"rounds\": 101", 422, "rounds", "from 1 to 100"},
	{"\"rounds\": 5", "\"rounds\": 5.0", 422, "rounds", "integer"},
	{"\"rounds\": 5", "\"rounds\": \"5\"", 422, "rounds", "an integer, not a string"},
	{"\"rounds\": 5", "\"rounds\": null", 422, "rounds", "not null"},
	{"\"rounds\": 5", "\"rounds\": 5, \"seed\": -1", 422, "seed", "from 0"},
	{"\"rounds\": 5", "\"rounds\": 5, \"repeats\": 0", 422, "repeats", "from 1"},
	{"\"rounds\": 5", "\"rounds\": 5, \"margin\": 2", 422, "margin", "fraction"},
	{"\"rounds\": 5", "\"rounds\": 5, \"alpha\": 0", 422, "alpha", "above 0 and below 1"},
	{"\"rounds\": 5", "\"rounds\": 5, \"alpha\": 1", 422, "alpha", "above 0 and below 1"},
	{"\"rounds\": 5", "\"rounds\": 5, \"alpha\": \"5 %\"", 422, "alpha", "a number"},
	{"\"rounds\": 5", "\"rounds\": 5, \"test\": \"t\"", 422, "test", "rank or paired"},
	{"\"rounds\": 5", "\"rounds\": 5, \"test\": null", 422, "test", "rank or paired"},
	{"\"rounds\": 5", "\"rounds\": 5, \"kind\": \"bb\"", 422, "kind", "ab or aa"},
	{"\"rounds\": 5", "\"rounds\": 5, \"kind\": \"aa\"", 422, "arms[1].build",
	 "Must be kvm-base, as in arms[0], where kind is aa"},
	{"\"rounds\": 5", "\"rounds\": 5, \"primary\": \"hint\"", 422, "primary",
	 "an object, not a string"},
	{"\"rounds\": 5", "\"rounds\": 5, \"primary\": {\"arms\": []}", 422, "primary.arms",
	 "known here are arm, scenarios"},
	{"\"rounds\": 5", "\"rounds\": 5, \"primary\": {\"arm\": 1}", 422, "primary.arm",
	 "a string"},
	{"\"rounds\": 5", "\"rounds\": 5, \"primary\": {\"arm\": \"hnt\"}", 422, "primary.arm",
	 "no arm hnt"},
	{"\"rounds\": 5", "\"rounds\": 5, \"primary\": {\"arm\": \"base\"}", 422, "primary.arm",
	 "the base itself"},
	{"\"rounds\": 5", "\"rounds\": 5, \"primary\": {\"scenarios\": []}", 422,
	 "primary.scenarios", "1 to 32 items, not 0"},
	{"\"rounds\": 5", "\"rounds\": 5, \"primary\": {\"scenarios\": [\"same16\", \"same\"]}",
	 422, "primary.scenarios[1]", "no scenario same."},
	{"\"rounds\": 5", "\"rounds\": 5, \"primary\": {\"scenarios\": [\"same16\", \"same16\"]}",
	 422, "primary.scenarios[1]", "same16 is listed twice"},
	{"\"rounds\": 5", "\"rounds\": 5, \"primary\": {\"scenarios\": [\"same16\", 2]}", 422,
	 "primary.scenarios[1]", "a string"},
	{"{\"name\": \"base\", \"build\": \"kvm-base\"}, {\"name\": \"hint\", \"build\": \"kvm-hint\"}],",
	 "{\"name\": \"a\", \"build\": \"x\"}, {\"name\": \"b\", \"build\": \"x\"},"
	 " {\"name\": \"c\", \"build\": \"x\"}], \"kind\": \"aa\",",
	 422, "arms", "exactly two arms of one build where kind is aa, not 3"},
	{"\"rounds\": 5", "\"rounds\": 5, \"cmdline\": \"labd.token=1\"", 422, "cmdline",
	 "lab's own"},
	{"\"rounds\": 5", "\"rounds\": 5, \"cmdline\": \"a -- b\"", 422, "cmdline", "\"--\""},
	{"\"rounds\": 5", "\"rounds\": 5, \"cmdline\": \"a\\nb\"", 422, "cmdline", "printable"},
	{"\"qemu\"", "7", 422, "machine", "a string, not an integer"},
	{"\"qemu\"", "\"\"", 422, "machine", "empty"},
	{"\"qemu\"", "\"a/b\"", 422, "machine", "letters"},
	{"\"qemu\"", "\"..\"", 422, "machine", "letters"},
	{"empty leaf \xc3\xa4", "a\\nb", 422, "name", "one line"},
	{"empty leaf \xc3\xa4", "  ", 422, "name", "one line"},
	{"empty leaf",
	 "0123456789012345678901234567890123456789012345678901234567890123456789"
	 "01234567890123456789012345678901234567890123456789",
	 422, "name", "at most 120 characters"},
	{"{\"name\": \"base\", \"build\": \"kvm-base\"}, ", "", 422, "arms", "2 to 8 items, not 1"},
	{"{\"name\": \"base\", \"build\": \"kvm-base\"}", "5", 422, "arms[0]",
	 "an object, not an integer"},
	{"[{\"name\": \"base\", \"build\": \"kvm-base\"}, {\"name\": \"hint\", \"build\": \"kvm-hint\"}]",
	 "{}", 422, "arms", "a list, not an object"},
	{"\"kvm-churn\"", "\"../init\"", 422, "scenarios[0].workload", "lower-case"},
	{"\"chunk_mib\": 16", "\"chunk_mib\": 1.5", 422, "scenarios[0].args.chunk_mib",
	 "a string, an integer"},
	{"\"chunk_mib\": 16", "\"Chunk\": 16", 422, "scenarios[0].args.Chunk", "lower-case"},
	{"\"chunk_mib\": 16", "\"x\": [1]", 422, "scenarios[0].args.x", "a string, an integer"},
	{"\"args\"", "\"timeout_s\": 0, \"args\"", 422, "scenarios[0].timeout_s", "from 1 to 3600"},
	{"\"events\"", "\"clock\": \"wall\", \"events\"", 422, "trace.clock", "x86-tsc"},
	{"\"events\"", "\"buffer_kib_per_cpu\": 1, \"events\"", 422, "trace.buffer_kib_per_cpu",
	 "from 64"},
	{"[\"kvmmmu:zap\"]", "[\"kvmmmu\"]", 422, "trace.events[0]", "system:event"},
	{"[\"kvmmmu:zap\"]", "[\"kvmmmu:*\"]", 422, "trace.events[0]", "system:event"},
	{"[\"kvmmmu:zap\"]", "[\"../a:b\"]", 422, "trace.events[0]", "system:event"},
	{"p:labd/in do_it", "p:in do_it", 422, "trace.kprobes[0]", "p:group/name symbol"},
	{"p:labd/in do_it", "p:labd/in do_it\\nr:x/y z", 422, "trace.kprobes[0]",
	 "p:group/name symbol"},
	{"p:labd/in do_it", "p:labd/in", 422, "trace.kprobes[0]", "p:group/name symbol"},
	{"p:labd/in do_it", "x:labd/in do_it", 422, "trace.kprobes[0]", "p:group/name symbol"},
	/* clashes */
	{"\"name\": \"hint\"", "\"name\": \"base\"", 422, "arms[1].name",
	 "base is taken by arms[0]"},
	{"r16:labd/out", "r16:labd/in", 422, "trace.kprobes[1]", "labd:in is recorded twice"},
	{"[\"kvmmmu:zap\"]", "[\"kvmmmu:zap\", \"kvmmmu:zap\"]", 422, "trace.events[1]", "twice"},
	{"[\"kvmmmu:zap\"]", "[\"labd:out\", \"kvmmmu:zap\"]", 422, "trace.kprobes[1]", "twice"},
	/* the hypervisor */
	{"[\"kvmmmu:zap\"]", "[\"kvmmmu:zap\", \"xen:zap\"]", 422, "trace.events[1]",
	 "no record xen:zap; known here are page_grant_map"},
	{"[\"kvmmmu:zap\"]", "[\"xen:anchor\", \"xen:anchor\"]", 422, "trace.events[1]", "twice"},
	{"p:labd/in", "p:xen/in", 422, "trace.kprobes[0]", "hypervisor's"},
	{"\"events\"", "\"xen_mask\": 1, \"events\"", 422, "trace.xen_mask", "within 0x0ffff000"},
	{"\"events\"", "\"xen_mask\": \"2f000\", \"events\"", 422, "trace.xen_mask", "0x0002f000"},
	{"\"events\"", "\"xen_mask\": \"0x2f00g\", \"events\"", 422, "trace.xen_mask", "mask"},
	{"\"events\"", "\"xen_mask\": -4096, \"events\"", 422, "trace.xen_mask", "mask"},
	{"\"events\"", "\"xen_mask\": true, \"events\"", 422, "trace.xen_mask", "mask"},
	{"\"events\"", "\"clock\": \"boot\", \"xen_mask\": 4096, \"events\"", 422, "trace.clock",
	 "Must be mono"},
	{"\"rounds\": 5", "\"rounds\": 5, \"xen_cmdline\": \"labd.x\"", 422, "xen_cmdline",
	 "lab's own"},
	{"\"rounds\": 5", "\"rounds\": 5, \"xen_cmdline\": \"x -- y\"", 422, "xen_cmdline",
	 "\"--\""},
	/* metrics */
	{"\"event\": \"kvmmmu:zap\", \"field\"", "\"event\": \"xen:p2m_flush\", \"field\"", 422,
	 "metrics[0].event", "xen:p2m_flush is recorded by neither"},
	{"\"event\": \"kvmmmu:zap\", \"field\"", "\"event\": \"xen:flush\", \"field\"", 422,
	 "metrics[0].event", "no record"},
	{"\"event\": \"kvmmmu:zap\", \"field\"", "\"event\": \"kvmmmu:zop\", \"field\"", 422,
	 "metrics[0].event", "kvmmmu:zop is recorded by neither"},
	{"\"event\": \"kvmmmu:zap\", ", "", 422, "metrics[0]", "exactly one source"},
	{"\"event\": \"kvmmmu:zap\", ", "\"event\": \"kvmmmu:zap\", \"workload_key\": \"k\", ", 422,
	 "metrics[0]", "this one has several"},
	{"\"event\": \"kvmmmu:zap\", ", "\"workload_key\": \"k\", ", 422, "metrics[0].field",
	 "Belongs to event"},
	{"\"event\": \"kvmmmu:zap\", \"field\": \"ns\"", "\"begin\": \"labd:in\"", 422,
	 "metrics[0].end", "missing"},
	{"\"event\": \"kvmmmu:zap\", \"field\": \"ns\"",
	 "\"begin\": \"labd:in\", \"end\": \"labd:out\"", 422, "metrics[0].keys", "which begin"},
	{"\"event\": \"kvmmmu:zap\", \"field\": \"ns\"",
	 "\"begin\": \"labd:in\", \"end\": \"a:b\", \"keys\": [\"pid\"]", 422, "metrics[0].end",
	 "neither"},
	{"\"event\": \"kvmmmu:zap\", \"field\": \"ns\", \"agg\": \"sum\"",
	 "\"agg\": \"ratio\", \"num\": {\"event\": \"kvmmmu:zap\"}", 422, "metrics[0].den",
	 "missing"},
	{"\"event\": \"kvmmmu:zap\", \"field\": \"ns\", \"agg\": \"sum\"",
	 "\"agg\": \"ratio\", \"num\": {\"event\": \"a:b\"}, \"den\": {\"event\": \"kvmmmu:zap\"}",
	 422, "metrics[0].num.event", "neither"},
	{"\"agg\": \"sum\", ", "", 422, "metrics[0].agg", "Required"},
	{"\"sum\"", "\"mean\"", 422, "metrics[0].agg", "p99.9"},
	{"\"sum\"", "\"ratio\"", 422, "metrics[0].agg", "num and den"},
	{"\"sum\"", "\"value\"", 422, "metrics[0].agg", "workload_key"},
	{"\"sum\"", "\"count\"", 422, "metrics[0].field", "no field"},
	{"\"field\": \"ns\", ", "", 422, "metrics[0].field", "Required for sum"},
	{", \"better\": \"lower\"", "", 422, "metrics[0].better", "primary"},
	{"\"lower\"", "\"faster\"", 422, "metrics[0].better", "lower, none or higher"},
	{"\"primary\": true", "\"primary\": 1", 422, "metrics[0].primary", "true or false"},
	{"\"primary\": true", "\"primary\": true, \"not_a_result\": \"why\"", 422,
	 "metrics[0].primary", "cannot be primary"},
};

START_TEST(one_sentence_per_mistake)
{
	char *body = edit(mistakes[_i].from, mistakes[_i].to);
	struct problem problem;
	struct spec *spec;
	size_t length;

	ck_assert_msg(parse(body, &spec, &problem) < 0, "taken: %s", body);
	ck_assert_msg(problem.status == mistakes[_i].status &&
			      !strcmp(problem.key, mistakes[_i].key) &&
			      strstr(problem.detail, mistakes[_i].says),
		      "%d %s: %s", problem.status, problem.key, problem.detail);
	length = strlen(problem.detail);
	ck_assert_int_eq(problem.detail[length - 1], '.');
	free(body);
}
END_TEST

START_TEST(sizes)
{
	char *big = calloc(1, SPEC_MAX_BODY + 2), *body;
	struct problem problem = {};
	struct spec *spec;

	memset(big, ' ', SPEC_MAX_BODY + 1);
	ck_assert_int_lt(spec_parse(big, SPEC_MAX_BODY + 1, &spec, &problem), 0);
	ck_assert_int_eq(problem.status, 413);
	memset(big, '[', SPEC_MAX_BODY);
	memset(&problem, 0, sizeof(problem));
	ck_assert_int_lt(spec_parse(big, SPEC_MAX_BODY, &spec, &problem), 0);
	ck_assert_int_eq(problem.status, 400);
	memset(&problem, 0, sizeof(problem));
	ck_assert_int_lt(spec_parse("{}\0", 3, &spec, &problem), 0);
	ck_assert_ptr_nonnull(strstr(problem.detail, "NUL"));
	ck_assert_int_lt(parse("", &spec, &problem), 0);
	ck_assert_int_eq(problem.status, 400);
	ck_assert_int_lt(parse("[]", &spec, &problem), 0);
	ck_assert_int_eq(problem.status, 422);
	free(big);

	body = edit("\"rounds\": 5",
		    "\"rounds\": 100, \"seed\": 9223372036854775807, \"repeats\": 20");
	ck_assert_int_eq(parse(body, &spec, &problem), 0);
	ck_assert_uint_eq(spec->seed, INT64_MAX);
	spec_free(spec);
	free(body);
}
END_TEST

/* What the repository offers must be taken. */
START_TEST(experiments)
{
	DIR *dir = opendir("experiments");
	struct problem problem;
	struct dirent *entry;
	struct spec *spec;
	char *path, *body;
	int count = 0;

	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir))) {
		if (!strstr(entry->d_name, ".json"))
			continue;
		path = str_printf("experiments/%s", entry->d_name);
		ck_assert_int_eq(read_file(path, SPEC_MAX_BODY, &body, NULL), 0);
		ck_assert_msg(!parse(body, &spec, &problem) && !family_check(spec, &problem),
			      "%s: %s: %s", path, problem.key, problem.detail);
		spec_free(spec);
		free(body);
		free(path);
		count++;
	}
	closedir(dir);
	ck_assert_int_ge(count, 4);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("spec");
	TCase *tcase = tcase_create("spec");
	SRunner *runner = srunner_create(suite);
	int failed;

	tcase_add_test(tcase, good_spec);
	tcase_add_test(tcase, primary);
	tcase_add_test(tcase, aa);
	tcase_add_test(tcase, xen);
	tcase_add_loop_test(tcase, metric_sources, 0, ARRAY_SIZE(metrics));
	tcase_add_loop_test(tcase, one_sentence_per_mistake, 0, ARRAY_SIZE(mistakes));
	tcase_add_test(tcase, sizes);
	tcase_add_test(tcase, experiments);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? 1 : 0;
}
