// SPDX-License-Identifier: GPL-2.0-only
#include <check.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/job.h"

static const char good[] =
	"{\"run\":12,\"workload\":\"kvm-churn\",\"argv\":[\"--mode\",\"same\"],\"seed\":\"18446744073709551615\","
	"\"timeout_ms\":60000,\"trace\":{\"events\":[\"kvmmmu:kvm_tdp_mmu_zap_leafs\"],"
	"\"kprobes\":[\"p:labd/zap tdp_mmu_zap_leafs start=%dx\",\"r16:labd/zap_end tdp_mmu_zap_leafs+0x0\"],"
	"\"buffer_kib_per_cpu\":65536,\"clock\":\"mono\"}}";

START_TEST(accepts)
{
	struct agent_job job;
	char error[AGENT_ERROR_SIZE];

	ck_assert_int_eq(agent_job_parse(good, strlen(good), &job, error), 0);
	ck_assert_int_eq(job.run, 12);
	ck_assert_str_eq(job.workload, "kvm-churn");
	ck_assert_str_eq(job.argv[0], "kvm-churn");
	ck_assert_str_eq(job.argv[1], "--mode");
	ck_assert_str_eq(job.argv[2], "same");
	ck_assert_ptr_null(job.argv[3]);
	ck_assert_str_eq(job.seed, "18446744073709551615");
	ck_assert_uint_eq(job.timeout_ms, 60000);
	ck_assert_uint_eq(job.n_events, 1);
	ck_assert_str_eq(job.events[0].system, "kvmmmu");
	ck_assert_str_eq(job.events[0].name, "kvm_tdp_mmu_zap_leafs");
	ck_assert_uint_eq(job.n_kprobes, 2);
	ck_assert(!job.kprobes[0].is_return);
	ck_assert_str_eq(job.kprobes[0].name, "zap");
	ck_assert_str_eq(job.kprobes[0].symbol, "tdp_mmu_zap_leafs");
	ck_assert_str_eq(job.kprobes[0].location, "tdp_mmu_zap_leafs");
	ck_assert_str_eq(job.kprobes[0].fetch, "start=%dx");
	ck_assert(job.kprobes[1].is_return);
	ck_assert_uint_eq(job.kprobes[1].maxactive, 16);
	ck_assert_str_eq(job.kprobes[1].symbol, "tdp_mmu_zap_leafs");
	ck_assert_str_eq(job.kprobes[1].location, "tdp_mmu_zap_leafs+0x0");
	ck_assert_str_eq(job.kprobes[1].fetch, "");
	ck_assert_uint_eq(job.buffer_kib, 65536);
	ck_assert_str_eq(job.clock, "mono");
	ck_assert_uint_eq(job.xen_mask, 0);
	agent_job_free(&job);
}
END_TEST

/* A mask that nobody has is 0; the highest one has all bits. */
START_TEST(accepts_xen_mask)
{
	static const uint32_t masks[] = {0x0810f000, 0x0800f000, 0xffffffff};
	json_t *root = json_loads(good, 0, NULL);
	char error[AGENT_ERROR_SIZE], *text;
	struct agent_job job;

	json_object_set_new(json_object_get(root, "trace"), "xen_mask", json_integer(masks[_i]));
	text = json_dumps(root, 0);
	ck_assert_int_eq(agent_job_parse(text, strlen(text), &job, error), 0);
	ck_assert_uint_eq(job.xen_mask, masks[_i]);
	agent_job_free(&job);
	free(text);
	json_decref(root);
}
END_TEST

