// SPDX-License-Identifier: GPL-2.0-only
// The machine drivers, and how their boots ended.

import { get, start } from "/api.js";
import { bootCounts } from "/boot_counts.js";
import { definitions, el, emulatedBanner, fill, link, sections } from "/dom.js";
import * as format from "/format.js";

function card(machine) {
	const { description } = machine;

	return el("section", { class: "card", "aria-label": machine.name },
		el("h2", {}, link(`/machines/${machine.name}`, machine.name)),
		emulatedBanner(machine.emulated, description?.deterministic),
		definitions([
			["Experiments", format.count(machine.experiments)],
			["Boots", bootCounts(machine.boots)],
			["Version", description?.qemu_version || description?.bochs_version],
			["Clock", description?.clock],
		]));
}

sections("list");
start(async () => {
	const { machines } = await get("/api/v1/machines");

	fill("list", el("h1", {}, "Machines"), machines.map(card));
}, "list");
