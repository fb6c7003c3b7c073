// SPDX-License-Identifier: GPL-2.0-only
// One experiment: what it is, how far it is, and the sections below.

import { get, getAll, pageId, start } from "/api.js";
import { drawBoots } from "/boots.js";
import { drawCounters } from "/counters.js";
import { badge, definitions, el, emulatedBanner, fill, link, sections } from "/dom.js";
import { drawEcdf } from "/ecdf.js";
import * as format from "/format.js";
import { drawPlan } from "/plan.js";
import { drawProgress } from "/progress.js";
import { drawResults, drawValues } from "/results.js";
import { drawTrouble } from "/trouble.js";
import { drawVerdict } from "/verdict.js";

const id = pageId();
const base = `/api/v1/experiments/${id}`;
const REPORTS = [["text", "text"], ["csv", "CSV"], ["json", "JSON"], ["benchstat", "benchstat"]];

function drawHead(experiment, results) {
	const { measuring, deterministic } = results;
	const live = ["queued", "running"].includes(experiment.state);
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
			results.kind === "aa" && el("span", {}, "A/A: both arms are one build")),
		el("p", { class: "meta" }, el("span", {}, "Report:"), REPORTS.map(([name, text]) => link(`${base}/report?format=${name}`, text)),
			link(`/compare?a=${id}`, "Compare with another"),
			link(`/schedule?from=${id}`, "Schedule a copy"),
			live && link(`/experiments/${id}/live`, "Watch it live")),
		experiment.reason ? el("p", { class: "banner" }, experiment.reason) : null,
		results.origin ? el("details", { class: "card" }, el("summary", {}, "Imported from an archive of another labd"),
			definitions(format.flatten(results.origin))) : null,
		emulatedBanner(experiment.emulated, results.deterministic));
}

async function draw() {
	const [experiment, results, boots] = await Promise.all([
		get(base), get(`${base}/results`), getAll(`${base}/boots`, "boots")]);

	drawHead(experiment, results);
	drawProgress(experiment.progress);
	drawVerdict(experiment, results);
	drawResults(experiment, results);
	drawValues(experiment, results);
	drawEcdf(experiment, results);
	drawCounters(experiment, results);
	drawBoots(boots, results);
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

sections("head", "progress", "verdict", "results", "values", "ecdf", "counters", "boots", "trouble", "plan");
document.getElementById("progress").setAttribute("aria-live", "polite");
start(async () => {
	const experiment = await draw();

	if (experiment.state === "running" || experiment.state === "queued")
		follow(experiment);
}, "head");
