// SPDX-License-Identifier: GPL-2.0-only
/* Pure parts of the HTTP server: names, tokens, paths, numbers of the report. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "http/auth.h"
#include "http/numfmt.h"
#include "http/route.h"

START_TEST(hosts)
{
	static const char *const good[] = {"127.0.0.1:8210", "localhost:8210", "LocalHost:8210",
					   "[::1]:8210"};
	static const char *const bad[] = {"",
					  "127.0.0.1",
					  "localhost",
					  "127.0.0.1:80",
					  "127.0.0.1:8210x",
					  "127.0.0.1:",
					  "127.0.0.1:-1",
					  "127.0.0.1:98210",
					  "127.0.0.10:8210",
					  "localhost.evil:8210",
					  "evil:8210",
					  "::1:8210",
					  "[::1]8210",
					  " localhost:8210",
					  "localhost:8210@evil",
					  "localhost:+8210"};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		ck_assert_msg(auth_host_allowed(good[i], 8210), "%s", good[i]);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(!auth_host_allowed(bad[i], 8210), "%s", bad[i]);
	ck_assert(!auth_host_allowed(NULL, 8210));
	ck_assert(auth_host_allowed("localhost", 80));
}
END_TEST

START_TEST(tokens)
{
	ck_assert(auth_token_matches("Bearer abc", "abc"));
	ck_assert(auth_token_matches("bearer abc", "abc"));
	ck_assert(!auth_token_matches("Bearer abcd", "abc"));
	ck_assert(!auth_token_matches("Bearer ab", "abc"));
	ck_assert(!auth_token_matches("Bearer  abc", "abc"));
	ck_assert(!auth_token_matches("Bearer", "abc"));
	ck_assert(!auth_token_matches("abc", "abc"));
	ck_assert(!auth_token_matches("Bearer ", ""));
	ck_assert(!auth_token_matches(NULL, "abc"));
}
END_TEST

START_TEST(content_types)
{
	ck_assert(auth_is_json("application/json"));
	ck_assert(auth_is_json("Application/JSON; charset=utf-8"));
	ck_assert(!auth_is_json("application/json-seq"));
	ck_assert(!auth_is_json("text/plain; application/json"));
	ck_assert(!auth_is_json(""));
	ck_assert(!auth_is_json(NULL));
}
END_TEST

START_TEST(paths)
{
	static const struct {
		const char *pattern, *path;
		int64_t id; /* -1: does not fit */
		const char *name;
	} cases[] = {
		{"/a", "/a", 0},
		{"/a", "/a/", -1},
		{"/a", "/", -1},
		{"/a/{id}", "/a/1", 1},
		{"/a/{id}", "/a/9223372036854775807", INT64_MAX},
		{"/a/{id}", "/a/9223372036854775808", -1},
		{"/a/{id}", "/a/99999999999999999999999", -1},
		{"/a/{id}", "/a/0", -1},
		{"/a/{id}", "/a/01", -1},
		{"/a/{id}", "/a/-1", -1},
		{"/a/{id}", "/a/", -1},
		{"/a/{id}", "/a/1/b", -1},
		{"/a/{id}/b", "/a/12/b", 12},
		{"/a/{id}/b", "/a/12", -1},
		{"/a/{id}/b", "/a/1x/b", -1},
		{"/a/{id}/b", "/a/../b", -1},
		{"/a/{name}", "/a/kvm-hint.2", 0, "kvm-hint.2"},
		{"/a/{name}/log", "/a/kvm_base/log", 0, "kvm_base"},
		{"/a/{name}", "/a/", -1},
		{"/a/{name}", "/a/..", -1},
		{"/a/{name}", "/a/.hidden", -1},
		{"/a/{name}", "/a/b/c", -1},
		{"/a/{name}", "/a/b%2fc", -1},
		{"/a/{name}", "/a/0123456789012345678901234567890123456789012345678901234567890123",
		 0, "0123456789012345678901234567890123456789012345678901234567890123"},
		{"/a/{name}",
		 "/a/01234567890123456789012345678901234567890123456789012345678901234", -1},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct route_args args = {.id = -1};
		bool fits = route_match(cases[i].pattern, cases[i].path, &args);

		ck_assert_msg(fits == (cases[i].id >= 0), "%s %s", cases[i].pattern, cases[i].path);
		ck_assert_int_eq(args.id, cases[i].id);
		ck_assert_str_eq(args.name, cases[i].name ?: "");
	}
}
END_TEST

