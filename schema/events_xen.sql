-- SPDX-License-Identifier: GPL-2.0-only
-- Version 2 of the events file: a hypervisor's records beside the kernel's, in tables ev_xen_<name>(run, cpu,
-- ts_ns, pid, tsc, <fields>). cpu is then Xen's CPU, pid is NULL, and tsc is NULL for a record that carries none.

-- odd counts the records that are not of the size that their id has: they are in ev_xen_record.
CREATE TABLE run_xen (
	run     INTEGER PRIMARY KEY REFERENCES run (run),
	capture TEXT NOT NULL,
	sha256  TEXT NOT NULL,
	records INTEGER NOT NULL,
	odd     INTEGER NOT NULL
) STRICT;

-- How a run's TSC became ts_ns: a line through (first_tsc, first_ns) and (last_tsc, last_ns), ns of dom0's
-- CLOCK_MONOTONIC, good to half of bracket_ns. bracket_ns is NULL where nothing ties the TSC to dom0's clock, and
-- measured_khz where the frequency is the hypervisor's own word.
CREATE TABLE xen_clock (
	run          INTEGER PRIMARY KEY REFERENCES run (run),
	tsc_khz      INTEGER NOT NULL,
	first_tsc    INTEGER NOT NULL,
	first_ns     INTEGER NOT NULL,
	last_tsc     INTEGER NOT NULL,
	last_ns      INTEGER NOT NULL,
	bracket_ns   INTEGER,
	measured_khz REAL
) STRICT;

-- A CPU of Xen is not one of dom0's. closed says whether Xen's buffer was read to its end, NULL where nobody knows.
CREATE TABLE run_cpu_source (
	run          INTEGER NOT NULL REFERENCES run (run),
	source       TEXT NOT NULL CHECK (source IN ('linux', 'xen')),
	cpu          INTEGER NOT NULL,
	records      INTEGER NOT NULL,
	lost         INTEGER NOT NULL,
	lost_unknown INTEGER NOT NULL,
	closed       INTEGER,
	PRIMARY KEY (run, source, cpu)
) STRICT, WITHOUT ROWID;
INSERT INTO run_cpu_source SELECT run, 'linux', cpu, records, lost, lost_unknown, NULL FROM run_cpu;
DROP TABLE run_cpu;
ALTER TABLE run_cpu_source RENAME TO run_cpu;

ALTER TABLE run_loss ADD COLUMN source TEXT NOT NULL DEFAULT 'linux';
