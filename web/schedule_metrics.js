// SPDX-License-Identifier: GPL-2.0-only
// The metrics of a spec: one fold each, with the inputs that its source needs.

import { el } from "/dom.js";
import { checkbox, input, problemPlace, select } from "/fields.js";
import { folds } from "/schedule_folds.js";

const SPREAD = ["sum", "median", "p99", "p99.9", "max"];
const SOURCES = {
	event: { text: "an event: its count, or a field of it", keys: ["event", "field", "agg"], aggs: ["count", "rate", ...SPREAD] },
	pair: { text: "the time between two events", keys: ["begin", "end", "keys", "agg"], aggs: ["count", "rate", ...SPREAD] },
	ratio: { text: "one sum or count over another", keys: ["num", "den", "agg"] },
	workload: { text: "a key of what the workload prints", keys: ["workload_key", "agg"], aggs: ["value", "count", ...SPREAD] },
};

const chosen = new WeakMap(); // metric → source, while no key of it tells
const put_by = new WeakMap(); // metric → keys of its other sources, should the user go back

function sourceOf(metric) {
	return ["pair", "ratio", "workload", "event"].find(name =>
		SOURCES[name].keys.some(key => key !== "agg" && metric[key] !== undefined)) || chosen.get(metric) || "event";
}

function change(metric, source) {
	const kept = put_by.get(metric) || {};

	kept[sourceOf(metric)] = {};
	for (const key of SOURCES[sourceOf(metric)].keys) {
		if (metric[key] !== undefined)
			kept[sourceOf(metric)][key] = metric[key];
		delete metric[key];
	}
	put_by.set(metric, kept);
	chosen.set(metric, source);
	Object.assign(metric, kept[source] || (source === "ratio" ? { agg: "ratio" } : {}));
}

const counts = metric => metric.agg === "count" || metric.agg === "rate";
const term = t => t?.event ? t.field ? `sum of ${t.event} ${t.field}` : `count of ${t.event}` : "…";

const SAID = {
	event: m => `${m.agg || "…"} of ${m.event || "…"}${m.field ? ` ${m.field}` : ""}`,
	pair: m => `${m.agg || "…"} of the time from ${m.begin || "…"} to ${m.end || "…"}`,
	ratio: m => `${term(m.num)} over ${term(m.den)}`,
	workload: m => `${m.agg && m.agg !== "value" ? `${m.agg} of ` : ""}the workload's ${m.workload_key || "…"}`,
};

function summary(metric) {
	return [el("strong", {}, metric.name || "unnamed"), ` ${SAID[sourceOf(metric)](metric)}`,
		metric.unit ? `, ${metric.unit === "1" ? "a number" : metric.unit}` : "",
		metric.better ? `, ${metric.better} is better` : "", metric.primary ? " " : "", metric.primary ? el("span", { class: "badge" }, "primary") : null];
}

function sourceInputs(draft, metric, path, redraw) {
	const source = sourceOf(metric);
	const event = (key, label) => input(draft, `${path}.${key}`, label, { list: "chosen-events", placeholder: "system:event" });
	const field = (key, label, hint) => input(draft, `${path}.${key}`, label, { hint });
	const agg = SOURCES[source].aggs && select(draft, `${path}.agg`, "Aggregate", SOURCES[source].aggs.map(name =>
		source === "workload" && name === "value" ? { value: metric.agg === "value" ? "value" : "", text: "none: it is one number" } : name), {
		after: () => {
			if (source === "event" && counts(metric))
				delete metric.field;
			redraw(`field-${path}.agg`);
		} });

	switch (source) {
	case "event":
		return [event("event", "Event"), agg, counts(metric) ? null : field("field", "Field")];
	case "pair":
		return [event("begin", "Begins with"), event("end", "Ends with"),
			input(draft, `${path}.keys`, "Fields in which both agree", { kind: "words", placeholder: "pid, cpu" }), agg];
	case "ratio":
		return [event("num.event", "Above: event"), field("num.field", "Above: field", "blank counts events"),
			event("den.event", "Below: event"), field("den.field", "Below: field", "blank counts events"), problemPlace(`${path}.agg`)];
	default:
		return [field("workload_key", "Key"), agg];
	}
}

function body(draft, metric, path, redraw) {
	const kinds = el("select", { id: `field-${path}.source` }, Object.entries(SOURCES).map(([name, { text }]) =>
		el("option", { value: name, selected: name === sourceOf(metric) }, text)));

	kinds.addEventListener("change", () => {
		change(metric, kinds.value);
		draft.changed(path);
		redraw(kinds.id);
	});
	return [
		el("div", { class: "fields" },
			input(draft, `${path}.name`, "Name"),
			input(draft, `${path}.unit`, "Unit", { hint: "ns is shown in fitting units; 1 for a plain number" }),
			select(draft, `${path}.better`, "Better is", [{ value: "", text: "neither" }, "lower", "higher"]),
			el("div", { class: "field" }, el("label", { for: kinds.id }, "Comes from"), kinds)),
		el("div", { class: "fields" }, sourceInputs(draft, metric, path, redraw)),
		el("div", { class: "fields" },
			checkbox(draft, `${path}.primary`, "Primary: it gets a verdict"),
			input(draft, `${path}.not_a_result`, "Not a result, because", { hint: "blank where it is one" })),
	];
}

// redraw: draws the section again and puts the focus on the element with the id.
export function metricsSection(draft, redraw) {
	return folds(draft, redraw, { list: "metrics", one: "metric", summary, max: 64,
		body: (metric, path, again) => body(draft, metric, path, again) });
}
