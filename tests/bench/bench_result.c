// SPDX-License-Identifier: GPL-2.0-only
/*
 * What judging an experiment anew costs after each boot, in a full lab: bench_result DATA-DIR
 * EXPERIMENT REPEATS
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "plan/exec.h"
#include "stats/percentile.h"
#include "store/db.h"

#define MAX_REPEATS 100

static void check(int failed, const char *what)
{
	if (failed) {
		fprintf(stderr, "bench_result: %s failed\n", what);
		exit(EXIT_FAILURE);
	}
}

int main(int argc, char **argv)
{
	double ms[MAX_REPEATS], median = 0;
	struct problem problem;
	int64_t experiment, n;
	struct spec *spec;
	sqlite3 *db;
	char *text;

	if (argc != 4 || parse_i64(argv[2], 1, INT64_MAX, &experiment) ||
	    parse_i64(argv[3], 1, MAX_REPEATS, &n)) {
		fprintf(stderr, "usage: bench_result DATA-DIR EXPERIMENT REPEATS\n");
		return EXIT_FAILURE;
	}
	check(db_open_writer(argv[1], &db), argv[1]);
	check(db_get_text(db, &text, "SELECT spec FROM experiment WHERE id = ?1", "i", experiment),
	      "reading the spec");
	check(spec_parse(text, strlen(text), &spec, &problem), "parsing the spec");
	for (int64_t i = 0; i < n; i++) {
		int64_t start = mono_ns();

		check(result_update(db, experiment, spec), "judging");
		ms[i] = (double)(mono_ns() - start) / 1e6;
	}
	median_f64(ms, n, &median);
	printf("  judged anew        %7.1f ms   (at most %.1f; after each boot)\n", median,
	       ms[n - 1]);
	spec_free(spec);
	free(text);
	db_close(db);
	return EXIT_SUCCESS;
}
