// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a run under Xen must hold beyond its figures: unmapped pages were flushed before they were
 * released, and Xen saw as many unmaps as the workload made. A run that fails one is no run.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "capture/xen_records.h"
#include "plan/run_check.h"
#include "store/db.h"

static uint64_t lost_by_xen(const struct ingest_result *result)
{
	uint64_t lost = 0;

	for (size_t i = 0; i < result->n_cpus; i++)
		if (!strcmp(result->cpus[i].source, INGEST_XEN))
			lost += result->cpus[i].lost;
	return lost;
}

static struct run_check *add(struct run_checks *checks, const char *name)
{
	struct run_check *check = &checks->checks[checks->n++];

	check->name = name;
	return check;
}

/* Appends a number and what it counts, when there are any. */
static void tell(struct run_check *check, uint64_t n, const char *what)
{
	size_t len = strlen(check->detail);

	if (n)
		snprintf(check->detail + len, sizeof(check->detail) - len, "%s%" PRIu64 " %s",
			 len ? "; " : "", n, what);
}

/* Missing records look like missing flushes: then the check tells, and does not judge. */
static void judge(struct run_checks *checks, struct run_check *check, uint64_t failed,
		  uint64_t lost, const char *what)
{
	if (lost) {
		tell(check, lost, "records of Xen were lost: not judged");
		return;
	}
	check->failed = failed;
	if (failed && !*checks->reason)
		snprintf(checks->reason, sizeof(checks->reason), "%s: %s", check->name, what);
}

static int check_order(struct events_db *db, int64_t run, uint64_t lost, struct run_checks *checks)
{
	struct run_check *check = add(checks, "order");
	struct order_result order = {0};
	char what[120];
	int ret;

	ret = events_flush_order(db, run, &order);
	if (ret == -E2BIG) {
		snprintf(check->detail, sizeof(check->detail),
			 "the records make no sense: a group of too many pages");
		return 0;
	}
	if (ret)
		return ret;
	check->checked = order.pages;
	if (!order.groups && !order.leaked_groups)
		tell(check, 1, "run without a group that was released: nothing to check");
	snprintf(what, sizeof(what),
		 "%" PRIu64 " of %" PRIu64 " unmapped pages were released before a flush",
		 order.early, order.pages);
	judge(checks, check, order.early, lost, what);
	tell(check, order.groups, "groups released");
	tell(check, order.early_p2m, "pages without a p2m flush");
	tell(check, order.early_iotlb, "pages without an IOTLB flush");
	tell(check, order.leaked_groups, "groups leaked");
	tell(check, order.leaked_pages, "pages leaked");
	tell(check, order.failed_unmaps, "unmaps failed");
	tell(check, order.cut_groups, "groups cut off by the start of the trace");
	return 0;
}

static int check_unmaps(struct events_db *db, int64_t run, int64_t unmaps, uint64_t lost,
			struct run_checks *checks)
{
	struct run_check *check = add(checks, "unmaps");
	uint64_t seen;
	char what[120];
	int ret;

	ret = events_count(db, run, "xen:page_grant_unmap", &seen);
	if (ret)
		return ret;
	check->checked = unmaps;
	snprintf(what, sizeof(what), "the workload made %" PRId64 " unmaps, Xen saw %" PRIu64,
		 unmaps, seen);
	snprintf(check->detail, sizeof(check->detail), "%s", what);
	judge(checks, check,
	      seen > (uint64_t)unmaps ? seen - (uint64_t)unmaps : (uint64_t)unmaps - seen, lost,
	      what);
	return 0;
}

/**
 * run_checks_do() - check a stored run that has a capture of Xen's
 * @workload: JSON object that the workload printed; without "unmaps" that check is left out
 * @result: of the run's ingest
 *
 * Return: 0 or negative errno.
 */
int run_checks_do(struct events_db *db, int64_t run, const struct spec *spec,
		  const json_t *workload, const struct ingest_result *result,
		  struct run_checks *ret_checks)
{
	const json_t *unmaps = json_object_get(workload, "unmaps");
	uint64_t lost = lost_by_xen(result);
	struct run_checks checks = {0};
	int ret;

	/* Bits 16 and up are the classes. */
	if ((spec_xen_mask(spec) & XEN_CLASS_MEM) >> 16) {
		ret = check_order(db, run, lost, &checks);
		if (!ret && json_is_integer(unmaps) && json_integer_value(unmaps) >= 0)
			ret = check_unmaps(db, run, json_integer_value(unmaps), lost, &checks);
		if (ret)
			return ret;
	}
	*ret_checks = checks;
	return 0;
}

/** run_checks_reason() - why the run fails, "" when it does not */
const char *run_checks_reason(const struct run_checks *checks)
{
	return checks->reason;
}

/**
 * run_checks_note() - store what was found; inside the writer's transaction
 *
 * Return: 0 or negative errno.
 */
int run_checks_note(sqlite3 *db, int64_t run, const struct run_checks *checks)
{
	int ret = 0;

	for (size_t i = 0; i < checks->n && !ret; i++)
		ret = db_run(db, "INSERT INTO run_check VALUES (?1, ?2, ?3, ?4, ?5)", "itiit", run,
			     checks->checks[i].name, checks->checks[i].checked,
			     checks->checks[i].failed, checks->checks[i].detail);
	return ret;
}
