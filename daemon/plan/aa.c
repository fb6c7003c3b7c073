// SPDX-License-Identifier: GPL-2.0-only
/* One wish makes an A/A experiment of another's base: what the machine's own noise is. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/json.h"
#include "base/util.h"
#include "plan/exec.h"
#include "plan/submission.h"
#include "store/db.h"

#define NAME_PREFIX "A/A: "
#define NAME_MAX_CHARS 120
/* Exact in JavaScript, whose pages show it. */
#define SEED_MASK ((UINT64_C(1) << 53) - 1)

/* "A/A: <name>", cut between two characters of UTF-8 where a spec's name would be too long. */
static char *aa_name(const char *name)
{
	size_t room = NAME_MAX_CHARS - strlen(NAME_PREFIX), length = 0;

	if (!strncmp(name, NAME_PREFIX, strlen(NAME_PREFIX)))
		return strdup(name);
	for (; name[length]; length++)
		if ((name[length] & 0xc0) != 0x80 && !room--)
			break;
	return str_printf(NAME_PREFIX "%.*s", (int)length, name);
}

static int set_primary(json_t *spec)
{
	json_t *primary = json_object_get(spec, "primary");

	if (!primary)
		return json_object_set_new(spec, "primary", json_pack("{s:s}", "arm", "b"));
	return json_object_set_new(primary, "arm", json_string("b"));
}

/* Both arms are the base's build; names, arms and seed are new, and all else stays. */
static int make_spec(json_t *spec)
{
	const char *build = json_text(json_array_get(json_object_get(spec, "arms"), 0), "build");
	char *name = aa_name(json_text(spec, "name"));
	uint64_t seed;
	int ret;

	if (!name)
		return -ENOMEM;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed)) {
		ret = -errno;
		goto out;
	}
	ret = json_object_set_new(spec, "arms",
				  json_pack("[{s:s, s:s}, {s:s, s:s}]", "name", "a", "build", build,
					    "name", "b", "build", build)) ||
			      json_object_set_new(spec, "name", json_string(name)) ||
			      json_object_set_new(spec, "kind", json_string("aa")) ||
			      json_object_set_new(spec, "seed", json_integer(seed & SEED_MASK)) ||
			      set_primary(spec)
		      ? -ENOMEM
		      : 0;
out:
	free(name);
	return ret;
}

static int load_spec(struct sched *sched, int64_t experiment, json_t **ret_spec)
{
	char *text = NULL;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = db_get_text(sched->db, &text, "SELECT spec FROM experiment WHERE id = ?1", "i",
			  experiment);
	pthread_mutex_unlock(&sched->lock);
	if (ret)
		return ret;
	*ret_spec = json_loads(text, 0, NULL);
	free(text);
	return *ret_spec ? 0 : -EBADMSG;
}

/**
 * sched_aa() - queue an A/A experiment of an experiment's base build: its machine, scenarios,
 * trace, metrics and rounds, with a new seed
 * @base: the experiment, in whatever state it is
 *
 * Return: 0, or negative errno with @problem set: 404 for no such experiment, else as
 * sched_submit()'s, so for a build that is gone.
 */
int sched_aa(struct sched *sched, int64_t base, int64_t *ret_experiment, struct problem *problem)
{
	json_t *spec = NULL;
	char *body = NULL;
	bool created;
	int ret;

	ret = load_spec(sched, base, &spec);
	if (ret == -ENOENT)
		return problem_set(problem, 404, NULL, "there is no experiment %lld",
				   (long long)base);
	ret = ret ?: make_spec(spec);
	if (!ret) {
		body = json_dumps(spec, JSON_COMPACT);
		ret = body ? 0 : -ENOMEM;
	}
	if (ret)
		out_of_order(problem, "the A/A experiment could not be made", ret);
	else
		ret = sched_submit(sched, body, strlen(body), NULL, ret_experiment, &created,
				   problem);
	free(body);
	json_decref(spec);
	return ret;
}
