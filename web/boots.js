// SPDX-License-Identifier: GPL-2.0-only
// The boots in the order of the plan: a strip by rounds, and a table with how each one ended.

import { badge, el, fill, link, num, table } from "/dom.js";
import * as format from "/format.js";
import { bootChip, strip } from "/strip.js";
import { timeline } from "/timeline.js";

let tableOpen = false;

function rowsOf(slot) {
	if (!slot.attempts.length)
		return [[num(String(slot.position)), num(String(slot.round)), slot.arm, badge(slot.state), num("–"), num("–"), num("–"), num("–"), ""]];
	return slot.attempts.map(boot => [
		el("th", { scope: "row", class: "num" }, String(slot.position)),
		num(String(slot.round)),
		el("td", {}, slot.arm, boot.attempt > 1 ? el("small", {}, `try ${boot.attempt}`) : null),
		el("td", {}, badge(boot.state), boot.detail ? el("small", {}, boot.detail) : null),
		num(format.duration(boot.boot_ms === null ? null : boot.boot_ms / 1000)),
		num(format.duration(boot.took_ms === null ? null : boot.took_ms / 1000)),
		num(String(boot.runs)),
		num(format.count(boot.lost)),
		link(`/boots/${boot.boot}`, `boot ${boot.boot}, console`),
	]);
}

export function drawBoots(slots, { void_pairs: voids }) {
	const all = el("details", { open: tableOpen }, el("summary", {}, "Each boot"),
		table("Boots", "in the order of the plan · times: the lab's clock", [{ text: "#", class: "num" }, { text: "Round", class: "num" }, "Arm", "End state",
			{ text: "To ready", class: "num" }, { text: "Took", class: "num" }, { text: "Runs", class: "num" },
			{ text: "Lost", class: "num" }, "Look"], slots.map(rowsOf).flat(), true));

	all.addEventListener("toggle", () => {
		tableOpen = all.open;
	});
	fill("boots",
		el("h2", {}, "Boots"),
		el("p", { class: "quiet" }, "In the order of the plan, which was drawn and sealed before the first boot."),
		timeline(slots, voids), strip(slots, bootChip), all);
}
