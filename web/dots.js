// SPDX-License-Identifier: GPL-2.0-only
// All values of a metric as dots: a panel for each scenario, an arm a column, the arms of a round joined.

import { el } from "/dom.js";
import * as format from "/format.js";
import { axis, d3, drawing, mark } from "/plots.js";

const WIDTH = 264;
const HEIGHT = 216;
const MARGIN = { top: 8, right: 14, left: 56 };

// From 0, unless all values are near to each other.
function domainOf(values) {
	const [min, max] = d3.extent(values);
	const pad = (max - min) * 0.1 || Math.abs(max) * 0.05 || 1;

	return min > 0 && min < max * 0.6 ? [0, max] : [min < 0 ? min - pad : Math.max(0, min - pad), max + pad];
}

function panel(scenario, arms, samples, results, scale) {
	const steep = arms.length > 3;
	const bottom = HEIGHT - (steep ? 52 : 26);
	const x = d3.scalePoint(arms, [MARGIN.left, WIDTH - MARGIN.right]).padding(0.5);
	const y = d3.scaleLinear(domainOf(samples.map(sample => sample.value)), [bottom, MARGIN.top]).nice(4);
	const label = `${scenario}: ${results.map(row => `${row.arm} median ${format.quantity(row.median, scale)}, from ` +
		`${format.number(row.min, scale)} to ${format.number(row.max, scale)}, n ${row.n}`).join("; ") || "no value counts"}.`;
	const svg = drawing(WIDTH, HEIGHT, label);
	const ticks = y.ticks(4);
	const tickScale = format.chooseScale("", ticks.map(tick => tick / scale.divisor));

	axis(svg, "left", y, ticks, tick => `${format.number(tick / scale.divisor, tickScale)}`, [MARGIN.left, WIDTH - MARGIN.right]);
	for (const arm of arms) {
		svg.append("text").attr("class", "name").attr("transform", `translate(${x(arm)},${bottom + 14})${steep ? " rotate(-32)" : ""}`)
			.attr("text-anchor", steep ? "end" : "middle").text(arm.length > 12 ? `${arm.slice(0, 11)}…` : arm);
	}
	for (const { values: round } of d3.nest().key(sample => sample.round).entries(samples)) {
		const points = arms.flatMap(arm => round.filter(sample => sample.arm === arm).slice(0, 1));

		svg.append("path").attr("class", "pair").attr("d", d3.line().x(sample => x(sample.arm)).y(sample => y(sample.value))(points));
	}
	for (const row of results) {
		svg.append("line").attr("class", "median").attr("x1", x(row.arm) - 11).attr("x2", x(row.arm) + 11)
			.attr("y1", y(row.median)).attr("y2", y(row.median));
	}
	for (const sample of samples) {
		svg.append("path").attr("class", `dot arm-${arms.indexOf(sample.arm)}${sample.used ? "" : " hollow"}`).attr("d", mark(arms.indexOf(sample.arm), 34))
			.attr("transform", `translate(${x(sample.arm)},${y(sample.value)})`)
			.append("title").text(`${sample.arm}, round ${sample.round}: ${format.quantity(sample.value, scale)}${sample.used ? "" : ", not used"}`);
	}
	return el("figure", {}, el("figcaption", {}, el("strong", {}, scenario), scale.unit ? ` · ${scale.unit}` : ""), svg.node());
}

export function dotPanels(experiment, metric, { samples, results }) {
	const arms = experiment.arms.map(arm => arm.name);
	const mine = samples.filter(sample => sample.metric === metric.name && sample.value !== null);
	const scale = format.chooseScale(metric.unit, mine.map(sample => sample.value));

	return el("div", { class: "panels" }, experiment.scenarios.map(({ name }) => {
		const here = mine.filter(sample => sample.scenario === name);

		return here.length ? panel(name, arms, here,
			results.filter(row => row.metric === metric.name && row.scenario === name && row.n), scale) : null;
	}));
}
