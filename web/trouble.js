// SPDX-License-Identifier: GPL-2.0-only
// What did not count and why: boots that ended badly, void pairs, losses.

import { badge, el, fill, link, num, table } from "/dom.js";
import * as format from "/format.js";

function badBoot(boot) {
	return el("div", { class: "card" },
		el("p", {}, badge(boot.state), ` round ${boot.round}, ${boot.arm}, `, link(`/boots/${boot.boot}`, `boot ${boot.boot}`),
			boot.attempt > 1 ? `, try ${boot.attempt}` : ""),
		boot.detail ? el("p", {}, boot.detail) : null,
		boot.console_lines ? el("pre", { tabindex: "0" }, boot.console_lines) : null);
}

function losses(rows) {
	return table("Events lost", null, [{ text: "Run", class: "num" }, { text: "Round", class: "num" }, "Arm", "Scenario",
		{ text: "CPU", class: "num" }, { text: "Events", class: "num" }, "Cause"],
	rows.map(row => [el("th", { scope: "row", class: "num" }, String(row.run)), num(String(row.round)), row.arm, row.scenario,
		num((row.source === "xen" ? "Xen’s " : "") + row.cpu), num(row.lost === null ? "unknown" : format.count(row.lost)), row.cause]));
}

export function drawTrouble(results) {
	const { boots_bad: bad, void_pairs: voids, losses: lost, rings } = results;

	fill("trouble",
		el("h2", {}, "What did not count"),
		bad.length ? bad.map(badBoot) : el("p", {}, "No boot has ended badly."),
		voids.length
			? table("Void pairs", "by the plan's rules; none is dropped for its value",
				[{ text: "Round", class: "num" }, "Scenario", "Arm", "Why"],
				voids.map(row => [el("th", { scope: "row", class: "num" }, String(row.round)), row.scenario, row.arm, row.reason]))
			: el("p", {}, "No pair is void."),
		el("h2", {}, "Loss"),
		el("p", {}, rings.runs ? `${format.count(rings.complete)} of ${format.count(rings.runs)} captures are complete: on each CPU read + lost = written. ` +
			`Events written ${format.count(rings.written)}, read ${format.count(rings.read)}, lost ${format.count(rings.lost)}.` : "No run has been stored yet."),
		rings.incomplete.length ? el("p", { class: "banner" }, rings.incomplete.length > 1
			? `The captures of runs ${rings.incomplete.join(", ")} are not complete.`
			: `The capture of run ${rings.incomplete[0]} is not complete.`) : null,
		lost.length ? losses(lost) : null,
		results.losses_total > lost.length ? el("p", { class: "quiet" }, `The first ${format.count(lost.length)} of ${format.count(results.losses_total)} losses; the SQL page has all.`) : null);
}
