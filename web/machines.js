// SPDX-License-Identifier: GPL-2.0-only
// The machine drivers, and how their boots ended.

import { get, start } from "/api.js";
import { badge, definitions, el, emulatedBanner, fill } from "/dom.js";
import * as format from "/format.js";

function value(v) {
	if (Array.isArray(v))
		return el("span", { class: "mono" }, v.join(" "));
	return v !== null && typeof v === "object" ? JSON.stringify(v) : String(v);
}

function card(machine) {
	const boots = Object.entries(machine.boots);

	return el("section", { class: "card", "aria-label": machine.name },
		el("h3", {}, machine.name),
		emulatedBanner(machine.emulated, machine.description?.deterministic),
		definitions([
			["Experiments", format.count(machine.experiments)],
			["Boots", boots.length ? boots.map(([state, n]) => [badge(state), ` ${format.count(n)}  `]).flat() : "none yet"],
			...Object.entries(machine.description || {}).map(([name, v]) => [name.replaceAll("_", " "), value(v)]),
		]));
}

start(async () => {
	const { machines } = await get("/api/v1/machines");

	fill("list", machines.map(card));
}, "list");
