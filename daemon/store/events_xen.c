// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hypervisor's capture into tables. Two walks: the first finds dom0's anchors, and with them the
 * line from the TSC to ns; the second stores.
 */
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "capture/xen_clock.h"
#include "capture/xen_records.h"
#include "store/db.h"
#include "store/events_priv.h"

/* The agent makes some dozens. */
#define MAX_ANCHORS 65536

/**
 * struct xen_cpu - one of Xen's CPUs
 * @first_tsc: of the first record that has one: those before it take its time
 * @tsc: of the last record that has one, during the second walk
 * @anchor: seq of the last anchor, with @has_anchor
 */
struct xen_cpu {
	bool seen;
	bool has_tsc;
	bool has_anchor;
	uint32_t anchor;
	uint64_t first_tsc;
	uint64_t tsc;
	uint64_t records;
	uint64_t lost;
};

/**
 * struct xen_ingest - the ingest of one stream
 * @tables: by the row of the table of records; the last one is for all others
 * @packed: what the batch points to
 * @odd: records of a known id, but not of its size
 */
struct xen_ingest {
	struct ingest *in;
	struct xentrace_walk walk;
	struct event_table *tables[INGEST_MAX_XEN_TABLES];
	struct xen_packed packed[BATCH_RECORDS];
	size_t n_packed;
	struct xen_cpu cpus[XENTRACE_MAX_CPUS];
	struct xen_anchor *anchors;
	size_t n_anchors;
	struct xen_clock clock;
	uint64_t records;
	uint64_t odd;
};

static int add_anchor(struct xen_ingest *x, const struct xentrace_record *r)
{
	struct xen_anchor *larger;

	if (x->n_anchors == MAX_ANCHORS)
		return ingest_refuse(x->in, -EBADMSG, "the capture holds more than %d anchors",
				     MAX_ANCHORS);
	if (!(x->n_anchors & (x->n_anchors - 1))) {
		larger = reallocarray(x->anchors, x->n_anchors ? x->n_anchors * 2 : 1,
				      sizeof(*larger));
		if (!larger)
			return -ENOMEM;
		x->anchors = larger;
	}
	x->anchors[x->n_anchors++] = (struct xen_anchor){
		.seq = xentrace_word(r, 0),
		.tsc_khz = xentrace_word(r, 1),
		.tsc = r->tsc,
		.before_ns = xentrace_word(r, 2) | (uint64_t)xentrace_word(r, 3) << 32,
		.prev_after_ns = xentrace_word(r, 4) | (uint64_t)xentrace_word(r, 5) << 32,
	};
	return 0;
}

static bool is_anchor(const struct xentrace_record *r)
{
	return r->id == XEN_ID_ANCHOR && r->n == 6 && r->has_tsc;
}

static int find_anchors(struct xen_ingest *x)
{
	struct xentrace_record r;
	int ret;

	xentrace_start(&x->walk, x->in->xen, x->in->error, x->in->error_size);
	while ((ret = xentrace_next(&x->walk, &r)) > 0) {
		struct xen_cpu *cpu = &x->cpus[r.cpu];

		cpu->seen = true;
		if (r.has_tsc && !cpu->has_tsc) {
			cpu->has_tsc = true;
			cpu->first_tsc = cpu->tsc = r.tsc;
		}
		if (!is_anchor(&r))
			continue;
		cpu->has_anchor = true;
		cpu->anchor = xentrace_word(&r, 0);
		ret = add_anchor(x, &r);
		if (ret)
			return ret;
	}
	return ret;
}

/* Tables of all known records, empty or not, so that queries work on every run. */
static int open_tables(struct xen_ingest *x)
{
	struct event_layout *layout;
	int ret = 0;

	if (xen_n_record_types >= ARRAY_SIZE(x->tables))
		return -E2BIG;
	for (unsigned int i = 0; i <= xen_n_record_types && !ret; i++) {
		ret = xen_record_layout(i < xen_n_record_types ? &xen_record_types[i] : NULL,
					&layout);
		ret = ret ?: event_table_open(x->in->db->db, layout, &x->tables[i]);
		ret = ret ?: ingest_use(x->in, x->tables[i]);
	}
	return ret;
}

static struct event_table *table_of(struct xen_ingest *x, const struct xentrace_record *r)
{
	const struct xen_record_type *type = xen_record_find(r->id);

	if (type && type->words == r->n)
		return x->tables[type - xen_record_types];
	x->odd += type != NULL;
	return x->tables[xen_n_record_types];
}

