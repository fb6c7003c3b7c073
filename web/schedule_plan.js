// SPDX-License-Identifier: GPL-2.0-only
// The plan that a spec would become: the order of its boots, what it can say, and how long it takes.

import { definitions, el } from "/dom.js";
import * as format from "/format.js";
import { strip } from "/strip.js";

function runs(slots) {
	return el("details", {}, el("summary", {}, "The runs of each boot"),
		el("ol", {}, slots.map(slot => el("li", {}, `round ${slot.round}, ${slot.arm}: `, el("span", { class: "mono" }, slot.runs.join(" ")),
			el("span", { class: "quiet" }, ` seed ${slot.seed}`)))));
}

// The same arithmetic by which labd refuses a plan that cannot reach its alpha.
export function familyText({ arm, scenarios, metrics, size, alpha, test, p_floor: floor }) {
	if (!size)
		return "No metric is primary: all is described, and nothing gets a verdict.";
	return `${format.plural(scenarios.length, "scenario")} × ${format.plural(metrics.length, "primary metric")} = ` +
		`${format.plural(size, "comparison")} of ${arm} with the base, ` +
		`by the ${test} test. The smallest p that so many rounds can reach is ${format.p(floor)}; ` +
		`times ${size} (Holm) it is ${format.p(floor * size)}, and alpha is ${alpha}.`;
}

export function planNodes(plan) {
	const { estimate } = plan;
	const time = estimate.seconds === null ? "not known yet" : `about ${format.duration(estimate.seconds)}`;

	return [
		el("h2", { id: "plan-title", tabindex: "-1" }, "The plan"),
		definitions([
			["Boots", `${plan.boots_total}, with ${format.plural(plan.runs_total, "run")}`],
			["Time it takes", el("span", {}, time, estimate.why ? el("span", { class: "quiet" }, ` · ${estimate.why}`) : null)],
			["What it tests", familyText(plan.family)],
			["Plan sha256", el("span", { class: "mono" }, plan.plan_sha256)],
		]),
		el("h3", {}, "Order of the boots"),
		strip(plan.slots, slot => el("span", { class: "badge", title: slot.runs.join(", ") }, slot.arm)),
		runs(plan.slots),
	];
}
