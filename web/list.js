// SPDX-License-Identifier: GPL-2.0-only
// The list of experiments, newest first.

import { get, start } from "/api.js";
import { badge, el, fill, link, num, table } from "/dom.js";
import * as format from "/format.js";

const REFRESH_MS = 5000;
let shown = 50;

function row(experiment) {
	const { id, state, boots_done: done, boots_total: total } = experiment;
	const seconds = experiment.started && experiment.ended
		? (Date.parse(experiment.ended) - Date.parse(experiment.started)) / 1000 : null;

	return [
		el("th", { scope: "row", class: "num" }, String(id)),
		el("td", { class: "name" }, link(`/experiments/${id}`, experiment.name), el("small", {}, experiment.arms.join(" · "))),
		el("td", {}, badge(state), experiment.reason ? el("small", {}, experiment.reason) : null),
		el("td", {}, experiment.machine, experiment.emulated ? el("small", {}, "emulated") : null),
		num(`${done} / ${total}`),
		el("td", { class: "nowrap" }, format.time(experiment.started || experiment.created)),
		num(format.duration(seconds)),
	];
}

async function draw() {
	const { experiments, next } = await get(`/api/v1/experiments?limit=${shown}`);

	if (!experiments.length) {
		fill("list", el("p", { class: "card" }, "No experiment yet. Submit one with ",
			el("code", {}, "labctl submit experiments/kvm-first.json --watch"), "."));
		return false;
	}
	const more = el("button", { type: "button" }, "Show more");
	more.addEventListener("click", () => {
		shown = Math.min(shown + 50, 500);
		draw();
	});
	fill("list",
		table("All experiments", "newest first", [{ text: "#", class: "num" }, "Name", "State", "Machine",
			{ text: "Boots", class: "num" }, "Started", { text: "Took", class: "num" }], experiments.map(row), true),
		next && shown < 500 ? more : null);
	return experiments.some(e => e.state === "running" || e.state === "queued");
}

async function loop() {
	let active = true;

	try {
		active = await draw();
	} finally {
		// Also without an active one: somebody may submit the next.
		setTimeout(() => loop().catch(() => {}), active ? REFRESH_MS : REFRESH_MS * 3);
	}
}

start(loop, "list");