START_TEST(methods)
{
	const struct route *route = NULL;
	struct route_args args;
	char allow[64];

	ck_assert_int_eq(
		route_find(routes, "GET", "/api/v1/runs/7", &route, &args, allow, sizeof(allow)),
		0);
	ck_assert_int_eq(args.id, 7);
	ck_assert_str_eq(route->pattern, "/api/v1/runs/{id}");
	ck_assert_int_eq(
		route_find(routes, "HEAD", "/healthz", &route, &args, allow, sizeof(allow)), 0);
	ck_assert_int_eq(route_find(routes, "GET", "/none", &route, &args, allow, sizeof(allow)),
			 -ENOENT);
	ck_assert_int_eq(
		route_find(routes, "PUT", "/api/v1/builds", &route, &args, allow, sizeof(allow)),
		-EPERM);
	ck_assert_str_eq(allow, "GET, HEAD, POST");
}
END_TEST

START_TEST(scales)
{
	static const struct {
		const char *unit;
		double values[4];
		const char *scale;
		const char *text[4];
	} cases[] = {
		{"ns", {330e6, 222e6, 35e6, 0}, "ms", {"330.00", "222.00", "35.00", "0"}},
		{"ns", {1456e6, 1386e6, 1200e6, 1100e6}, "s", {"1.46", "1.39", "1.20", "1.10"}},
		{"ns", {78e3, 162e3, 61e3, 102e3}, "us", {"78.00", "162.00", "61.00", "102.00"}},
		{"ns", {500, 330e6, 0, 0}, "us", {"0.500", "330000.000", "0", "0"}},
		{"ns", {7, 2e12, 0, 0}, "s", {"0.000", "2000.000", "0", "0"}},
		{"ns", {0, 0, 0, 0}, "ns", {"0", "0", "0", "0"}},
		{"1", {867, 0, 2005, 12345678}, "", {"867", "0", "2005", "12345678"}},
		{"1", {2.5, 3, 4, 5}, "", {"2.50", "3.00", "4.00", "5.00"}},
		{"1/s", {1200.25, 1300, 1500, 1600}, "1/s", {"1200", "1300", "1500", "1600"}},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct num_scale scale;
		char text[NUMFMT_MAX];

		num_scale_choose(&scale, cases[i].unit, cases[i].values, 4);
		ck_assert_str_eq(scale.unit, cases[i].scale);
		for (size_t v = 0; v < 4; v++) {
			num_format(text, &scale, cases[i].values[v]);
			ck_assert_msg(!strcmp(text, cases[i].text[v]), "case %zu: %g is \"%s\"", i,
				      cases[i].values[v], text);
		}
	}
}
END_TEST

START_TEST(deltas)
{
	static const struct {
		double fraction;
		const char *text;
	} cases[] = {
		{-0.846, "-84.6%"}, {0.0204, "+2.0%"}, {0, "0.0%"},    {-0.0004, "0.0%"},
		{-1, "-100.0%"},    {99, "+9900.0%"},  {999, "x1000"}, {-0.0006, "-0.1%"},
	};
	char text[NUMFMT_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		num_delta(text, cases[i].fraction);
		ck_assert_str_eq(text, cases[i].text);
	}
	num_duration(text, 250000000);
	ck_assert_str_eq(text, "250 ms");
	num_duration(text, 3520000000);
	ck_assert_str_eq(text, "3.5 s");
	num_duration(text, 559600000000);
	ck_assert_str_eq(text, "9 min 20 s");
	num_duration(text, 7380000000000);
	ck_assert_str_eq(text, "2 h 3 min");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("http");
	TCase *tcase = tcase_create("pure");
	SRunner *runner;
	int failed;

	tcase_add_test(tcase, hosts);
	tcase_add_test(tcase, tokens);
	tcase_add_test(tcase, content_types);
	tcase_add_test(tcase, paths);
	tcase_add_test(tcase, methods);
	tcase_add_test(tcase, scales);
	tcase_add_test(tcase, deltas);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
