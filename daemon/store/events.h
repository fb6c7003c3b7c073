/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_STORE_EVENTS_H
#define LABD_STORE_EVENTS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/flush_order.h"

/*
 * One file of raw events per experiment, events/<experiment>.db: a typed table per tracepoint
 * format, ev_<system>_<event>(run, cpu, ts_ns, pid, <fields>), a view over the versions of a
 * format, and copies of the runs' names so that the file explains itself. One run is stored by one
 * transaction; it is then found by its span of rowids, so that no index is needed to read it back.
 *
 * Fields are named by their columns: a field that would hide a column of every table is f_<name>,
 * element n of a small array is <name>_<n>. A hypervisor's records are the events xen:<name>, on
 * the kernel's clock (capture/xen_records.h). Unsigned 64-bit values above INT64_MAX are stored as
 * two's complement.
 */
struct events_db;

#define EVENTS_MAX_CPUS 512

/**
 * struct ingest_run - the run that captures belong to; strings stay the caller's
 */
struct ingest_run {
	int64_t run;
	unsigned int round;
	const char *arm;
	const char *scenario;
	const char *capture; /* relative to the data directory */
	const char *sha256;
	const char *xen_path;	 /* the hypervisor's capture: the file, NULL without one */
	const char *xen_capture; /* the same as @capture is */
	const char *xen_sha256;
	uint32_t tsc_khz; /* of a hypervisor's capture that does not say it, or 0 */
};

#define INGEST_LINUX "linux"
#define INGEST_XEN "xen"

struct ingest_event {
	char *event; /* "system:event" */
	uint64_t count;
};

/**
 * struct ingest_cpu - what a capture holds of one CPU
 * @source: INGEST_LINUX or INGEST_XEN: whose CPU it is
 * @records: data records decoded
 * @lost: events that the pages say were overwritten, where they say how many
 * @lost_unknown: gaps of unknown size
 * @closed: Xen's buffer was read to its end; also true where nobody can know
 */
struct ingest_cpu {
	const char *source;
	unsigned int cpu;
	uint64_t records;
	uint64_t lost;
	uint64_t lost_unknown;
	bool closed;
};

/**
 * struct ingest_loss - a gap in one CPU's events
 * @source: INGEST_LINUX or INGEST_XEN
 * @from_ts: last event before the gap, 0 at the start; of Xen's, the first that was lost
 * @to_ts: first event behind it
 * @count: events lost, -1 when the ring does not say
 */
struct ingest_loss {
	const char *source;
	unsigned int cpu;
	int64_t from_ts;
	int64_t to_ts;
	int64_t count;
};

struct ingest_result {
	struct ingest_event *events;
	size_t n_events;
	struct ingest_cpu *cpus;
	size_t n_cpus;
	struct ingest_loss *losses;
	size_t n_losses;
	uint64_t records;
	int64_t first_ts;
	int64_t last_ts;
	char *cpustat; /* per-CPU ring statistics as the capture carries them, or NULL */
};

int events_open(const char *path, struct events_db **ret_db);
int events_open_reader(const char *path, struct events_db **ret_db);
void events_close(struct events_db *db);
int events_ingest(struct events_db *db, const char *capture_path, const struct ingest_run *run,
		  struct ingest_result *ret_result, char *ret_error, size_t error_size);
void ingest_result_free(struct ingest_result *result);

int events_values(struct events_db *db, int64_t run, const char *event, const char *field,
		  int64_t **ret_values, size_t *ret_n);
int events_count(struct events_db *db, int64_t run, const char *event, uint64_t *ret_count);
/**
 * struct event_pairs - times between begins and ends
 * @durations: ns, in no order
 * @n: how many
 * @unmatched: begins without an end, and ends without a begin
 * @excluded: pairs that a gap of lost events touches: what looks like one may be halves of two
 */
struct event_pairs {
	int64_t *durations;
	size_t n;
	size_t unmatched;
	size_t excluded;
};

#define EVENTS_MAX_KEYS 4

int events_flush_order(struct events_db *db, int64_t run, struct order_result *ret_result);

int events_pairs(struct events_db *db, int64_t run, const char *begin, const char *end,
		 char *const *keys, size_t n_keys, struct event_pairs *ret_pairs);

/**
 * struct events_run - a stored run, to be compared
 */
struct events_run {
	struct events_db *db;
	int64_t run;
};

/**
 * struct events_diff - what two runs' events have in common
 * @n: records of each
 * @equal: the same rows in the same order, and the same was lost
 * @event: that has the earliest difference, "system:event"; empty when no row differs
 * @ts_ns: of the row there, the first run's if it has one
 * @cpu: the same
 */
struct events_diff {
	uint64_t n[2];
	bool equal;
	char event[128];
	int64_t ts_ns;
	int64_t cpu;
};

int events_compare(const struct events_run *a, const struct events_run *b,
		   struct events_diff *ret_diff);

#endif
