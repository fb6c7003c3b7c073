// SPDX-License-Identifier: GPL-2.0-only
// The scenarios of a spec: a workload and its arguments, a row each.

import { el } from "/dom.js";
import { button, input, markInvalid, problemPlace } from "/fields.js";
import { folds } from "/schedule_folds.js";

const ARGS_MAX = 32;

// scenario → its rows { key, text, value }, as long as they say the same as its args; a key that is blank or there
// twice while somebody types has no place in an object.
const rows_of = new WeakMap();

// What is typed: a number, true or false, else a text; a text that reads like one of those stands in quotes.
function readValue(text) {
	try {
		const value = JSON.parse(text);

		return typeof value === "string" || typeof value === "boolean" || Number.isSafeInteger(value) ? value : text;
	} catch {
		return text;
	}
}

const showValue = value => typeof value === "string" && readValue(value) === value ? value : JSON.stringify(value);

function toArgs(rows) {
	return Object.fromEntries(rows.filter(row => row.key).map(row => [row.key, row.value]));
}

function rowsOf(scenario) {
	const args = scenario.args || {};
	let rows = rows_of.get(scenario);

	if (!rows || JSON.stringify(toArgs(rows)) !== JSON.stringify(args)) {
		rows = Object.entries(args).map(([key, value]) => ({ key, text: showValue(value), value }));
		rows_of.set(scenario, rows);
	}
	return rows;
}

function argRow(draft, rows, row, i, path, redraw) {
	const name = `${path}.args-${i}`;
	const key = el("input", { type: "text", id: `${name}-key`, "aria-label": `Name of argument ${i + 1}`, spellcheck: "false", autocomplete: "off" });
	const value = el("input", { type: "text", id: `${name}-value`, "aria-label": `Value of argument ${i + 1}`, spellcheck: "false", autocomplete: "off" });
	const place = problemPlace(`${path}.args.${row.key}`);
	const remove = button("✕", () => {
		rows.splice(i, 1);
		store();
		redraw(`${path}.args-add`);
	}, { "aria-label": `Remove argument ${row.key || i + 1}`, class: "small" });
	const store = () => draft.set(`${path}.args`, rows.some(other => other.key) ? toArgs(rows) : undefined);

	key.value = row.key;
	value.value = row.text;
	if (row.key)
		value.setAttribute("data-key", `${path}.args.${row.key}`);
	key.addEventListener("input", () => {
		row.key = key.value.trim();
		const twice = row.key && rows.some(other => other !== row && other.key === row.key);

		place.dataset.problem = `${path}.args.${row.key}`;
		value.setAttribute("data-key", `${path}.args.${row.key}`);
		place.textContent = twice ? `${row.key} is there twice; the last one counts.` : "";
		place.hidden = !twice;
		markInvalid(key, Boolean(twice));
		remove.setAttribute("aria-label", `Remove argument ${row.key || i + 1}`);
		store();
	});
	value.addEventListener("input", () => {
		row.text = value.value;
		row.value = readValue(value.value);
		store();
	});
	return el("li", {}, key, value, remove, place);
}

function body(draft, scenario, path, redraw, named) {
	const rows = rowsOf(scenario);

	return [
		el("div", { class: "fields" },
			input(draft, `${path}.name`, "Name", { after: (name, old) => {
				renamed(draft, name, old);
				named();
			} }),
			input(draft, `${path}.workload`, "Workload", { placeholder: "kvm-churn", hint: "a program of the image's /bin" }),
			input(draft, `${path}.timeout_s`, "Time limit, seconds", { kind: "number", placeholder: "120" })),
		el("fieldset", { class: "inner" }, el("legend", {}, "Arguments"), problemPlace(`${path}.args`),
			el("ul", { class: "args" }, rows.map((row, i) => argRow(draft, rows, row, i, path, redraw))),
			button("Add an argument", () => {
				rows.push({ key: "", text: "", value: "" });
				redraw(`${path}.args-${rows.length - 1}-key`);
			}, { id: `${path}.args-add`, disabled: rows.length >= ARGS_MAX })),
	];
}

// Those that the plan calls primary are named by their names.
function renamed(draft, name, old) {
	const primary = draft.get("primary.scenarios");

	if (Array.isArray(primary) && primary.includes(old))
		draft.set("primary.scenarios", primary.map(other => other === old ? name ?? "" : other));
}

function removed(draft, { name }) {
	const primary = draft.get("primary.scenarios");

	if (!Array.isArray(primary) || !primary.includes(name))
		return;
	const left = primary.filter(other => other !== name);
	draft.set("primary.scenarios", left.length ? left : undefined);
}

function summary(scenario) {
	const args = Object.entries(scenario.args || {}).map(([key, value]) => value === true ? key : `${key}=${value}`).join(" ");

	return [el("strong", {}, scenario.name || "unnamed"), ` ${scenario.workload || "…"} `, args ? el("span", { class: "quiet" }, args) : null];
}

// named: called when a scenario has got another name.
export function scenariosSection(draft, redraw, named) {
	return folds(draft, redraw, { list: "scenarios", one: "scenario", summary, max: 32, removed: scenario => removed(draft, scenario),
		body: (scenario, path, again) => body(draft, scenario, path, again, named) });
}
