/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef GCHURN_OPTIONS_H
#define GCHURN_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits of what a command line may ask for; every measured batch is a number in the JSON. */
#define GCHURN_MAX_BATCH 1024u
#define GCHURN_MAX_BATCHES 50000u
#define GCHURN_MAX_WARMUP 50000u

/**
 * struct gchurn_options - what one run is asked to do
 * @batch:	pages that are mapped and unmapped at a time, 1 to GCHURN_MAX_BATCH
 * @batches:	measured batches, 1 to GCHURN_MAX_BATCHES
 * @warmup:	batches before these, 0 to GCHURN_MAX_WARMUP
 * @seed:	what contents and orders are derived from
 * @check:	write and check the pages' contents
 * @watch:	map without gntdev, and have another CPU look for old pages
 * @leaks_ok:	pages that are never released do not fail the run
 * @help:	only print the usage
 */
struct gchurn_options {
	unsigned int batch;
	unsigned int batches;
	unsigned int warmup;
	uint64_t seed;
	bool check;
	bool watch;
	bool leaks_ok;
	bool help;
};

extern const char gchurn_usage[];

int gchurn_options_parse(int argc, char **argv, const char *env_seed,
			 struct gchurn_options *ret_options, char *err, size_t err_size);

#endif
