-- SPDX-License-Identifier: GPL-2.0-only
-- A hypervisor below the kernel: its proof, its capture, its rings beside the kernel's.

ALTER TABLE boot ADD COLUMN hypervisor TEXT;
ALTER TABLE boot ADD COLUMN hypervisor_build_id TEXT;

-- The xentrace stream of a run, beside its trace.dat.
ALTER TABLE run ADD COLUMN xen_capture TEXT;
ALTER TABLE run ADD COLUMN xen_sha256 TEXT;
ALTER TABLE run ADD COLUMN xen_bytes INTEGER;

-- For an xentrace file of elsewhere, which does not say it.
ALTER TABLE import ADD COLUMN tsc_khz INTEGER;

-- Xen's CPUs are not dom0's: a ring is known by its source and its CPU. Xen keeps no books of what it wrote:
-- there written is read + lost, and detail says whether the CPU's buffer was read to its end.
CREATE TABLE ring_with_source (
	run     INTEGER NOT NULL REFERENCES run (id),
	source  TEXT NOT NULL CHECK (source IN ('linux', 'xen')),
	cpu     INTEGER NOT NULL,
	written INTEGER NOT NULL,
	read    INTEGER NOT NULL,
	lost    INTEGER NOT NULL,
	detail  TEXT NOT NULL,
	PRIMARY KEY (run, source, cpu)
) STRICT, WITHOUT ROWID;
INSERT INTO ring_with_source SELECT run, 'linux', cpu, written, read, lost, detail FROM ring;
DROP TABLE ring;
ALTER TABLE ring_with_source RENAME TO ring;

ALTER TABLE loss ADD COLUMN source TEXT NOT NULL DEFAULT 'linux';

-- What was checked of a run beyond its figures. A check that failed fails its run.
CREATE TABLE run_check (
	run     INTEGER NOT NULL REFERENCES run (id),
	name    TEXT NOT NULL,
	checked INTEGER NOT NULL,
	failed  INTEGER NOT NULL,
	detail  TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (run, name)
) STRICT, WITHOUT ROWID;

DROP VIEW v_boot;
CREATE VIEW v_boot AS
SELECT s.experiment, b.id AS boot, s.round, s.position, s.arm, b.state, b.boot_id, b.kernel,
       b.started, b.ended, b.attempt, b.build_id, b.detail, b.console, b.env_key, b.hypervisor, b.hypervisor_build_id
FROM boot b JOIN slot s ON s.id = b.slot;

DROP VIEW v_run;
CREATE VIEW v_run AS
SELECT s.experiment, r.id AS run, s.round, s.arm, r.scenario, r.boot, r.state, r.events, r.lost,
       r.capture, r.sha256, r.reason, r.complete, r.measure_ns, r.xen_capture, r.xen_sha256
FROM run r JOIN slot s ON s.id = r.slot;

DROP VIEW v_loss;
CREATE VIEW v_loss AS
SELECT s.experiment, l.run, l.cpu, l.count AS lost, l.cause, l.from_ts, l.to_ts, l.source
FROM loss l JOIN run r ON r.id = l.run JOIN slot s ON s.id = r.slot;

CREATE VIEW v_check AS
SELECT s.experiment, c.run, s.round, s.arm, r.scenario, c.name, c.checked, c.failed, c.detail
FROM run_check c JOIN run r ON r.id = c.run JOIN slot s ON s.id = r.slot;
