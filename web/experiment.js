// SPDX-License-Identifier: GPL-2.0-only
// One experiment: what it is, how far it is, and the sections below.

import { get, getAll, pageId, start } from "/api.js";
import { drawBoots } from "/boots.js";
import { badge, el, emulatedBanner, fill, link } from "/dom.js";
import * as format from "/format.js";
import { drawPlan } from "/plan.js";
import { drawResults, drawValues } from "/results.js";
import { drawTrouble } from "/trouble.js";

const id = pageId();
const base = `/api/v1/experiments/${id}`;

function drawHead(experiment, results) {
	const { measuring, deterministic } = results;
	const measured = deterministic ? `${format.duration(measuring.measure_ns / 1e9)} of the machine's time measured`
		: `${format.share(measuring.measure_ns, measuring.wall_ns)} of it measuring`;

	document.title = `${experiment.name} · labd`;
	fill("head",
		el("h1", {}, experiment.name),
		el("p", { class: "meta" },
			badge(experiment.state),
			el("span", {}, `experiment ${id}`),
			el("span", {}, `machine ${experiment.machine}`),
			experiment.started && el("span", {}, `started ${format.time(experiment.started)}`),
			results.clock && el("span", {}, `clock: ${results.clock}`),
			measuring.wall_ns && el("span", {}, `took ${format.duration(measuring.wall_ns / 1e9)}, ${measured}`),
			link(`${base}/report`, "Text report"),
			link(`${base}/results`, "JSON")),
		experiment.reason ? el("p", { class: "banner" }, experiment.reason) : null,
		emulatedBanner(experiment.emulated, results.deterministic));
}

function drawProgress(progress) {
	if (progress.state !== "running" && progress.state !== "queued") {
		fill("progress");
		return;
	}
	const { runs_done: done, runs_total: total, current } = progress;
	const percent = total ? Math.floor(100 * done / total) : 0;
	const where = current
		? `Round ${current.round}, ${current.arm}, boot ${current.position} of ${progress.boots_total}` +
			(current.scenario ? `: running ${current.scenario}` : ": booting")
		: progress.state === "queued" ? `Waiting; ${progress.ahead} ahead` : "Between boots: storing";
	const left = progress.eta_s === null ? "time left is known after the first boot"
		: progress.eta_s < 60 ? "less than a minute left"
		: `about ${format.duration(progress.eta_s)} left`;

	fill("progress", el("div", { class: "card" },
		el("p", {}, el("strong", {}, `${percent} %`), ` · ${done} of ${total} runs · ${left}`),
		el("progress", { class: "bar", max: total || 1, value: done, "aria-label": "Runs done" }),
		el("p", { class: "quiet" }, where,
			current ? [" · ", link(`/boots/${current.boot}`, `boot ${current.boot}`)] : null)));
}

async function draw() {
	const [experiment, results, boots] = await Promise.all([
		get(base), get(`${base}/results`), getAll(`${base}/boots`, "boots")]);

	drawHead(experiment, results);
	drawProgress(experiment.progress);
	drawResults(experiment, results);
	drawValues(experiment, results);
	drawBoots(boots);
	drawTrouble(results);
	drawPlan(experiment, results);
	return experiment;
}

function follow(experiment) {
	const source = new EventSource(`${base}/stream`);
	let boots = experiment.progress.boots_done;
	let state = experiment.state;

	source.addEventListener("progress", event => {
		const progress = JSON.parse(event.data);

		drawProgress(progress);
		if (progress.boots_done !== boots || progress.state !== state)
			draw().catch(() => {});
		boots = progress.boots_done;
		state = progress.state;
	});
	source.addEventListener("end", () => {
		source.close();
		draw().catch(() => {});
	});
}

start(async () => {
	const experiment = await draw();

	if (experiment.state === "running" || experiment.state === "queued")
		follow(experiment);
}, "head");
