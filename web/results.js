// SPDX-License-Identifier: GPL-2.0-only
// The tables of results: medians and deltas, the tails with their n, and all values behind them.

import { cellButton } from "/cell.js";
import { dotPanels } from "/dots.js";
import { again, el, fill, link, num, table } from "/dom.js";
import * as format from "/format.js";
import { verdictBadge, verdictClass } from "/verdict.js";

let chosen = null; // metric whose values are shown; survives redrawing
let moreOpen = false;

const isTail = metric => metric.agg === "p99.9" || metric.agg === "p99";
const key = (...names) => JSON.stringify(names);

function index(rows) {
	return new Map(rows.map(row => [key(row.metric, row.scenario, row.arm), row]));
}

function note(metric, scale, clock) {
	return [scale.unit, metric.agg, metric.better && `${metric.better} is better`, metric.primary && "primary",
		metric.not_a_result && `not a result: ${metric.not_a_result}`, format.clockOf(metric, clock)].filter(Boolean).join(" · ");
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

// What a cell shows under its median.
function under(metric, result, scale) {
	if (!isTail(metric))
		return el("small", {}, `n = ${result.n}`);
	return [el("small", {}, `n = ${format.count(result.n_events)}`), metric.agg === "p99.9"
		? el("small", { class: "bounds" }, result.high === null && result.n_events >= 3688 ? "95 %: not every boot has an upper bound"
			: `95 %: ${format.bounds(result.low, result.high, scale)}`) : null];
}

// Whether a run has a capture of Xen's own trace.
function tracesXen({ trace }) {
	return Number(trace?.xen_mask || 0) !== 0 || (trace?.events || []).some(event => event.startsWith("xen:"));
}

function verdictCell(pair, inFamily, ended) {
	if (pair?.verdict)
		return el("td", {}, verdictBadge(pair.verdict), pair.p_holm === null ? null : el("small", {}, `Holm p ${format.p(pair.p_holm)}`));
	return el("td", { class: "quiet" }, !inFamily ? "descriptive" : ended ? "none" : "not yet");
}

// An arm a column; beside each but the first its delta, and beside the family's arm its verdicts.
function metricTable(experiment, metric, data) {
	const arms = experiment.arms.map(arm => arm.name);
	const { family, clock, deterministic } = data;
	const rows = data.results.filter(row => row.metric === metric.name);
	const scale = format.chooseScale(metric.unit, rows.map(row => row.median));
	const find = index(rows);
	const compare = index(data.compare.filter(row => row.metric === metric.name));
	const samples = data.samples.filter(sample => sample.metric === metric.name);
	const judged = family?.metrics.includes(metric.name) ? family.arm : null;
	const ended = !["queued", "running"].includes(experiment.state);
	const xen = tracesXen(experiment.spec);
	const head = ["Scenario"];

	for (const [i, arm] of arms.entries()) {
		head.push({ text: arm, class: "num" });
		if (i)
			head.push({ text: "delta", class: "num" });
		if (arm === judged)
			head.push("Verdict");
	}
	const about = [note(metric, scale, clock), isTail(metric) && "n: events of a boot", !judged && "descriptive"].filter(Boolean).join(" · ");
	return table(metric.name, about, head, experiment.scenarios.map(({ name: scenario }) => {
		const row = [scenario];

		for (const [i, arm] of arms.entries()) {
			const result = find.get(key(metric.name, scenario, arm));
			const pair = compare.get(key(metric.name, scenario, arm));
			const mine = samples.filter(sample => sample.scenario === scenario && sample.arm === arm);
			const value = result?.n ? format.quantity(result.median, scale) : "–";

			row.push(num([mine.length ? cellButton({ metric, scenario, arm, scale, result, pair, samples: mine, deterministic, xen }, value) : value,
				result?.n ? under(metric, result, scale) : null].flat().filter(Boolean)));
			if (i)
				row.push(num([format.delta(pair?.delta),
					pair?.n_pairs ? el("small", {}, `${pair.n_lower}/${pair.n_pairs} lower`) : null].filter(Boolean),
				`delta ${verdictClass(pair?.verdict)}`));
			if (arm === judged)
				row.push(verdictCell(pair, family.scenarios.includes(scenario), ended));
		}
		return row;
	}));
}

// The lowest and the highest ratio of the rounds, or that there is nothing between them.
function range(pair) {
	const ratios = (pair?.ratios || []).filter(ratio => ratio !== null);

	if (pair?.n_pairs && pair.n_equal === pair.n_pairs)
		return `identical in all ${pair.n_pairs} rounds`;
	if (pair?.n_pairs && pair.paired_delta === null)
		return "– (the base is zero)";
	return ratios.length ? `${format.delta(Math.min(...ratios) - 1)} to ${format.delta(Math.max(...ratios) - 1)}` : "–";
}

function pairedTable(experiment, metric, compares, { clock, deterministic }) {
	const compare = index(compares.filter(row => row.metric === metric.name));
	const [, ...others] = experiment.arms;
	const of = (pair, count) => num(pair?.n_pairs ? `${count}/${pair.n_pairs}` : "–");
	const rows = [];

	for (const { name: scenario } of experiment.scenarios) {
		for (const [i, { name: arm }] of others.entries()) {
			const pair = compare.get(key(metric.name, scenario, arm));
			const row = [i ? again(scenario) : scenario, arm,
				num(format.delta(pair?.paired_delta), "delta"), of(pair, pair?.n_lower), of(pair, pair?.n_equal),
				of(pair, pair?.n_higher), num(range(pair))];

			row.joined = i > 0;
			rows.push(row);
		}
	}
	return table(`${metric.name}, paired`, note(metric, { unit: "" }, clock),
		["Scenario", "Arm", ...["paired delta", "lower", "equal", "higher", deterministic ? "sensitivity" : "rounds from … to"]
			.map(text => ({ text, class: "num" }))], rows);
}

function pairedSection(experiment, metrics, { compare, ...machine }) {
	// Experiments of before it was stored have none.
	if (!compare.some(row => row.ratios))
		return [];
	const about = `Each round's arm against the same round's ${experiment.arms[0].name}; the delta is of the median of these ratios.`;

	return [el("h3", {}, "Paired"),
		el("p", { class: "quiet" }, machine.deterministic
			? `${about} The machine adds no noise: rounds differ because each has a seed of its own, the same for all its arms, that changes the workload's start. Their spread is the result's sensitivity to it.`
			: about),
		metrics.map(metric => pairedTable(experiment, metric, compare, machine))].flat();
}

export function drawResults(experiment, data) {
	const { results, compare, samples, clock, deterministic } = data;

	if (!results.some(row => row.n)) {
		fill("results", el("h2", {}, "Results"), el("p", { class: "quiet" }, samples.length
			? "No run counts so far; why is said below." : "No run has been stored yet."));
		return;
	}
	const { metrics } = experiment;
	const draw = metric => [metricTable(experiment, metric, data), ...missing(metric, samples)];
	const plain = metrics.filter(metric => !isTail(metric));
	const first = plain.filter(metric => metric.primary);
	const shown = first.length ? first : plain.slice(0, 1);
	const tails = metrics.filter(isTail);
	const rest = plain.filter(metric => !shown.includes(metric));
	const machine = { compare, clock, deterministic };
	const paired = pairedSection(experiment, shown, machine);
	const more = el("details", { open: moreOpen }, el("summary", {}, `${rest.length} more metrics`), deterministic ? rest.map(metric => pairedTable(experiment, metric, compare, machine)) : null,
		rest.flatMap(draw));

	more.addEventListener("toggle", () => {
		moreOpen = more.open;
	});
	fill("results",
		el("h2", {}, "Results"),
		deterministic ? paired : null,
		deterministic && paired.length ? el("h3", {}, "Medians") : null,
		el("p", { class: "quiet" }, `Median of the boots' values, one per round; delta against ${experiment.arms[0].name} over the rounds in which both count. A figure opens its values, runs, boots and captures.`),
		shown.flatMap(draw),
		deterministic ? null : paired,
		tails.length ? el("h3", {}, "Tails") : null,
		tails.length ? el("p", { class: "quiet" }, "Median of the boots' percentiles, nearest rank of the raw values; with the 95 % interval of order statistics of a boot.") : null,
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

function valueTable(experiment, metric, { samples, clock, deterministic }) {
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
			const row = [i ? again(scenario) : scenario, arm];

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
		[note(metric, scale, clock), "a column for each round",
			deterministic && "rounds differ by their seeds: sensitivity, not noise", "struck through: of a void pair, not used"].filter(Boolean).join(" · "),
		["Scenario", "Arm", ...Array.from({ length: rounds }, (_, i) => ({ text: String(i + 1), class: "num" }))], rows);
}

export function drawValues(experiment, results) {
	const { metrics } = experiment;
	const { samples } = results;

	if (!samples.length) {
		fill("values");
		return;
	}
	chosen = metrics.some(metric => metric.name === chosen) ? chosen
		: (metrics.find(metric => metric.primary) || metrics[0]).name;
	const place = el("div");
	const select = el("select", { id: "metric" }, metrics.map(metric =>
		el("option", { value: metric.name, selected: metric.name === chosen }, metric.name)));
	const draw = () => {
		const metric = metrics.find(m => m.name === chosen);

		place.replaceChildren(dotPanels(experiment, metric, results), valueTable(experiment, metric, results));
	};

	select.addEventListener("change", () => {
		chosen = select.value;
		draw();
	});
	draw();
	fill("values", el("h2", {}, "All values"),
		el("p", { class: "quiet" }, "A dot is a run of a boot; lines join the arms of a round, the bar is the median, and a hollow dot is of a void pair."),
		el("p", {}, el("label", { for: "metric" }, "Metric "), select), place);
}
