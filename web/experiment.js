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
const AGAIN_MS = 3000;
const main = document.getElementById("main");
const active = state => state === "running" || state === "queued";
const REPORTS = [["text", "text"], ["csv", "CSV"], ["json", "JSON"], ["benchstat", "benchstat"]];

function drawHead(experiment, results) {
	const { measuring, deterministic } = results;
	const live = active(experiment.state);
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

let turn = 0; // of two draws at a time the newer one wins
let late = false; // whether there is something new that was not drawn
let curves = false; // whether the distribution is there; while more comes it stays as it is
let shown; // what the page was drawn for: state, boots done, boot that runs

async function draw() {
	const mine = ++turn;

	late = false;
	const [experiment, results, boots] = await Promise.all([
		get(base), get(`${base}/results`), getAll(`${base}/boots`, "boots")]);

	if (mine !== turn)
		return experiment;
	drawHead(experiment, results);
	drawProgress(experiment.progress);
	drawVerdict(experiment, results);
	drawResults(experiment, results);
	drawValues(experiment, results);
	if (!curves || !active(experiment.state))
		drawEcdf(experiment, results);
	curves = results.samples.length > 0;
	drawCounters(experiment, results);
	drawBoots(boots, results);
	drawTrouble(results);
	drawPlan(experiment, results);
	return experiment;
}

// Not below the keyboard's focus, which may have opened a cell too: then as soon as it has left.
function redraw() {
	late = main.contains(document.activeElement) || document.querySelector("dialog[open]") !== null;
	if (!late)
		draw().catch(() => {});
}

const stateOf = progress => JSON.stringify([progress.state, progress.boots_done, progress.current?.boot]);

function onProgress(progress) {
	const now = stateOf(progress);

	drawProgress(progress);
	if (now !== shown)
		redraw();
	shown = now;
}

function follow() {
	const source = new EventSource(`${base}/stream`);

	source.addEventListener("progress", event => onProgress(JSON.parse(event.data)));
	source.addEventListener("end", () => {
		source.close();
		draw().catch(() => {});
	});
	source.addEventListener("error", () => {
		// The browser tries again by itself, but not where labd answered with an error.
		if (source.readyState === EventSource.CLOSED)
			setTimeout(follow, AGAIN_MS);
	});
}

sections("head", "progress", "verdict", "results", "values", "ecdf", "counters", "boots", "trouble", "plan");
document.getElementById("progress").setAttribute("aria-live", "polite");
main.addEventListener("focusout", ({ relatedTarget }) => {
	if (late && !main.contains(relatedTarget))
		redraw();
});
start(async () => {
	const experiment = await draw();

	if (active(experiment.state)) {
		shown = stateOf(experiment.progress);
		follow();
	}
}, "head");
