// SPDX-License-Identifier: GPL-2.0-only
// The tables of results: medians and deltas, the tails with their n, and all values behind them.

import { el, fill, link, num, table } from "/dom.js";
import * as format from "/format.js";

let chosen = null; // metric whose values are shown; survives redrawing
let moreOpen = false;

const isTail = metric => metric.agg === "p99.9" || metric.agg === "p99";
const key = (...names) => JSON.stringify(names);

function index(rows) {
	return new Map(rows.map(row => [key(row.metric, row.scenario, row.arm), row]));
}

function note(metric, scale) {
	return [scale.unit, metric.agg, metric.better && `${metric.better} is better`, metric.primary && "primary",
		metric.not_a_result && `not a result: ${metric.not_a_result}`].filter(Boolean).join(" · ");
}

// Why a number is missing, once for each reason.
function missing(metric, samples) {
	const reasons = new Map();

	for (const sample of samples) {
		if (sample.metric === metric.name && sample.value === null && sample.note)
			reasons.set(sample.note, (reasons.get(sample.note) || 0) + 1);
	}
	return [...reasons].map(([reason, n]) => el("p", { class: "quiet" }, `No value in ${n} runs: ${reason}.`));
}

function metricTable(experiment, metric, results, compares) {
	const arms = experiment.arms.map(arm => arm.name);
	const rows = results.filter(row => row.metric === metric.name);
	const scale = format.chooseScale(metric.unit, rows.map(row => row.median));
	const find = index(rows);
	const compare = index(compares.filter(row => row.metric === metric.name));
	const verdicts = compares.some(row => row.metric === metric.name && row.verdict);
	const head = ["Scenario"];

	for (const [i, arm] of arms.entries()) {
		head.push({ text: arm, class: "num" });
		if (i)
			head.push({ text: "delta", class: "num" });
		if (i && verdicts)
			head.push("Verdict");
	}
	return table(metric.name, note(metric, scale), head, experiment.scenarios.map(({ name }) => {
		const row = [name];

		for (const [i, arm] of arms.entries()) {
			const result = find.get(key(metric.name, name, arm));
			const pair = compare.get(key(metric.name, name, arm));
			const events = isTail(metric) && result?.n ? el("small", {}, `n = ${format.count(result.n_events)}`) : null;

			row.push(num([result?.n ? format.number(result.median, scale) : "–", events].filter(Boolean)));
			if (i)
				row.push(num([format.delta(pair?.delta),
					pair?.n_pairs ? el("small", {}, `${pair.n_lower}/${pair.n_pairs} lower`) : null].filter(Boolean), "delta"));
			if (i && verdicts)
				row.push(pair?.verdict || "–");
		}
		return row;
	}));
}

export function drawResults(experiment, { results, compare, samples }) {
	if (!results.some(row => row.n)) {
		fill("results", el("h2", {}, "Results"), el("p", { class: "quiet" }, samples.length
			? "No run counts so far; why is said below." : "No run has been stored yet."));
		return;
	}
	const { metrics } = experiment;
	const draw = metric => [metricTable(experiment, metric, results, compare), ...missing(metric, samples)];
	const plain = metrics.filter(metric => !isTail(metric));
	const first = plain.filter(metric => metric.primary);
	const shown = first.length ? first : plain.slice(0, 1);
	const tails = metrics.filter(isTail);
	const rest = plain.filter(metric => !shown.includes(metric));
	const more = el("details", { open: moreOpen }, el("summary", {}, `${rest.length} more metrics`), rest.flatMap(draw));

	more.addEventListener("toggle", () => {
		moreOpen = more.open;
	});
	fill("results",
		el("h2", {}, "Results"),
		el("p", { class: "quiet" }, `Median of the boots' values, one per round; delta against ${experiment.arms[0].name} over the rounds in which both count.`),
		shown.flatMap(draw),
		tails.length ? el("h3", {}, "Tails") : null,
		tails.length ? el("p", { class: "quiet" }, "Median of the boots' percentiles, nearest rank of the raw values; n is the events of a boot.") : null,
		tails.flatMap(draw),
		rest.length ? more : null);
}

function valueCell(sample, scale) {
	if (!sample)
		return num("–");
	const text = sample.value === null ? el("span", { title: sample.note }, "none") : format.number(sample.value, scale);
	const content = link(`/boots/${sample.boot}`, text);

	content.title = [`run ${sample.run}, boot ${sample.boot}`, sample.used ? "" : "not used", sample.note].filter(Boolean).join(", ");
	return content;
}

function valueTable(experiment, metric, samples) {
	const rounds = experiment.spec.rounds;
	const mine = samples.filter(sample => sample.metric === metric.name);
	const scale = format.chooseScale(metric.unit, mine.map(sample => sample.value));
	const cells = new Map();
	const rows = [];

	for (const sample of mine) {
		const at = key(sample.scenario, sample.arm, sample.round);

		cells.set(at, [...(cells.get(at) || []), sample]);
	}
	for (const { name: scenario } of experiment.scenarios) {
		for (const [i, { name: arm }] of experiment.arms.entries()) {
			const row = [i ? el("th", { scope: "row" }, el("span", { class: "quiet" }, "")) : scenario, arm];

			for (let round = 1; round <= rounds; round++) {
				const here = cells.get(key(scenario, arm, round)) || [];

				row.push(el("td", { class: "num" }, here.length
					? here.map((sample, n) => [n ? el("br") : null,
						el("span", { class: sample.used ? null : "void" }, valueCell(sample, scale))]).flat().filter(Boolean)
					: "–"));
			}
			row.joined = i > 0;
			rows.push(row);
		}
	}
	return table(`All values of ${metric.name}`,
		[note(metric, scale), "a column for each round", "struck through: of a void pair, not used"].join(" · "),
		["Scenario", "Arm", ...Array.from({ length: rounds }, (_, i) => ({ text: String(i + 1), class: "num" }))], rows);
}

export function drawValues(experiment, { samples }) {
	const { metrics } = experiment;

	if (!samples.length) {
		fill("values");
		return;
	}
	chosen = metrics.some(metric => metric.name === chosen) ? chosen
		: (metrics.find(metric => metric.primary) || metrics[0]).name;
	const place = el("div");
	const select = el("select", { id: "metric" }, metrics.map(metric =>
		el("option", { value: metric.name, selected: metric.name === chosen }, metric.name)));
	const draw = () => place.replaceChildren(valueTable(experiment, metrics.find(m => m.name === chosen), samples));

	select.addEventListener("change", () => {
		chosen = select.value;
		draw();
	});
	draw();
	fill("values", el("h2", {}, "All values"), el("p", {}, el("label", { for: "metric" }, "Metric "), select), place);
}