static int push(struct xen_ingest *x, const struct xentrace_record *r, int64_t ts)
{
	struct xen_packed *packed = &x->packed[x->n_packed++];
	struct event_table *table = table_of(x, r);
	struct page_record record = {
		.ts = ts, .data = (const uint8_t *)packed, .size = XEN_PACKED_SIZE(r->n)};

	packed->tsc = htole64(r->tsc);
	packed->id = htole32(r->id);
	packed->n = htole32(r->n);
	memcpy(packed->words, r->words, 4 * (size_t)r->n);
	table->count++;
	if (!event_batch_push(x->in->db->batch, table, r->cpu, &record))
		return 0;
	x->n_packed = 0;
	return ingest_flush(x->in);
}

static int note_loss(struct xen_ingest *x, const struct xentrace_record *r,
		     const struct xentrace_lost *lost)
{
	int64_t from = xen_clock_ns(&x->clock, lost->first_tsc),
		to = xen_clock_ns(&x->clock, r->tsc);

	x->cpus[r->cpu].lost += lost->count;
	return db_run(x->in->db->db, "INSERT INTO run_loss VALUES (?1, ?2, ?3, ?4, ?5, 'xen')",
		      "iiiii", x->in->run->run, (int64_t)r->cpu, from < to ? from : to, to,
		      (int64_t)lost->count);
}

static int store_records(struct xen_ingest *x)
{
	struct xentrace_record r;
	struct xentrace_lost lost;
	int ret;

	xentrace_start(&x->walk, x->in->xen, x->in->error, x->in->error_size);
	while ((ret = xentrace_next(&x->walk, &r)) > 0) {
		struct xen_cpu *cpu = &x->cpus[r.cpu];
		int64_t ts;

		if (r.has_tsc)
			cpu->tsc = r.tsc;
		if (xentrace_lost(&r, &lost)) {
			ret = note_loss(x, &r, &lost);
		} else {
			ts = xen_clock_ns(&x->clock, cpu->tsc);
			ingest_saw(x->in, ts);
			x->records++;
			cpu->records++;
			ret = push(x, &r, ts);
		}
		if (ret)
			return ret;
	}
	return ret ?: ingest_flush(x->in);
}

static int note_clock(struct xen_ingest *x)
{
	const struct xen_clock *c = &x->clock;
	int64_t run = x->in->run->run;
	sqlite3 *db = x->in->db->db;
	int ret;

	ret = db_run(db, "INSERT INTO run_xen VALUES (?1, ?2, ?3, ?4, ?5)", "ittii", run,
		     x->in->run->xen_capture, x->in->run->xen_sha256, (int64_t)x->records,
		     (int64_t)x->odd);
	return ret
		       ?: db_run(db,
				 "INSERT INTO xen_clock VALUES (?1, ?2, ?3, ?4, ?5, ?6, iif(?7, ?8, NULL),"
				 " nullif(?9, 0.0))",
				 "iiiiiiiid", run, (int64_t)c->tsc_khz, (int64_t)c->first_tsc,
				 c->first_ns, (int64_t)c->last_tsc, c->last_ns,
				 (int64_t)c->anchored, c->bracket_ns, c->measured_khz);
}

/*
 * A CPU with an anchor behind the run was read to the run's end: Xen writes what it lost with the
 * next record. Without anchors nobody knows.
 */
static int note_cpus(struct xen_ingest *x)
{
	uint32_t end = x->n_anchors ? xen_anchors_end(x->anchors, x->n_anchors) : 0;
	int ret = 0;

	for (unsigned int i = 0; i < ARRAY_SIZE(x->cpus) && !ret; i++) {
		const struct xen_cpu *cpu = &x->cpus[i];

		if (cpu->seen)
			ret = db_run(x->in->db->db,
				     "INSERT INTO run_cpu VALUES (?1, 'xen', ?2, ?3, ?4, 0,"
				     " iif(?5, ?6, NULL))",
				     "iiiiii", x->in->run->run, (int64_t)i, (int64_t)cpu->records,
				     (int64_t)cpu->lost, (int64_t)(x->n_anchors > 0),
				     (int64_t)(cpu->has_anchor && cpu->anchor >= end));
	}
	return ret;
}

/**
 * ingest_xen() - store the records of in->xen; inside of the ingest's transaction, with an empty
 * batch
 *
 * Return: 0, -EBADMSG with the reason set, or another negative errno.
 */
int ingest_xen(struct ingest *in)
{
	struct xen_ingest *x = calloc(1, sizeof(*x));
	int ret;

	if (!x)
		return -ENOMEM;
	x->in = in;
	ret = find_anchors(x);
	ret = ret
		      ?: xen_clock_fit(x->anchors, x->n_anchors, in->run->tsc_khz, &x->clock,
				       in->error, in->error_size);
	ret = ret ?: open_tables(x);
	ret = ret ?: store_records(x);
	ret = ret ?: note_clock(x);
	ret = ret ?: note_cpus(x);
	free(x->anchors);
	free(x);
	return ret;
}
