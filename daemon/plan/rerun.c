// SPDX-License-Identifier: GPL-2.0-only
/*
 * A run's boot again, up to that run: what ran before it in its boot is a part of what it depends
 * on. Nothing of it is stored but the run's captures.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/util.h"
#include "plan/reproduce.h"
#include "plan/slot_boot.h"
#include "store/build.h"

/* On another machine or with another image a run is another run. */
static int check_machine(struct reproduction *rep)
{
	json_t *then = json_loads(rep->machine, 0, NULL), *now = rep->exec->machine, *value;
	const char *key;
	int ret = 0;

	json_object_foreach (now, key, value) {
		if (json_equal(json_object_get(then, key), value))
			continue;
		if (!strcmp(key, "image_sha256"))
			ret = reproduce_fail(rep, -ESTALE,
					     "the image of subject %.64s was built anew since then",
					     rep->exec->spec->subject);
		else
			ret = reproduce_fail(
				rep, -ESTALE,
				"the machine %.64s is another than it was: its %.64s differs",
				rep->exec->spec->machine, key);
		break;
	}
	json_decref(then);
	return ret;
}

/* The kernel proves itself at boot too; to say it here saves the boot. */
static int check_build(struct reproduction *rep)
{
	static const char *const keys[] = {"build_id", "hypervisor_build_id"};
	const json_t *then = rep->exec->builds[rep->slot->arm];
	struct sched *sched = rep->sched;
	const char *name = json_text(then, "name");
	json_t *now;
	int ret;

	pthread_mutex_lock(&sched->lock);
	ret = build_find(sched->db, sched->config.builds_dir, name, &now);
	pthread_mutex_unlock(&sched->lock);
	if (ret == -ENOENT)
		return reproduce_fail(rep, ret, "there is no build %.64s any more", name);
	if (ret)
		return ret;
	for (size_t i = 0; !ret && i < ARRAY_SIZE(keys); i++)
		if (strcmp(json_text(then, keys[i]), json_text(now, keys[i])))
			ret = reproduce_fail(rep, -ESTALE,
					     "the build %.64s is another since then: its %s is "
					     "%.40s, was %.40s",
					     name, keys[i], json_text(now, keys[i]),
					     json_text(then, keys[i]));
	json_decref(now);
	return ret;
}

static int find_slot(struct reproduction *rep)
{
	const struct plan *plan = rep->exec->plan;

	for (size_t i = 0; i < plan->n_slots; i++) {
		const struct plan_slot *slot = &plan->slots[i];

		if (slot->position == rep->position && (uint64_t)rep->place < slot->n_runs) {
			rep->slot = slot;
			return 0;
		}
	}
	return reproduce_fail(rep, -ENOENT, "the plan has no place for run %lld",
			      (long long)rep->run);
}

/* Each run's captures take the place of those before it; the last ones stay. */
static int do_run(struct reproduction *rep, struct boot *boot, const json_t *jobs, size_t place)
{
	char capture[PATH_MAX], xen[PATH_MAX];
	struct run_request request = {
		.job = json_array_get(jobs, place),
		.capture_path = capture,
		.capture_max = CAPTURE_MAX,
		.timeout_ms = job_timeout_ms(rep->exec->spec, rep->slot, place),
	};

	reproduce_path(rep, REPRODUCE_CAPTURE, capture);
	unlink(capture);
	if (spec_xen_mask(rep->exec->spec)) {
		reproduce_path(rep, REPRODUCE_XEN, xen);
		unlink(xen);
		request.xen_path = xen;
	}
	json_decref(rep->done);
	rep->done = NULL;
	return boot_run(boot, &request, &rep->done);
}

static int do_boot(struct reproduction *rep, const json_t *jobs)
{
	char console[48];
	struct slot_request request;
	struct boot_end end;
	struct boot *boot;
	json_t *hello = NULL;
	int ret;

	snprintf(console, sizeof(console), "consoles/reproduce-%lld.log", (long long)rep->id);
	ret = slot_request_make(rep->exec, rep->slot, jobs, console, &request);
	ret = ret ?: boot_start(rep->exec->ops, &request.boot, &boot);
	if (ret)
		return ret;
	ret = boot_wait_hello(boot, &hello);
	for (size_t place = 0; !ret && place <= (size_t)rep->place; place++)
		ret = exec_interrupted(rep->exec) ? -ECANCELED : do_run(rep, boot, jobs, place);
	boot_finish(boot, &end);
	json_decref(hello);
	if (exec_interrupted(rep->exec) && ret)
		return -ECANCELED;
	if (ret)
		return reproduce_fail(rep, -EIO, "the boot ended: %s: %.200s",
				      boot_state_name(end.state), end.detail);
	if (strcmp(json_text(rep->done, "state"), "ok"))
		return reproduce_fail(rep, -EIO, "the workload failed this time: %.200s",
				      json_text(rep->done, "error"));
	return 0;
}

/**
 * rerun() - boot the run's slot again and do its runs up to this one
 *
 * The captures are then in the reproduction's files, and what the agent said is in @rep->done. The
 * console's log stays, for whoever wants to know why a boot failed this time.
 *
 * Return: 0, -ECANCELED when labd ends, or another negative errno with the reason set where the
 * error alone would not say it.
 */
int rerun(struct reproduction *rep)
{
	json_t *jobs;
	int ret;

	ret = exec_load(rep->sched, rep->experiment, &rep->exec, rep->reason);
	ret = ret ?: find_slot(rep) ?: check_machine(rep) ?: check_build(rep);
	if (ret)
		return ret;
	jobs = jobs_make(rep->exec->spec, rep->slot);
	if (!jobs)
		return -ENOMEM;
	ret = do_boot(rep, jobs);
	json_decref(jobs);
	return ret;
}
