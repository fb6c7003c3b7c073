// SPDX-License-Identifier: GPL-2.0-only
// Two experiments of the same scenarios side by side, and what differs between them.

import { get, start } from "/api.js";
import { again, badge, el, fill, link, num, sections, table } from "/dom.js";
import * as format from "/format.js";
import { verdictBadge, verdictClass } from "/verdict.js";

const SIDES = ["A", "B"];
const LISTED = 500;
const asked = new URLSearchParams(location.search);

function form(experiments, ids) {
	const selects = SIDES.map((side, i) => {
		// Also one that is too old to be listed.
		const rest = ids[i] && !experiments.some(({ id }) => id === ids[i]) ? [{ id: ids[i], name: "" }] : [];
		const select = el("select", { id: `side-${side}` }, el("option", { value: "" }, "choose one"),
			[...experiments, ...rest].map(({ id, name, machine }) =>
				el("option", { value: id, selected: id === ids[i] }, [id, name, machine].filter(Boolean).join(" · "))));

		return el("p", { class: "choice" }, el("label", { for: `side-${side}` }, `${side} `), select);
	});
	const node = el("form", { class: "choices" }, selects, el("button", {}, "Compare"));

	node.addEventListener("submit", event => {
		event.preventDefault();
		const [a, b] = [...node.querySelectorAll("select")].map(select => select.value);

		location.assign(`/compare?a=${a}&b=${b}`);
	});
	return node;
}

const both = (a, b) => a.filter(({ name }) => b.some(other => other.name === name)).map(({ name }) => name);
const sameMetric = (a, b) => a.unit === b.unit && a.agg === b.agg;
const union = lists => [...new Set(lists.flat())];
const of = (rows, metric, scenario, arm) => rows.find(row => row.metric === metric && row.scenario === scenario && row.arm === arm);

function cells({ experiment, results }, metric, scenario, arm, scale) {
	const result = of(results.results, metric, scenario, arm);
	const pair = of(results.compare, metric, scenario, arm);
	const isBase = experiment.arms[0].name === arm;

	return [
		num(result?.n ? [format.quantity(result.median, scale), el("small", {}, `n = ${result.n}`)] : "–"),
		num(isBase ? "base" : format.delta(pair?.delta), `delta ${verdictClass(pair?.verdict)}`),
		el("td", {}, pair?.verdict ? verdictBadge(pair.verdict) : el("span", { class: "quiet" }, "–")),
	];
}

// Whether a scenario runs the same on both sides.
function sameWork(name, sides) {
	const [a, b] = sides.map(({ experiment }) => experiment.scenarios.find(scenario => scenario.name === name));

	return a.workload === b.workload && !differing(a.args || {}, b.args || {}).length;
}

function metricTable(metric, scenarios, sides) {
	const mine = sides.map(({ experiment }) => experiment.metrics.find(({ name }) => name === metric));
	const values = sides.flatMap(({ results }) => results.results.filter(row => row.metric === metric).map(row => row.median));
	const scale = format.chooseScale(mine[0].unit, values);
	const arms = union(sides.map(({ experiment }) => experiment.arms.map(({ name }) => name)));
	const clocks = union(sides.map(({ results }) => format.clockOf(mine[0], results.clock) || []));
	const rows = scenarios.map(scenario => [scenario, sameWork(scenario, sides)]).flatMap(([scenario, same]) => arms.map((arm, i) => {
		const [a, b] = sides.map(({ results }) => of(results.results, metric, scenario, arm));
		const row = [i ? again(scenario) : same ? scenario : el("th", { scope: "row" }, scenario, el("small", {}, "not the same arguments")), arm, ...sides.flatMap(side => cells(side, metric, scenario, arm, scale)),
			num(same && a?.n && b?.n && a.median ? format.delta(b.median / a.median - 1) : "–", "delta")];

		row.joined = i > 0;
		return row;
	}));

	return table(metric, [mine[0].agg, mine[0].better && `${mine[0].better} is better`, ...clocks, "B against A is of medians and no test"].filter(Boolean).join(" · "),
		["Scenario", "Arm", ...SIDES.flatMap(side => [{ text: side, class: "num" }, { text: `${side}'s delta`, class: "num" }, `${side}'s verdict`]),
			{ text: "B against A", class: "num" }], rows);
}

