-- SPDX-License-Identifier: GPL-2.0-only
-- Runs done again on a deterministic machine, and what the two have in common.

-- metrics_equal and events_equal make it identical; capture_equal says that the files are the same to the byte.
CREATE TABLE reproduction (
	id            INTEGER PRIMARY KEY AUTOINCREMENT,
	run           INTEGER NOT NULL REFERENCES run (id),
	state         TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed')),
	reason        TEXT NOT NULL DEFAULT '',
	identical     INTEGER,
	metrics_equal INTEGER,
	events_equal  INTEGER,
	capture_equal INTEGER,
	detail_json   TEXT,
	created       INTEGER NOT NULL,
	ended         INTEGER
) STRICT;
CREATE INDEX reproduction_run ON reproduction (run);

CREATE VIEW v_reproduction AS
SELECT s.experiment, p.id AS reproduction, p.run, s.round, s.arm, r.scenario, p.state, p.reason, p.identical,
       p.metrics_equal, p.events_equal, p.capture_equal, p.detail_json, p.created, p.ended
FROM reproduction p JOIN run r ON r.id = p.run JOIN slot s ON s.id = r.slot;
