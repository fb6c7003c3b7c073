-- SPDX-License-Identifier: GPL-2.0-only
-- events/<experiment>.db: the raw events of one experiment. Beside these tables it has, per event, a view
-- ev_<system>_<event> over the tables ev_<system>_<event>__v1, __v2, …: a table per format of the event.
-- The file explains itself: run says which arm and scenario a run's events belong to.

CREATE TABLE run (
	run      INTEGER PRIMARY KEY,
	round    INTEGER NOT NULL,
	arm      TEXT NOT NULL,
	scenario TEXT NOT NULL,
	capture  TEXT NOT NULL,
	sha256   TEXT NOT NULL,
	events   INTEGER NOT NULL,
	first_ts INTEGER,
	last_ts  INTEGER,
	clock    TEXT NOT NULL,
	uname    TEXT NOT NULL,
	cpustat  TEXT
) STRICT;

-- hash is that of the format's lines of fields: its id and print format differ between equal events.
CREATE TABLE event_format (
	event   TEXT NOT NULL,
	version INTEGER NOT NULL,
	hash    TEXT NOT NULL,
	name    TEXT NOT NULL,
	tbl     TEXT NOT NULL,
	format  TEXT NOT NULL,
	PRIMARY KEY (event, version),
	UNIQUE (event, hash)
) STRICT;

-- Where the run's rows are: rowids first_rowid to last_rowid of the version's table. An event that was
-- recorded and never came has count 0; version 0 is an event whose format the capture lacks.
CREATE TABLE run_span (
	run         INTEGER NOT NULL REFERENCES run (run),
	event       TEXT NOT NULL,
	version     INTEGER NOT NULL,
	first_rowid INTEGER,
	last_rowid  INTEGER,
	count       INTEGER NOT NULL,
	PRIMARY KEY (run, event)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_cpu (
	run          INTEGER NOT NULL REFERENCES run (run),
	cpu          INTEGER NOT NULL,
	records      INTEGER NOT NULL,
	lost         INTEGER NOT NULL,
	lost_unknown INTEGER NOT NULL,
	PRIMARY KEY (run, cpu)
) STRICT, WITHOUT ROWID;

-- count is NULL where the ring does not say how many events it overwrote.
CREATE TABLE run_loss (
	run     INTEGER NOT NULL REFERENCES run (run),
	cpu     INTEGER NOT NULL,
	from_ts INTEGER NOT NULL,
	to_ts   INTEGER NOT NULL,
	count   INTEGER
) STRICT;
CREATE INDEX run_loss_run ON run_loss (run);

CREATE VIEW v_run_event AS
SELECT r.run, r.round, r.arm, r.scenario, s.event, s.count AS events, f.name, f.tbl, s.first_rowid, s.last_rowid
FROM run r JOIN run_span s ON s.run = r.run
LEFT JOIN event_format f ON f.event = s.event AND f.version = s.version;