/* Each change makes the good job a bad one; the sentence must say what is wrong. */
static const struct {
	const char *path, *key, *value, *message;
} changes[] = {
	{NULL, "run", "0", "run"},
	{NULL, "run", "\"12\"", "run"},
	{NULL, "more", "1", "more"},
	{NULL, "argv", NULL, "argv"},
	{NULL, "argv", "{}", "argv"},
	{NULL, "argv", "[1]", "argv[0]"},
	{NULL, "workload", "\"../bin/sh\"", "workload"},
	{NULL, "workload", "\"-x\"", "workload"},
	{NULL, "workload", "\"\"", "workload"},
	{NULL, "workload", "\"Kvm\"", "workload"},
	{NULL, "seed", "\"-1\"", "seed"},
	{NULL, "seed", "\"18446744073709551616\"", "seed"},
	{NULL, "seed", "7", "string"},
	{NULL, "timeout_ms", "0", "timeout_ms"},
	{NULL, "timeout_ms", "3600001", "timeout_ms"},
	{NULL, "trace", "[]", "trace"},
	{"trace", "more", "1", "more"},
	{"trace", "clock", "\"counter\"", "clock"},
	{"trace", "buffer_kib_per_cpu", "15", "buffer_kib"},
	{"trace", "buffer_kib_per_cpu", "4294967296", "buffer_kib"},
	{"trace", "events", "[\"kvm\"]", "events"},
	{"trace", "events", "[\"kvm:*\"]", "events"},
	{"trace", "events", "[\"../kvm:exit\"]", "events"},
	{"trace", "events", "[\"kvm:exit:x\"]", "events"},
	{"trace", "kprobes", "[\"p:other/zap sym\"]", "kprobes"},
	{"trace", "kprobes", "[\"x:labd/zap sym\"]", "kprobes"},
	{"trace", "kprobes", "[\"p5:labd/zap sym\"]", "kprobes"},
	{"trace", "kprobes", "[\"p:labd/zap\"]", "kprobes"},
	{"trace", "kprobes", "[\"p:labd/zap 0xffff\"]", "kprobes"},
	{"trace", "kprobes", "[\"p:labd/zap sym\\n-:labd/other\"]", "kprobes"},
	{"trace", "kprobes", "[\"p:labd/zap sym a=1;b\"]", "kprobes"},
	{"trace", "xen_mask", "0", "xen_mask is not"},
	{"trace", "xen_mask", "-1", "xen_mask is not"},
	{"trace", "xen_mask", "4294967296", "xen_mask is not"},
	{"trace", "xen_mask", "\"0x0810f000\"", "xen_mask is not"},
	{"trace", "xen_mask", "135327744.0", "xen_mask is not"},
	{"trace", "xen_mask", "null", "xen_mask is not"},
	{"trace", "xen_mask", "1110016", "leaves out"},
	{"trace", "xen_mask", "134217728", "leaves out"},
	{NULL, "xen_mask", "135327744", "xen_mask"},
};

START_TEST(refuses)
{
	struct agent_job job;
	char error[AGENT_ERROR_SIZE], *text;
	json_t *root = json_loads(good, 0, NULL), *at;

	at = changes[_i].path ? json_object_get(root, changes[_i].path) : root;
	if (changes[_i].value)
		json_object_set_new(at, changes[_i].key,
				    json_loads(changes[_i].value, JSON_DECODE_ANY, NULL));
	else
		json_object_del(at, changes[_i].key);
	text = json_dumps(root, 0);
	ck_assert_int_eq(agent_job_parse(text, strlen(text), &job, error), -EINVAL);
	ck_assert_msg(strstr(error, changes[_i].message), "%s=%s: \"%s\"", changes[_i].key,
		      changes[_i].value ?: "", error);
	/* A wrong job can still be answered when it says which run it is. */
	ck_assert_int_eq(job.run, strcmp(changes[_i].key, "run") ? 12 : 0);
	free(text);
	json_decref(root);
}
END_TEST

START_TEST(limits)
{
	static const char *const keys[] = {"argv", "events", "kprobes"};
	struct agent_job job;
	char error[AGENT_ERROR_SIZE], *text, item[32];
	json_t *root = json_loads(good, 0, NULL), *array = json_array(), *at;

	for (int i = 0; i < AGENT_JOB_MAX_EVENTS + 1; i++) {
		snprintf(item, sizeof(item), _i == 2 ? "p:labd/p%d sym" : "sys:e%d", i);
		json_array_append_new(array, json_string(item));
	}
	at = _i ? json_object_get(root, "trace") : root;
	json_object_set_new(at, keys[_i], array);
	text = json_dumps(root, 0);
	ck_assert_int_eq(agent_job_parse(text, strlen(text), &job, error), -EINVAL);
	ck_assert(strstr(error, "more than 64"));
	free(text);
	json_array_remove(array, 0);
	text = json_dumps(root, 0);
	ck_assert_int_eq(agent_job_parse(text, strlen(text), &job, error), 0);
	agent_job_free(&job);
	free(text);
	json_decref(root);
}
END_TEST

START_TEST(not_json)
{
	static const char *const texts[] = {
		"", "{", "[]", "null", "{\"run\":1,\"run\":2}", "{\"run\":\"\xff\"}"};
	struct agent_job job;
	char error[AGENT_ERROR_SIZE];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		ck_assert_int_eq(agent_job_parse(texts[i], strlen(texts[i]), &job, error), -EINVAL);
		ck_assert(*error);
		ck_assert_int_eq(job.run, 0);
	}
	/* The frame's payload has no NUL behind it. */
	for (size_t len = 0; len < strlen(good); len++)
		ck_assert_int_eq(agent_job_parse(good, len, &job, error), -EINVAL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("agent_job");
	TCase *tests = tcase_create("all");
	SRunner *runner;
	int failed;

	tcase_add_test(tests, accepts);
	tcase_add_loop_test(tests, accepts_xen_mask, 0, 3);
	tcase_add_loop_test(tests, refuses, 0, sizeof(changes) / sizeof(changes[0]));
	tcase_add_loop_test(tests, limits, 0, 3);
	tcase_add_test(tests, not_json);
	suite_add_tcase(suite, tests);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
