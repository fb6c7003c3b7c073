// SPDX-License-Identifier: GPL-2.0-only
// The spec as JSON: the same draft as the form's, as a text.

import { el } from "/dom.js";
import { button, markInvalid } from "/fields.js";
import { JsonError, parse, write } from "/json.js";

const isObject = value => typeof value === "object" && value !== null && !Array.isArray(value);

// What the form must be able to rely on; all else is labd's to judge.
const SHAPES = {
	"": [isObject, "the spec has to be an object"],
	arms: [value => Array.isArray(value) && value.every(isObject), "arms has to be a list of objects"],
	scenarios: [value => Array.isArray(value) && value.every(isObject), "scenarios has to be a list of objects"],
	metrics: [value => Array.isArray(value) && value.every(isObject), "metrics has to be a list of objects"],
	trace: [isObject, "trace has to be an object"],
	primary: [isObject, "primary has to be an object"],
};

function checkShape(spec, places) {
	for (const [key, [fits, message]] of Object.entries(SHAPES)) {
		const value = key ? spec[key] : spec;
		const { line, column } = places.get(key) || {};

		if (value !== undefined && !fits(value))
			throw new JsonError(`${message}.`, line, column);
	}
	for (const [i, scenario] of (spec.scenarios || []).entries()) {
		const { line, column } = places.get(`scenarios[${i}].args`) || {};

		if (scenario.args !== undefined && !isObject(scenario.args))
			throw new JsonError(`scenarios[${i}].args has to be an object.`, line, column);
	}
}

export function readSpec(text) {
	const { value, places } = parse(text);

	checkShape(value, places);
	return { spec: value, places };
}

// taken(spec): called with each text that can be read. Answers { node, show(spec), broken(), mark(key, detail) }.
export function makeJson(taken) {
	const area = el("textarea", { id: "json", class: "json", rows: "28", spellcheck: "false", autocomplete: "off", "aria-describedby": "json-problem" });
	const problem = el("p", { class: "problem", id: "json-problem", role: "status" });
	let places = new Map();
	let broken = null;

	function say(message, at) {
		problem.replaceChildren(...message ? [message, at === undefined ? "" : " ", at === undefined ? "" : button("Go there", () => {
			const end = area.value.slice(at).search(/[\n,]|$/) + at;

			area.focus();
			area.setSelectionRange(at, Math.max(end, at + 1));
		})] : []);
		markInvalid(area, Boolean(message));
	}

	function read() {
		try {
			const answer = readSpec(area.value);

			({ places } = answer);
			broken = null;
			say("");
			return answer.spec;
		} catch (error) {
			if (!(error instanceof JsonError))
				throw error;
			const lines = area.value.split("\n").slice(0, error.line - 1);

			broken = error.message;
			say(broken, lines.join("\n").length + (lines.length ? 1 : 0) + error.column - 1);
			return null;
		}
	}

	area.addEventListener("input", () => {
		const spec = read();

		if (spec)
			taken(spec);
	});
	return {
		node: el("div", { class: "field" }, el("label", { for: "json" }, "The spec as JSON"), area, problem),
		show(spec) {
			area.value = `${write(spec)}\n`;
			read();
		},
		text: () => area.value,
		broken: () => broken,
		focus: () => area.focus(),
		// The line of a key that labd named, or of the nearest that holds it.
		mark(key, detail) {
			let path = key;

			while (path && !places.has(path))
				path = path.replace(/(?:\.?[^.[\]]+|\[\d+\])$/, "");
			const place = places.get(path);

			say(place ? `Line ${place.line}, ${key}: ${detail}` : `${key}: ${detail}`, place?.at);
		},
	};
}
