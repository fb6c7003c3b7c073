-- SPDX-License-Identifier: GPL-2.0-only
-- From medians to verdicts: what the plan tests, what the test said, and the noise floor it has to beat.

-- kind aa: both arms are one build, so that every difference is the machine's own. judged: which version of the
-- statistics made the verdicts, 0 for none yet. origin_json: where an experiment of an archive was made.
ALTER TABLE experiment ADD COLUMN kind TEXT NOT NULL DEFAULT 'ab' CHECK (kind IN ('ab', 'aa'));
ALTER TABLE experiment ADD COLUMN judged INTEGER NOT NULL DEFAULT 0;
ALTER TABLE experiment ADD COLUMN origin_json TEXT;

-- A p99.9's 95 % interval from order statistics; high is NULL where no upper bound exists. Of an arm: the medians
-- of its boots' intervals.
ALTER TABLE sample ADD COLUMN low REAL;
ALTER TABLE sample ADD COLUMN high REAL;
ALTER TABLE result ADD COLUMN low REAL;
ALTER TABLE result ADD COLUMN high REAL;
-- With several runs per boot: how far boots differ beyond what the runs inside them do.
ALTER TABLE result ADD COLUMN variance_json TEXT;

-- shift is the Hodges-Lehmann estimate in the metric's unit, its interval has the level beside it; change_low and
-- change_high are that interval as fractions of the base's median. All p are raw but p_holm. NULL until the
-- experiment is done: n is fixed, and nobody looks before the end.
ALTER TABLE compare ADD COLUMN in_family INTEGER NOT NULL DEFAULT 0;
ALTER TABLE compare ADD COLUMN family_size INTEGER;
ALTER TABLE compare ADD COLUMN alpha REAL;
ALTER TABLE compare ADD COLUMN test TEXT;
ALTER TABLE compare ADD COLUMN shift REAL;
ALTER TABLE compare ADD COLUMN shift_low REAL;
ALTER TABLE compare ADD COLUMN shift_high REAL;
ALTER TABLE compare ADD COLUMN shift_level REAL;
ALTER TABLE compare ADD COLUMN change_low REAL;
ALTER TABLE compare ADD COLUMN change_high REAL;
ALTER TABLE compare ADD COLUMN paired_p REAL;
ALTER TABLE compare ADD COLUMN paired_p_floor REAL;
ALTER TABLE compare ADD COLUMN floor_pairs INTEGER;
ALTER TABLE compare ADD COLUMN margin REAL;
ALTER TABLE compare ADD COLUMN no_larger REAL;
ALTER TABLE compare ADD COLUMN detectable REAL;
ALTER TABLE compare ADD COLUMN why TEXT;

-- Tracepoints that a kernel said it has, by its build-id; a hypervisor's records are known to labd.
CREATE TABLE build_event (
	build_id TEXT NOT NULL,
	event    TEXT NOT NULL,
	PRIMARY KEY (build_id, event)
) STRICT, WITHOUT ROWID;

-- An archive of an experiment that was imported.
ALTER TABLE import ADD COLUMN experiment INTEGER REFERENCES experiment (id);

DROP VIEW v_experiment;
CREATE VIEW v_experiment AS
SELECT id AS experiment, name, machine, state, plan_sha256, subject, reason, emulated,
       datetime(created / 1000000000, 'unixepoch') AS created,
       datetime(ended / 1000000000, 'unixepoch') AS ended, kind
FROM experiment;

DROP VIEW v_sample;
CREATE VIEW v_sample AS
SELECT s.experiment, a.run, s.round, s.arm, r.scenario, a.metric, a.value, a.n_events,
       a.value IS NOT NULL AND r.state = 'ok' AND NOT EXISTS (
		SELECT 1 FROM void_pair v
		WHERE v.experiment = s.experiment AND v.round = s.round AND v.scenario = r.scenario
		      AND v.arm = s.arm) AS used,
       a.note, r.boot, r.slot, a.low, a.high
FROM slot s CROSS JOIN run r ON r.slot = s.id CROSS JOIN sample a ON a.run = r.id;

-- As before, one value per boot: the median of its runs. Without GROUP BY, since a condition on the experiment passes
-- through windows that are partitioned by it, and would not pass through a GROUP BY above them.
DROP VIEW v_boot_sample;
CREATE VIEW v_boot_sample AS
SELECT experiment, boot, round, arm, scenario, metric, value, n_events, used
FROM (
	SELECT experiment, round, arm, scenario, metric, max(boot) OVER cell AS boot, avg(value) OVER cell AS value,
	       min(n_events) OVER cell AS n_events, min(used) OVER cell AS used, row_number() OVER cell AS nth
	FROM (
		SELECT *, row_number() OVER (PARTITION BY experiment, round, arm, scenario, metric ORDER BY value) AS k,
		       count(*) OVER (PARTITION BY experiment, round, arm, scenario, metric) AS n
		FROM v_sample
		WHERE value IS NOT NULL)
	WHERE k IN ((n + 1) / 2, (n + 2) / 2)
	WINDOW cell AS (PARTITION BY experiment, round, arm, scenario, metric))
WHERE nth = 1;

DROP VIEW v_result;
CREATE VIEW v_result AS
SELECT r.experiment, r.scenario, r.metric, m.unit, r.arm, r.n, r.median, r.min, r.max, r.values_json, r.n_events,
       r.low, r.high, r.variance_json
FROM result r JOIN metric m ON m.experiment = r.experiment AND m.name = r.metric;

DROP VIEW v_compare;
CREATE VIEW v_compare AS
SELECT experiment, scenario, metric, base, arm, delta, p, p_floor, p_holm, floor, verdict, n_pairs, n_lower,
       n_equal, n_higher, paired_delta, ratios_json, in_family, family_size, alpha, test, shift, shift_low, shift_high,
       shift_level, change_low, change_high, paired_p, paired_p_floor, floor_pairs, margin, no_larger, detectable, why
FROM compare;

-- Every pair of the A/A experiments that were done here, with the environment it was measured in.
CREATE VIEW v_aa_pair AS
SELECT e.machine, (SELECT b.env_key FROM slot s JOIN boot b ON b.slot = s.id
		   WHERE s.experiment = e.id AND s.round = j.key + 1 AND s.arm = c.base AND b.state = 'ok'
		   ORDER BY b.id DESC LIMIT 1) AS env_key,
       c.scenario, n.workload, n.args, c.metric, m.unit, e.id AS experiment, j.key + 1 AS round, j.value AS ratio,
       m.agg
FROM experiment e
CROSS JOIN compare c ON c.experiment = e.id
JOIN scenario n ON n.experiment = e.id AND n.name = c.scenario
JOIN metric m ON m.experiment = e.id AND m.name = c.metric
JOIN json_each(c.ratios_json) j ON j.value IS NOT NULL
WHERE e.kind = 'aa' AND e.state = 'done' AND e.origin_json IS NULL;

-- The A/A noise floor of a machine in an environment: the largest |ratio - 1| among those pairs.
CREATE VIEW v_floor AS
SELECT machine, env_key, scenario, workload, args, metric, unit, max(abs(ratio - 1)) AS floor, count(*) AS n_pairs,
       count(DISTINCT experiment) AS n_experiments, agg
FROM v_aa_pair
GROUP BY machine, env_key, scenario, workload, args, metric, unit, agg;