function drawTables(sides) {
	const [a, b] = sides.map(({ experiment }) => experiment);
	const scenarios = both(a.scenarios, b.scenarios);
	const metrics = both(a.metrics, b.metrics).filter(name => sameMetric(...[a, b].map(({ metrics: all }) => all.find(m => m.name === name))));
	const first = metrics.filter(name => [a, b].some(({ metrics: all }) => all.some(m => m.name === name && m.primary)));
	const shown = first.length ? first : metrics.slice(0, 1);
	const rest = metrics.filter(name => !shown.includes(name));

	if (!scenarios.length || !metrics.length) {
		fill("tables", el("h2", {}, "Results"), el("p", {}, `These two have no ${scenarios.length ? "metric" : "scenario"} in common.`));
		return;
	}
	fill("tables", el("h2", {}, "Results"),
		el("p", { class: "quiet" }, "Medians of the boots’ values, and each one’s delta against its own base. What ran at another time, maybe on another machine, is set side by side and not tested."),
		shown.map(name => metricTable(name, scenarios, sides)),
		rest.length ? el("details", {}, el("summary", {}, `${format.plural(rest.length, "more metric")}`), rest.map(name => metricTable(name, scenarios, sides))) : null);
}

// Lists of things that have names become objects by these, so that each key has a name that stays.
function byName(value) {
	if (Array.isArray(value) && value.length && value.every(member => member?.name))
		return Object.fromEntries(value.map(({ name, ...rest }) => [name, byName(rest)]));
	return value !== null && typeof value === "object" && !Array.isArray(value)
		? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, byName(member)])) : value;
}

const isObject = value => value !== null && typeof value === "object" && !Array.isArray(value);
const text = value => format.flatten({ value })[0]?.[1] ?? "–";

// [key, of A, of B] where the two are not the same; what only one has at all is one row.
function differing(a, b, prefix = "") {
	return union([Object.keys(a), Object.keys(b)]).flatMap(name => {
		const key = `${prefix}${name}`;
		const pair = [a[name], b[name]];

		if (pair.every(isObject))
			return differing(...pair, `${key}.`);
		if (pair.some(value => value === undefined))
			return [[key, ...pair.map(value => value === undefined ? "–" : isObject(value) ? "only here" : text(value))]];
		return text(pair[0]) === text(pair[1]) ? [] : [[key, ...pair.map(text)]];
	});
}

function differences(title, objects) {
	const rows = objects.every(Boolean) ? differing(...objects.map(byName)) : null;

	return [el("h3", {}, title), !rows ? el("p", {}, "Not known of both.")
		: !rows.length ? el("p", {}, "Nothing differs.")
		: table(`${title}: what differs`, null, ["Key", ...SIDES], rows.map(([key, ...values]) =>
			[el("th", { scope: "row", class: "mono" }, key), ...values.map(value => el("td", { class: "mono" }, value))]), true)];
}

// Of several environments each has a number; null where none was recorded.
function environments({ results }) {
	const list = (results.environments || []).map(({ environment }) => environment);

	return list.length > 1 ? Object.fromEntries(list.map((environment, i) => [`environment ${i + 1}`, environment])) : list[0];
}

// Without the places of files on the machine that built them.
function builds({ experiment }) {
	return experiment.arms.map(({ name, build, manifest: { kernel, hypervisor, config, log, key, ...manifest } }) => ({ ...manifest, build, name }));
}

function drawDifferences(sides) {
	fill("differences", el("h2", {}, "What differs"),
		differences("Environment", sides.map(environments)),
		differences("Machine", sides.map(({ experiment }) => experiment.machine_description)),
		differences("Builds", sides.map(builds)),
		differences("Spec", sides.map(({ experiment }) => experiment.spec)));
}

async function load(id) {
	const base = `/api/v1/experiments/${id}`;
	const [experiment, results] = await Promise.all([get(base), get(`${base}/results`)]);

	return { experiment, results };
}

sections("head", "tables", "differences");
start(async () => {
	const ids = ["a", "b"].map(name => Number(asked.get(name)) || null);
	const { experiments } = await get(`/api/v1/experiments?limit=${LISTED}`);

	fill("head", el("h1", {}, "Compare"), form(experiments, ids));
	if (!ids.every(Boolean)) {
		fill("tables", el("p", { class: "quiet" }, "Choose two experiments of the same scenarios."));
		return;
	}
	const sides = await Promise.all(ids.map(load)).catch(error => {
		fill("tables", el("p", { class: "banner error", role: "alert" }, error.message));
	});

	if (!sides)
		return;
	document.title = `${ids[0]} and ${ids[1]} · Compare · labd`;
	fill("head", el("h1", {}, "Compare"), form(experiments, ids),
		el("dl", {}, sides.flatMap(({ experiment }, i) => [el("dt", {}, SIDES[i]),
			el("dd", {}, link(`/experiments/${experiment.id}`, `${experiment.id}: ${experiment.name}`), " ", badge(experiment.state),
				` ${experiment.machine}, ${format.time(experiment.started || experiment.created)}`)])),
		ids[0] === ids[1] ? el("p", { class: "banner" }, "Both are the same experiment.") : null);
	drawTables(sides);
	drawDifferences(sides);
}, "head");
