// SPDX-License-Identifier: GPL-2.0-only
// How the raw values of one metric are distributed: a curve for each boot, never pooled, with its p99.9.

import { get } from "/api.js";
import { el, fill, link, num, table } from "/dom.js";
import * as format from "/format.js";
import { axis, d3, drawing, legend, mark, responsive } from "/plots.js";

const HEIGHT = 340;
const MARGIN = { top: 10, right: 16, bottom: 44, left: 60 };
// What has one number per run by its nature.
const SINGLE = ["count", "ratio", "rate", "value"];
const chosen = { metric: null, scenario: null, view: "all" }; // survives redrawing

function tickText(tick, unit) {
	const scale = format.chooseScale(unit, [tick]);

	return `${Number((tick / scale.divisor).toPrecision(3))} ${scale.unit}`.trim();
}

function plot(data, arms, tail, width) {
	const curves = data.curves.filter(curve => curve.points.length);
	const values = curves.flatMap(curve => curve.points.map(([value]) => value)).filter(value => value > 0);
	const label = `${data.metric} in ${data.scenario}, ${curves.length} boots; p99.9 of each is in the table below.`;
	const svg = drawing(width, HEIGHT, label);
	const bottom = HEIGHT - MARGIN.bottom;

	if (!values.length)
		return el("p", { class: "quiet" }, data.curves.length ? "No value is above zero, so that a log axis has nothing to show." : "No run yet.");
	const [low, high] = d3.extent(values);
	const x = d3.scaleLog([low / 1.1, high * 1.1], [MARGIN.left, width - MARGIN.right]);
	const most = d3.max(curves, curve => curve.n);
	const y = tail ? d3.scaleLog([1, 0.5 / most], [MARGIN.top, bottom]) : d3.scaleLinear([0, 1], [bottom, MARGIN.top]);
	const place = fraction => y(tail ? Math.max(1 - fraction, 0.5 / most) : fraction);
	const line = d3.line().x(([value]) => x(Math.max(value, x.domain()[0]))).y(([, fraction]) => place(fraction)).curve(d3.curveStepAfter);
	const decades = Math.log10(high / low);
	// 1, 2 and 5 of a decade where there are few of them.
	const few = x.ticks(100).filter(tick => (decades > 3 ? ["1"] : ["1", "2", "5"]).includes(tick.toExponential()[0]) && x(tick) < width - 28);
	// And any where the values are too near to each other.
	const xTicks = few.length > 1 ? few : d3.ticks(...x.domain(), 4).filter(tick => x(tick) < width - 28);
	const yTicks = tail ? d3.range(0, 1 + Math.floor(Math.log10(most))).map(power => 10 ** -power) : y.ticks(5);

	axis(svg, "bottom", x, xTicks, tick => tickText(tick, data.unit), [MARGIN.top, bottom]);
	axis(svg, "left", y, yTicks, tick => tail ? `${tick < 1e-3 ? tick.toExponential(0) : tick}` : `${Math.round(tick * 100)} %`, [MARGIN.left, width - MARGIN.right]);
	svg.append("text").attr("class", "name").attr("x", width - MARGIN.right).attr("y", HEIGHT - 6).attr("text-anchor", "end")
		.text(`value (log), ${tail ? "share of the values that are larger (log)" : "share of the values up to it"}`);
	for (const curve of curves) {
		svg.append("path").attr("class", `curve arm-${arms.indexOf(curve.arm)}${curve.used ? "" : " unused"}`).attr("d", line(curve.points))
			.append("title").text(`${curve.arm}, round ${curve.round}, boot ${curve.boot}`);
	}
	for (const curve of curves.filter(({ p999 }) => p999 > 0)) {
		const i = arms.indexOf(curve.arm);

		svg.append("path").attr("class", `mark arm-${i}${curve.used ? "" : " hollow"}`).attr("d", mark(i, 54))
			.attr("transform", `translate(${x(curve.p999)},${place(0.999)})`)
			.append("title").text(`p99.9 of ${curve.arm}, round ${curve.round}`);
	}
	return svg.node();
}

function curveTable(data) {
	const scale = format.chooseScale(data.unit, data.curves.map(curve => curve.p999));

	return el("details", {}, el("summary", {}, "The same as a table"),
		table(`${data.metric} in ${data.scenario}`, "p99.9: nearest rank of the raw values of one run, from 1000 values on",
			["Arm", ...["Round", "Boot", "n", "p99.9"].map(text => ({ text, class: "num" })), "Used"], data.curves.map(curve => [
				curve.arm, num(String(curve.round)), num(link(`/boots/${curve.boot}`, String(curve.boot))), num(format.count(curve.n)),
				num(curve.p999 === null ? "–" : format.quantity(curve.p999, scale)),
				`${curve.used ? "yes" : "no"}${curve.lossy ? ", lost events" : ""}`])));
}

function choice(name, label, options, changed) {
	const select = el("select", { id: `ecdf-${name}` }, options.map(([value, text]) =>
		el("option", { value, selected: value === chosen[name] }, text)));

	select.addEventListener("change", () => {
		chosen[name] = select.value;
		changed();
	});
	return el("span", { class: "choice" }, el("label", { for: `ecdf-${name}` }, `${label} `), select);
}

export function drawEcdf(experiment, { samples }) {
	const arms = experiment.arms.map(arm => arm.name);
	const metrics = experiment.metrics.filter(metric => metric.agg && !SINGLE.includes(metric.agg));
	const place = el("div", { "aria-live": "polite" });
	let asked = 0;

	if (!metrics.length || !samples.length) {
		fill("ecdf");
		return;
	}
	chosen.metric ||= (metrics.find(metric => metric.primary) || metrics[0]).name;
	chosen.scenario ||= experiment.scenarios[0].name;
	const draw = async () => {
		const mine = ++asked;

		try {
			const data = await get(`/api/v1/experiments/${experiment.id}/ecdf?metric=${encodeURIComponent(chosen.metric)}&scenario=${encodeURIComponent(chosen.scenario)}`);

			if (mine === asked)
				place.replaceChildren(legend(arms), responsive(width => plot(data, arms, chosen.view === "tail", width)), curveTable(data));
		} catch (error) {
			if (mine === asked)
				place.replaceChildren(el("p", { class: "quiet" }, error.message));
		}
	};

	fill("ecdf",
		el("h2", {}, "Distribution"),
		el("p", { class: "quiet" }, "The raw values of each boot, a line for each; boots are never pooled. A mark stands at a boot’s p99.9 where it has one."),
		el("p", { class: "choices" },
			choice("metric", "Metric of", metrics.map(({ name }) => [name, name]), draw),
			choice("scenario", "Scenario of", experiment.scenarios.map(({ name }) => [name, name]), draw),
			choice("view", "Show", [["all", "all of it"], ["tail", "the tail"]], draw)),
		place);
	draw();
}
