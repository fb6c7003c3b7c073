// SPDX-License-Identifier: GPL-2.0-only
/*
 * kvm-churn: guest memory that is dropped again and again.
 *
 * Drives KVM directly, without a guest operating system: vCPUs write a word in each page of guest
 * memory while the host drops parts of it with MADV_DONTNEED. Prints one JSON object. Exit status:
 * 0 the run is valid, 1 it failed, 4 this machine has no KVM.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "options.h"
#include "report.h"
#include "rounds.h"
#include "schedule.h"
#include "tracing.h"
#include "vm.h"

enum {
	EXIT_FAILED = 1,
	EXIT_SKIPPED = 4,
};

static int run(struct vm *vm, const struct churn_options *o, struct churn_result *result)
{
	struct churn_schedule schedule;
	uint64_t start;
	int ret;

	churn_schedule_init(&schedule, o);
	result->chunk_start = churn_schedule_offset(&schedule, 0);

	ret = vm_pin(vm);
	if (!ret)
		ret = churn_tracing(false);
	if (ret)
		return ret;
	start = churn_now_ns();
	ret = vm_fill(vm, 0, vm->mem_bytes, &result->pages_touched);
	if (!ret)
		ret = churn_tracing(true);
	if (ret)
		return ret;
	result->touch_ns = churn_now_ns() - start;

	if (o->verify)
		ret = churn_verify(vm, o, &schedule, result);
	else
		ret = churn_measure(vm, o, &schedule, result);
	result->elapsed_ns = churn_now_ns() - start;
	return ret;
}

int main(int argc, char **argv)
{
	struct churn_options o;
	struct churn_result result = {};
	static struct vm vm;
	char err[200];
	int ret;

	if (churn_options_parse(argc, argv, getenv("LABD_SEED"), &o, err, sizeof(err))) {
		fprintf(stderr, "kvm-churn: %s\n", err);
		return EXIT_FAILED;
	}
	if (o.help) {
		fputs(churn_usage, stdout);
		return 0;
	}

	result.madvise_ns = calloc(o.rounds, sizeof(*result.madvise_ns));
	if (!result.madvise_ns) {
		fprintf(stderr, "kvm-churn: no memory for %u rounds\n", o.rounds);
		return EXIT_FAILED;
	}
	ret = vm_create(&vm, &o);
	if (ret == -ENODEV) {
		fprintf(stderr, "kvm-churn: this machine has no KVM (/dev/kvm), skipped\n");
		ret = EXIT_SKIPPED;
		goto out;
	}
	if (!ret) {
		ret = run(&vm, &o, &result);
		vm_destroy(&vm);
	}
	if (ret)
		result.errors++;
	churn_report(stdout, &o, &result);
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "kvm-churn: cannot write the result: %m\n");
		result.errors++;
	}
	ret = result.errors ? EXIT_FAILED : 0;
out:
	free(result.madvise_ns);
	return ret;
}
