// SPDX-License-Identifier: GPL-2.0-only
/* Which pairs are void by the plan's rules, and why. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/void_pair.h"
#include "store/db.h"

/* What is known of one arm's boot in one round, for one scenario. */
enum cell_state {
	CELL_PENDING, /* not booted yet: no pair, and not a void one */
	CELL_GOOD,
	CELL_BAD,
};

struct cell {
	enum cell_state state;
	char reason[160];
	char env_key[65];
};

struct grid {
	const struct spec *spec;
	int64_t experiment;
	struct cell *cells; /* [round - 1][scenario][arm] */
};

static struct cell *cell_at(const struct grid *grid, size_t round, size_t scenario, size_t arm)
{
	return &grid->cells[((round - 1) * grid->spec->n_scenarios + scenario) *
				    grid->spec->n_arms +
			    arm];
}

/*
 * Only the plan's rules make a cell bad: a void slot, a run that failed, lost too much, whose books
 * do not balance or whose kernel was tainted, or a boot that ended by a fault of the kernel.
 */
static const char cells_sql[] =
	"SELECT s.state,"
	" CASE WHEN s.state = 'void' THEN s.reason ELSE coalesce("
	"  (SELECT printf('run %d: %s', r.id,"
	"    CASE WHEN r.state = 'failed' THEN coalesce(nullif(r.reason, ''), 'failed')"
	"         WHEN r.lost > ?5 THEN printf('lost %d events', r.lost)"
	"         WHEN NOT r.complete THEN coalesce("
	"          (SELECT printf('Xen''s buffer of CPU %d was not read to its end', g.cpu) FROM ring g"
	"           WHERE g.run = r.id AND iif(g.source = 'xen', json_extract(g.detail, '$.closed'), 1) = 0),"
	"          'read + lost does not equal written')"
	"         WHEN json_extract(r.done_json, '$.taint') <> 0 THEN 'the kernel is tainted'"
	"         ELSE printf('boot %d ended: %s', b.id, b.state) END)"
	"   FROM run r JOIN boot b ON b.id = r.boot"
	"   WHERE r.slot = s.id AND r.scenario = ?4 AND r.state IN ('ok', 'failed')"
	"    AND (r.state = 'failed' OR r.lost > ?5 OR NOT r.complete"
	"         OR json_extract(r.done_json, '$.taint') <> 0"
	"         OR b.state IN ('panic', 'oops', 'hung', 'wrong-kernel', 'boot-timeout'))"
	"   LIMIT 1),"
	"  CASE WHEN (SELECT count(*) FROM run r WHERE r.slot = s.id AND r.scenario = ?4 AND r.state = 'ok')"
	"            < ?6 THEN 'not every run finished' ELSE '' END) END,"
	" (SELECT b.env_key FROM run r JOIN boot b ON b.id = r.boot"
	"  WHERE r.slot = s.id AND r.scenario = ?4 AND r.state = 'ok' ORDER BY r.id LIMIT 1)"
	"FROM slot s WHERE s.experiment = ?1 AND s.round = ?2 AND s.arm = ?3";

static int read_cell(sqlite3 *db, const struct grid *grid, size_t round, size_t scenario,
		     size_t arm)
{
	struct cell *cell = cell_at(grid, round, scenario, arm);
	const struct spec *spec = grid->spec;
	sqlite3_stmt *stmt;
	const char *text;
	int ret;

	ret = db_prepare(db, &stmt, cells_sql, "iittii", grid->experiment, (int64_t)round,
			 spec->arms[arm].name, spec->scenarios[scenario].name,
			 (int64_t)spec->max_lost, (int64_t)spec->repeats);
	if (ret)
		return ret;
	if (sqlite3_step(stmt) == SQLITE_ROW) {
		text = (const char *)sqlite3_column_text(stmt, 1);
		snprintf(cell->reason, sizeof(cell->reason), "%s", text ?: "");
		cell->state = !strcmp((const char *)sqlite3_column_text(stmt, 0), "planned")
				      ? CELL_PENDING
			      : *cell->reason ? CELL_BAD
					      : CELL_GOOD;
		text = (const char *)sqlite3_column_text(stmt, 2);
		snprintf(cell->env_key, sizeof(cell->env_key), "%s", text ?: "");
	}
	sqlite3_finalize(stmt);
	return 0;
}

static int note_void(sqlite3 *db, const struct grid *grid, size_t round, size_t scenario,
		     size_t arm, const char *reason)
{
	return db_run(db,
		      "INSERT INTO void_pair (experiment, round, scenario, arm, reason) "
		      "VALUES (?1, ?2, ?3, ?4, ?5)",
		      "iittt", grid->experiment, (int64_t)round,
		      grid->spec->scenarios[scenario].name, grid->spec->arms[arm].name, reason);
}

/* A pair is the base (the first arm) and another arm; what has no good pair is not used. */
static int judge_pairs(sqlite3 *db, const struct grid *grid, size_t round, size_t scenario)
{
	const struct cell *base = cell_at(grid, round, scenario, 0);
	size_t voids = 0;
	char reason[256];
	int ret = 0;

	for (size_t arm = 1; !ret && arm < grid->spec->n_arms; arm++) {
		const struct cell *cell = cell_at(grid, round, scenario, arm);

		*reason = '\0';
		if (cell->state == CELL_BAD)
			snprintf(reason, sizeof(reason), "%s", cell->reason);
		else if (base->state == CELL_BAD)
			snprintf(reason, sizeof(reason), "%s: %s", grid->spec->arms[0].name,
				 base->reason);
		else if (cell->state == CELL_GOOD && base->state == CELL_GOOD &&
			 strcmp(cell->env_key, base->env_key))
			snprintf(reason, sizeof(reason), "environment differs from that of %s",
				 grid->spec->arms[0].name);
		if (!*reason)
			continue;
		voids++;
		ret = note_void(db, grid, round, scenario, arm, reason);
	}
	if (!ret && base->state == CELL_BAD)
		ret = note_void(db, grid, round, scenario, 0, base->reason);
	else if (!ret && voids == grid->spec->n_arms - 1)
		ret = note_void(db, grid, round, scenario, 0,
				"no other arm has a good run in this round");
	return ret;
}

/**
 * void_pair_update() - find an experiment's void pairs anew; in the caller's transaction
 *
 * Return: 0 or negative errno.
 */
int void_pair_update(sqlite3 *db, int64_t experiment, const struct spec *spec)
{
	struct grid grid = {.spec = spec, .experiment = experiment};
	int ret;

	grid.cells = calloc((size_t)spec->rounds * spec->n_scenarios * spec->n_arms,
			    sizeof(*grid.cells));
	if (!grid.cells)
		return -ENOMEM;
	ret = db_run(db, "DELETE FROM void_pair WHERE experiment = ?1", "i", experiment);
	for (size_t round = 1; !ret && round <= spec->rounds; round++) {
		for (size_t scenario = 0; !ret && scenario < spec->n_scenarios; scenario++) {
			for (size_t arm = 0; !ret && arm < spec->n_arms; arm++)
				ret = read_cell(db, &grid, round, scenario, arm);
			if (!ret)
				ret = judge_pairs(db, &grid, round, scenario);
		}
	}
	free(grid.cells);
	return ret;
}
