-- SPDX-License-Identifier: GPL-2.0-only
-- lab.db: everything but raw events. The views at the end are the contract for people with a sqlite3 shell
-- (docs/sql.md); the tables may change. All times are ns: wall clock of the lab host unless a name says otherwise.

CREATE TABLE experiment (
	id              INTEGER PRIMARY KEY AUTOINCREMENT,
	name            TEXT NOT NULL,
	machine         TEXT NOT NULL,
	subject         TEXT NOT NULL,
	state           TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
	reason          TEXT NOT NULL DEFAULT '',
	spec            TEXT NOT NULL,
	plan            TEXT NOT NULL,
	plan_sha256     TEXT NOT NULL,
	idempotency_key TEXT UNIQUE,
	machine_json    TEXT,
	emulated        INTEGER,
	cancel          INTEGER NOT NULL DEFAULT 0,
	created         INTEGER NOT NULL,
	started         INTEGER,
	ended           INTEGER
) STRICT;

CREATE TABLE arm (
	experiment INTEGER NOT NULL REFERENCES experiment (id),
	position   INTEGER NOT NULL,
	name       TEXT NOT NULL,
	build      TEXT NOT NULL,
	build_json TEXT NOT NULL,
	PRIMARY KEY (experiment, position),
	UNIQUE (experiment, name)
) STRICT;

CREATE TABLE scenario (
	experiment INTEGER NOT NULL REFERENCES experiment (id),
	position   INTEGER NOT NULL,
	name       TEXT NOT NULL,
	workload   TEXT NOT NULL,
	args       TEXT NOT NULL,
	PRIMARY KEY (experiment, position),
	UNIQUE (experiment, name)
) STRICT;

CREATE TABLE metric (
	experiment   INTEGER NOT NULL REFERENCES experiment (id),
	position     INTEGER NOT NULL,
	name         TEXT NOT NULL,
	unit         TEXT NOT NULL,
	agg          TEXT NOT NULL,
	better       INTEGER NOT NULL,
	is_primary   INTEGER NOT NULL,
	not_a_result TEXT,
	PRIMARY KEY (experiment, position),
	UNIQUE (experiment, name)
) STRICT;

-- A slot is a planned boot. Its state is 'void' once its boots used up their tries.
CREATE TABLE slot (
	id         INTEGER PRIMARY KEY,
	experiment INTEGER NOT NULL REFERENCES experiment (id),
	round      INTEGER NOT NULL,
	position   INTEGER NOT NULL,
	arm        TEXT NOT NULL,
	seed       TEXT NOT NULL,
	state      TEXT NOT NULL DEFAULT 'planned' CHECK (state IN ('planned', 'done', 'void')),
	reason     TEXT NOT NULL DEFAULT '',
	UNIQUE (experiment, position)
) STRICT;

CREATE TABLE boot (
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	slot          INTEGER NOT NULL REFERENCES slot (id),
	attempt       INTEGER NOT NULL,
	state         TEXT NOT NULL,
	detail        TEXT NOT NULL DEFAULT '',
	console_lines TEXT NOT NULL DEFAULT '',
	token         TEXT NOT NULL,
	console       TEXT NOT NULL,
	boot_id       TEXT,
	build_id      TEXT,
	kernel        TEXT,
	cmdline       TEXT,
	env_json      TEXT,
	env_key       TEXT,
	observed_json TEXT,
	started       INTEGER NOT NULL,
	hello         INTEGER,
	ended         INTEGER,
	UNIQUE (slot, attempt)
) STRICT;

-- A run is written before it starts ('running'). 'captured' means that its capture is safe on disk;
-- 'ok' that its events and samples are stored too.
CREATE TABLE run (
	id           INTEGER PRIMARY KEY AUTOINCREMENT,
	boot         INTEGER NOT NULL REFERENCES boot (id),
	slot         INTEGER NOT NULL REFERENCES slot (id),
	place        INTEGER NOT NULL,
	scenario     TEXT NOT NULL,
	state        TEXT NOT NULL,
	reason       TEXT NOT NULL DEFAULT '',
	capture      TEXT,
	sha256       TEXT,
	bytes        INTEGER,
	events       INTEGER,
	lost         INTEGER,
	complete     INTEGER,
	workload     TEXT,
	done_json    TEXT,
	started      INTEGER NOT NULL,
	measure_ns   INTEGER,
	ship_ns      INTEGER,
	ingest_ns    INTEGER,
	ended        INTEGER
) STRICT;
CREATE INDEX run_slot ON run (slot, place);
CREATE INDEX run_boot ON run (boot);

CREATE TABLE run_event (
	run   INTEGER NOT NULL REFERENCES run (id),
	event TEXT NOT NULL,
	count INTEGER NOT NULL,
	PRIMARY KEY (run, event)
) STRICT, WITHOUT ROWID;

-- The ring's own books beside what was decoded: complete when read + lost = written.
CREATE TABLE ring (
	run     INTEGER NOT NULL REFERENCES run (id),
	cpu     INTEGER NOT NULL,
	written INTEGER NOT NULL,
	read    INTEGER NOT NULL,
	lost    INTEGER NOT NULL,
	detail  TEXT NOT NULL,
	PRIMARY KEY (run, cpu)
) STRICT, WITHOUT ROWID;

CREATE TABLE loss (
	run     INTEGER NOT NULL REFERENCES run (id),
	cpu     INTEGER NOT NULL,
	from_ts INTEGER,
	to_ts   INTEGER,
	count   INTEGER,
	cause   TEXT NOT NULL
) STRICT;
CREATE INDEX loss_run ON loss (run);

