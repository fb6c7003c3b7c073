// SPDX-License-Identifier: GPL-2.0-only
// The list of experiments, newest first.

import { get, start } from "/api.js";
import { badge, el, fill, link, num, sections, table } from "/dom.js";
import * as format from "/format.js";

const REFRESH_MS = 5000;
let shown = 50;
let last = null; // the answer that is drawn: what did not change keeps its focus
const ticked = new Set();

function compareButton() {
	const button = el("button", { type: "button", disabled: ticked.size !== 2 }, "Compare the two that are ticked");

	button.addEventListener("click", () => {
		const [a, b] = [...ticked].sort((x, y) => x - y);

		location.assign(`/compare?a=${a}&b=${b}`);
	});
	return button;
}

function tick(id, button) {
	const box = el("input", { type: "checkbox", checked: ticked.has(id), "aria-label": `Compare experiment ${id}` });

	box.addEventListener("change", () => {
		ticked[box.checked ? "add" : "delete"](id);
		button.disabled = ticked.size !== 2;
	});
	return box;
}

function row(experiment, button) {
	const { id, state, boots_done: done, boots_total: total } = experiment;
	const seconds = experiment.started && experiment.ended
		? (Date.parse(experiment.ended) - Date.parse(experiment.started)) / 1000 : null;

	return [
		el("th", { scope: "row", class: "num" }, tick(id, button), ` ${id}`),
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
	const active = experiments.some(e => e.state === "running" || e.state === "queued");
	const now = JSON.stringify([experiments, shown]);
	const button = compareButton();

	if (now === last)
		return active;
	last = now;

	if (!experiments.length) {
		fill("list", el("p", { class: "card" }, "No experiment yet. Submit one with ",
			el("code", {}, "labctl submit experiments/kvm-first.json --watch"), ", or build one on the ", link("/schedule", "schedule page"), "."));
		return false;
	}
	const more = el("button", { type: "button" }, "Show more");
	more.addEventListener("click", () => {
		shown = Math.min(shown + 50, 500);
		draw();
	});
	fill("list",
		table("All experiments", "newest first", [{ text: "#", class: "num" }, "Name", "State", "Machine",
			{ text: "Boots", class: "num" }, "Started", { text: "Took", class: "num" }],
		experiments.map(experiment => row(experiment, button)), true),
		experiments.length > 1 ? el("p", {}, button) : null,
		next && shown < 500 ? more : null);
	return active;
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

sections("head", "list");
fill("head", el("h1", {}, "Experiments"));
start(loop, "list");
