// SPDX-License-Identifier: GPL-2.0-only
// Slots of a plan by their rounds, a chip each: how the order that was drawn looks at a glance.

import { el, stateClass } from "/dom.js";

// slots: { round, … } in the plan's order. chip: the node of one.
export function strip(slots, chip) {
	const rounds = new Map();

	for (const slot of slots)
		rounds.set(slot.round, [...(rounds.get(slot.round) || []), slot]);
	return el("ol", { class: "strip", "aria-label": "Boots by round" }, [...rounds].map(([round, members]) =>
		el("li", {}, el("span", { class: "round" }, `round ${round}`),
			el("ol", {}, members.map(slot => el("li", {}, chip(slot)))))));
}

function slotState(slot) {
	const last = slot.attempts.at(-1);

	return slot.state === "void" ? last?.state || "void" : last?.state || "planned";
}

// A slot's last boot, and the way to it.
export function bootChip(slot) {
	const last = slot.attempts.at(-1);
	const state = slotState(slot);
	const attributes = {
		class: `badge ${stateClass(state)}`,
		title: `${slot.position}. ${slot.arm}: ${state}${slot.reason ? `, ${slot.reason}` : ""}`,
	};
	const text = state === "ok" ? slot.arm : `${slot.arm}: ${state}`;

	return last ? el("a", { ...attributes, href: `/boots/${last.boot}` }, text) : el("span", attributes, slot.arm);
}