CREATE TABLE sample (
	run      INTEGER NOT NULL REFERENCES run (id),
	metric   TEXT NOT NULL,
	value    REAL,
	n_events INTEGER NOT NULL,
	note     TEXT NOT NULL DEFAULT '',
	PRIMARY KEY (run, metric)
) STRICT, WITHOUT ROWID;

-- A pair is the base arm and another arm of one round; void pairs say why.
CREATE TABLE void_pair (
	experiment INTEGER NOT NULL REFERENCES experiment (id),
	round      INTEGER NOT NULL,
	scenario   TEXT NOT NULL,
	arm        TEXT NOT NULL,
	reason     TEXT NOT NULL,
	PRIMARY KEY (experiment, round, scenario, arm)
) STRICT, WITHOUT ROWID;

CREATE TABLE result (
	experiment  INTEGER NOT NULL REFERENCES experiment (id),
	scenario    TEXT NOT NULL,
	metric      TEXT NOT NULL,
	arm         TEXT NOT NULL,
	n           INTEGER NOT NULL,
	median      REAL,
	min         REAL,
	max         REAL,
	n_events    INTEGER,
	values_json TEXT NOT NULL,
	PRIMARY KEY (experiment, scenario, metric, arm)
) STRICT, WITHOUT ROWID;

CREATE TABLE compare (
	experiment INTEGER NOT NULL REFERENCES experiment (id),
	scenario   TEXT NOT NULL,
	metric     TEXT NOT NULL,
	base       TEXT NOT NULL,
	arm        TEXT NOT NULL,
	delta      REAL,
	n_pairs    INTEGER NOT NULL,
	n_lower    INTEGER NOT NULL,
	p          REAL,
	p_floor    REAL,
	p_holm     REAL,
	floor      REAL,
	verdict    TEXT,
	PRIMARY KEY (experiment, scenario, metric, arm)
) STRICT, WITHOUT ROWID;

-- Builds registered over HTTP; those of kernel/ are found in their manifests.
CREATE TABLE build (
	name     TEXT PRIMARY KEY,
	manifest TEXT NOT NULL,
	created  INTEGER NOT NULL
) STRICT;

-- Captures that were not recorded here (labctl import): each gets an events file of its own.
CREATE TABLE import (
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	name     TEXT NOT NULL,
	path     TEXT NOT NULL,
	state    TEXT NOT NULL CHECK (state IN ('queued', 'done', 'failed')),
	reason   TEXT NOT NULL DEFAULT '',
	capture  TEXT,
	sha256   TEXT,
	events   INTEGER,
	lost     INTEGER,
	database TEXT,
	created  INTEGER NOT NULL
) STRICT;

CREATE VIEW v_experiment AS
SELECT id AS experiment, name, machine, state, plan_sha256, subject, reason, emulated,
       datetime(created / 1000000000, 'unixepoch') AS created,
       datetime(ended / 1000000000, 'unixepoch') AS ended
FROM experiment;

CREATE VIEW v_boot AS
SELECT s.experiment, b.id AS boot, s.round, s.position, s.arm, b.state, b.boot_id, b.kernel,
       b.started, b.ended, b.attempt, b.build_id, b.detail, b.console, b.env_key
FROM boot b JOIN slot s ON s.id = b.slot;

CREATE VIEW v_run AS
SELECT s.experiment, r.id AS run, s.round, s.arm, r.scenario, r.boot, r.state, r.events, r.lost,
       r.capture, r.sha256, r.reason, r.complete, r.measure_ns
FROM run r JOIN slot s ON s.id = r.slot;

-- CROSS JOIN fixes the order: an experiment's slots, their runs, their samples, however many others there are.
CREATE VIEW v_sample AS
SELECT s.experiment, a.run, s.round, s.arm, r.scenario, a.metric, a.value, a.n_events,
       a.value IS NOT NULL AND r.state = 'ok' AND NOT EXISTS (
		SELECT 1 FROM void_pair v
		WHERE v.experiment = s.experiment AND v.round = s.round AND v.scenario = r.scenario
		      AND v.arm = s.arm) AS used,
       a.note, r.boot, r.slot
FROM slot s CROSS JOIN run r ON r.slot = s.id CROSS JOIN sample a ON a.run = r.id;

-- One value per boot: the median of its runs. (A slot that was booted twice after a crash of the lab
-- counts as one boot per scenario, since each of its runs was finished once.)
CREATE VIEW v_boot_sample AS
SELECT experiment, max(boot) AS boot, round, arm, scenario, metric, avg(value) AS value,
       min(n_events) AS n_events, min(used) AS used
FROM (
	SELECT *, row_number() OVER cell AS k,
	       count(*) OVER (cell ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS n
	FROM v_sample
	WHERE value IS NOT NULL
	WINDOW cell AS (PARTITION BY experiment, round, arm, scenario, metric ORDER BY value))
WHERE k IN ((n + 1) / 2, (n + 2) / 2)
GROUP BY experiment, round, arm, scenario, metric;

CREATE VIEW v_result AS
SELECT r.experiment, r.scenario, r.metric, m.unit, r.arm, r.n, r.median, r.min, r.max, r.values_json, r.n_events
FROM result r JOIN metric m ON m.experiment = r.experiment AND m.name = r.metric;

CREATE VIEW v_compare AS
SELECT experiment, scenario, metric, base, arm, delta, p, p_floor, p_holm, floor, verdict, n_pairs, n_lower
FROM compare;

CREATE VIEW v_loss AS
SELECT s.experiment, l.run, l.cpu, l.count AS lost, l.cause, l.from_ts, l.to_ts
FROM loss l JOIN run r ON r.id = l.run JOIN slot s ON s.id = r.slot;
