// SPDX-License-Identifier: GPL-2.0-only
// The answer in words: a sentence for each comparison that the plan calls primary, and what it rests on.

import { el, fill, link } from "/dom.js";
import * as format from "/format.js";
import { post } from "/token.js";

const CLASSES = [["improved", "good"], ["regressed", "bad"], ["no change", "same"]];

// The colour of a verdict; an inconclusive one has none.
export function verdictClass(verdict) {
	return CLASSES.find(([text]) => verdict?.startsWith(text))?.[1] || "";
}

export function verdictBadge(verdict) {
	return el("span", { class: `badge ${verdictClass(verdict)}` }, verdict);
}

// "the machine's floor", or that nobody knows it.
export function floorText({ floor, floor_pairs: pairs }) {
	return floor === null || floor === undefined ? "noise floor unknown"
		: `noise floor ${format.percent(floor)} from ${format.plural(pairs, "A/A pair")}`;
}

export const testName = test => test === "paired" ? "exact paired test" : "exact rank test";

// Members of the family in the plan's order.
function members({ scenarios, metrics }, { compare }) {
	const place = (list, name) => list.findIndex(member => member.name === name);

	return compare.filter(row => row.in_family).sort((a, b) =>
		place(metrics, a.metric) - place(metrics, b.metric) || place(scenarios, a.scenario) - place(scenarios, b.scenario));
}

function evidence(row) {
	const p = row.test === "paired" ? row.paired_p : row.p;
	const interval = row.change_low === null || row.change_high === null ? ""
		: ` (${format.level(row.shift_level)} interval ${format.interval(row.change_low, row.change_high)})`;

	return `${interval}, p ${format.p(p)}, Holm ${format.p(row.p_holm)}; ${floorText(row)}`;
}

function sentence(row, common) {
	const decided = ["improved", "regressed"].includes(row.verdict);
	const size = row.delta === null ? "" : decided ? ` by ${format.percent(Math.abs(row.delta))}` : `, delta ${format.delta(row.delta)}`;

	return el("li", {},
		el("strong", {}, `${row.scenario}: `), `${row.metric} `,
		row.verdict ? [verdictBadge(row.verdict), `${size}${evidence(row)}.`] : "has no verdict.",
		!decided && !common && row.why ? el("small", {}, row.why) : null);
}

function list(values) {
	return values.length > 1 ? `${values.slice(0, -1).join(", ")} and ${values.at(-1)}` : values.join("");
}

function design(experiment, { family, kind }) {
	const { spec, arms } = experiment;

	if (!family?.size)
		return "The plan has no primary metric: everything below is descriptive, and there are no verdicts.";
	const holm = Math.min(1, family.p_floor * family.size);

	return `${kind === "aa" ? "Both arms are the same build: every difference is the machine’s own. " : ""}` +
		`Fixed in the plan: ${family.arm} against ${arms[0].name} by ${list(family.metrics)} in ${list(family.scenarios)}, ` +
		`${format.plural(family.size, "comparison")}, ${testName(family.test)}, Holm at α = ${family.alpha}. ` +
		`With ${format.plural(spec.rounds, "pair")} the smallest p that this design can reach is ${format.p(family.p_floor)}` +
		`${family.size > 1 ? `, ${format.p(holm)} after Holm` : ""}. Everything else is descriptive.`;
}

function noiseButton(experiment) {
	const answer = el("p", { role: "status" });
	const button = el("button", { type: "button" }, "Run an A/A experiment");

	button.addEventListener("click", async () => {
		button.disabled = true;
		try {
			const made = await post(`/api/v1/experiments/${experiment.id}/aa`, {});

			answer.replaceChildren("Queued: ", link(`/experiments/${made.id}`, `experiment ${made.id}`),
				". When it has ended, these verdicts are judged anew.");
		} catch (error) {
			button.disabled = false;
			answer.replaceChildren(error.message);
		}
	});
	return el("div", { class: "card" },
		el("p", {}, "The noise floor is unknown: this machine has not run one build against itself in this environment, with these scenarios. " +
			"A difference must be larger than what it shows between two equal kernels."),
		button, answer);
}

export function drawVerdict(experiment, results) {
	const { state, kind } = { kind: results.kind, state: experiment.state };
	const rows = members(experiment, results);
	const judged = rows.some(row => row.verdict);
	const ended = !["queued", "running"].includes(state);
	const wait = `n is fixed at ${format.plural(experiment.spec.rounds, "pair")}: verdicts come at the end, and no test is looked at before.`;
	// One sentence where all members have the same.
	const why = [...new Set(rows.map(row => row.why).filter(Boolean))];
	const common = rows.length > 1 && why.length === 1;
	const nothing = why.length ? why : [ended ? "There are no verdicts." : wait];

	fill("verdict",
		el("h2", {}, "Verdict"),
		judged ? el("ul", { class: "verdicts" }, rows.map(row => sentence(row, common)))
			: results.family?.size ? nothing.map(text => el("p", {}, text)) : null,
		judged && common ? el("p", {}, why[0]) : null,
		el("p", { class: "quiet" }, design(experiment, results)),
		judged && kind !== "aa" && !results.origin && rows.some(row => row.verdict && row.floor === null) ? noiseButton(experiment) : null);
}
