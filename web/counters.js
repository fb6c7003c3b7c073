// SPDX-License-Identifier: GPL-2.0-only
// Counters beside times: what a change did, next to what it cost.

import { again, el, fill, num, table } from "/dom.js";
import * as format from "/format.js";
import { d3 } from "/plots.js";

const BAR = 64;

function bar(value, max) {
	const svg = d3.create("svg").attr("width", BAR).attr("height", 6).attr("class", "meter").attr("aria-hidden", "true");
	const width = max > 0 ? BAR * Math.max(0, value) / max : 0;

	svg.append("rect").attr("class", "back").attr("width", BAR).attr("height", 6);
	svg.append("rect").attr("width", width).attr("x", BAR - width).attr("height", 6);
	return svg.node();
}

export function drawCounters(experiment, { results, clock }) {
	const has = metric => results.some(row => row.metric === metric.name && row.n);
	const counters = experiment.metrics.filter(metric => metric.unit === "1" && has(metric));
	const times = experiment.metrics.filter(metric => metric.unit !== "1" && metric.primary && has(metric));
	const metrics = [...times, ...counters];

	if (!counters.length) {
		fill("counters");
		return;
	}
	const scales = new Map(metrics.map(metric => [metric, format.chooseScale(metric.unit, results.filter(row => row.metric === metric.name).map(row => row.median))]));
	const rows = experiment.scenarios.flatMap(({ name: scenario }) => experiment.arms.map(({ name: arm }, i) => {
		const row = [i ? again(scenario) : scenario, arm];

		for (const metric of metrics) {
			const here = results.filter(result => result.metric === metric.name && result.scenario === scenario && result.n);
			const mine = here.find(result => result.arm === arm);

			row.push(num(mine ? [format.quantity(mine.median, scales.get(metric)), bar(mine.median, d3.max(here, result => result.median))] : "–"));
		}
		row.joined = i > 0;
		return row;
	}));

	fill("counters",
		el("h2", {}, "Counters beside times"),
		table("Medians of the boots", ["a bar is a share of the scenario’s largest", times.length && clock && `clock: ${clock}`].filter(Boolean).join(" · "),
			["Scenario", "Arm", ...metrics.map(metric => ({ text: metric.name, class: "num" }))], rows));
}
