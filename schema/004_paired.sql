-- SPDX-License-Identifier: GPL-2.0-only
-- The paired view beside the medians: each round's arm against the same round's base. NULL in experiments of before.

-- ratios_json: arm / base by round, null for a round without a pair or of a base that alone is zero.
ALTER TABLE compare ADD COLUMN n_equal INTEGER;
ALTER TABLE compare ADD COLUMN n_higher INTEGER;
ALTER TABLE compare ADD COLUMN paired_delta REAL;
ALTER TABLE compare ADD COLUMN ratios_json TEXT;

DROP VIEW v_compare;
CREATE VIEW v_compare AS
SELECT experiment, scenario, metric, base, arm, delta, p, p_floor, p_holm, floor, verdict, n_pairs, n_lower,
       n_equal, n_higher, paired_delta, ratios_json
FROM compare;
