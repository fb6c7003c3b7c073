// SPDX-License-Identifier: GPL-2.0-only
// The way down from a cell of a table: its values, and of each one the run, the boot, the console, the capture.

import { definitions, el, link, num, table } from "/dom.js";
import * as format from "/format.js";
import { floorText, testName, verdictBadge } from "/verdict.js";

const known = value => value !== null && value !== undefined;

// xen: whether the run has a capture of the hypervisor beside the kernel's.
function rowOf(sample, scale, xen) {
	const { run, boot } = sample;
	const about = [known(sample.n_events) && format.plural(sample.n_events, "event"),
		known(sample.low) && `95 %: ${format.bounds(sample.low, sample.high, scale)}`].filter(Boolean).join("; ");

	return [
		el("th", { scope: "row", class: "num" }, String(sample.round)),
		num([el("span", { class: sample.used ? null : "void" }, format.quantity(sample.value, scale)), about ? el("small", { class: "bounds" }, about) : null].filter(Boolean)),
		el("td", {}, sample.used ? "yes" : "no", sample.note ? el("small", {}, sample.note) : null),
		el("td", { class: "links" }, [link(`/api/v1/runs/${run}`, `run ${run}`), link(`/boots/${boot}`, `boot ${boot}`), link(`/api/v1/boots/${boot}/console`, "console"),
			el("a", { href: `/api/v1/runs/${run}/capture`, download: true }, "capture"),
			xen ? el("a", { href: `/api/v1/runs/${run}/xentrace`, download: true }, "Xen’s capture") : null]),
	];
}

// The order statistics min and max cover the median of n boots with this level.
function summary(result, scale, deterministic) {
	if (!result?.n)
		return "–";
	const { n, median, min, max } = result;

	return `${format.quantity(median, scale)} of ${format.plural(n, "boot")}, from ${format.number(min, scale)} to ${format.quantity(max, scale)}` +
		(n < 2 ? "" : deterministic ? " (sensitivity to the start, no noise)" : ` (these two cover the median with ${format.level(1 - 2 ** (1 - n), 2)})`);
}

function tests(pair, scale) {
	const reach = (p, floor) => known(p) ? `${format.p(p)}; the smallest at this n is ${format.p(floor)}` : null;

	return [
		["Delta", known(pair.delta) ? `${format.delta(pair.delta)} against ${pair.base}` : null],
		["Paired delta", known(pair.paired_delta) ? `${format.delta(pair.paired_delta)}; ${pair.n_lower} lower, ${pair.n_equal} equal, ${pair.n_higher} higher of ${pair.n_pairs}` : null],
		["Shift", known(pair.shift) ? `${format.quantity(pair.shift, scale)} (Hodges–Lehmann)` +
			(known(pair.shift_low) ? `, ${format.level(pair.shift_level)} interval ${format.number(pair.shift_low, scale)} to ${format.quantity(pair.shift_high, scale)}` : "") : null],
		["p, rank test", reach(pair.p, pair.p_floor)],
		["p, paired test", reach(pair.paired_p, pair.paired_p_floor)],
		["p after Holm", known(pair.p_holm) ? `${format.p(pair.p_holm)}, ${testName(pair.test)}, ${format.plural(pair.family_size, "comparison")}, α = ${pair.alpha}` : null],
		["Noise floor", pair.in_family ? floorText(pair) : null],
		["Detectable", known(pair.detectable) ? `a change of ${format.percent(pair.detectable)} would be found 80 % of the time at this noise` : null],
		["Verdict", pair.verdict ? [verdictBadge(pair.verdict), pair.why ? ` ${pair.why}` : ""] : pair.in_family ? pair.why : "descriptive: not in the plan’s family"],
	];
}

function show({ metric, scenario, arm, scale, result, pair, samples, deterministic, xen }) {
	const close = el("button", { type: "button" }, "Close");
	const dialog = el("dialog", { "aria-labelledby": "cell-title" },
		el("div", { class: "dialog-head" }, el("h2", { id: "cell-title" }, `${metric.name}: ${scenario}, ${arm}`), close),
		definitions([["Median", summary(result, scale, deterministic)], ...(pair ? tests(pair, scale) : [])]),
		table("Values", "one per run, from its raw events; void ones are struck through",
			[{ text: "Round", class: "num" }, { text: "Value", class: "num" }, "Used", "Behind it"],
			samples.map(sample => rowOf(sample, scale, xen)), true));

	close.addEventListener("click", () => dialog.close());
	dialog.addEventListener("click", event => {
		if (event.target === dialog)
			dialog.close();
	});
	dialog.addEventListener("close", () => dialog.remove());
	document.body.append(dialog);
	dialog.showModal();
}

// A cell's content as a button that opens what is behind it; cell: what show() takes.
export function cellButton(cell, ...content) {
	const button = el("button", { type: "button", class: "cell", "aria-haspopup": "dialog", title: "The values behind it" }, ...content);

	button.addEventListener("click", () => show(cell));
	return button;
}
