// SPDX-License-Identifier: GPL-2.0-only
// Inputs that are bound to the keys of one JSON object, the draft. A path is spelled as in labd's problems,
// "metrics[0].num.event", and is the data-key of the element that a problem with it is shown at.

import { el } from "/dom.js";

const steps = path => [...path.matchAll(/\[(\d+)\]|([^.[\]]+)/g)].map(([, index, name]) => index === undefined ? name : Number(index));

export class Draft {
	// changed: called after each change, with the path.
	constructor(changed) {
		this.object = {};
		this.changed = changed;
	}

	get(path) {
		return steps(path).reduce((value, step) => value?.[step], this.object);
	}

	// undefined removes the key, and the objects around it that are empty then.
	set(path, value) {
		const names = steps(path);
		const last = names.pop();
		const chain = [this.object];

		for (const name of names) {
			if (typeof chain.at(-1)[name] !== "object" || chain.at(-1)[name] === null)
				chain.at(-1)[name] = {};
			chain.push(chain.at(-1)[name]);
		}
		if (value === undefined)
			delete chain.at(-1)[last];
		else
			chain.at(-1)[last] = value;
		for (let i = names.length; i > 0 && !Array.isArray(chain[i]) && !Object.keys(chain[i]).length && !Array.isArray(chain[i - 1]); i--)
			delete chain[i - 1][names[i - 1]];
		this.changed(path);
	}
}

// What cannot be read as a number stays as it was typed: labd then says what is wrong with it.
function readNumber(text) {
	const trimmed = text.trim();

	if (trimmed === "")
		return undefined;
	const value = Number(trimmed);
	return /^-?\d/.test(trimmed) && isFinite(value) && (Number.isSafeInteger(value) || !Number.isInteger(value)) ? value : trimmed;
}

const words = (text, separator) => {
	const list = text.split(separator).map(word => word.trim()).filter(Boolean);

	return list.length ? list : undefined;
};

const show = value => value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
const join = separator => value => Array.isArray(value) ? value.join(separator) : show(value);

const KINDS = {
	text: { read: text => text === "" ? undefined : text, show },
	number: { read: readNumber, show },
	words: { read: text => words(text, /[\s,]+/), show: join(", ") },
	lines: { read: text => words(text, "\n"), show: join("\n") },
};

// Where a problem with @path is written; showProblem() finds it.
export function problemPlace(path) {
	return el("p", { class: "problem", id: `problem-${path}`, "data-problem": path, hidden: true });
}

function wrap(path, label, control, hint) {
	const describedBy = [hint && `hint-${path}`, `problem-${path}`].filter(Boolean).join(" ");

	control.id = `field-${path}`;
	control.setAttribute("data-key", path);
	control.setAttribute("aria-describedby", describedBy);
	return el("div", { class: "field" },
		el("label", { for: control.id }, label), control,
		hint ? el("small", { id: `hint-${path}` }, hint) : null, problemPlace(path));
}

// kind: a key of KINDS. after: called with (new, old) once the draft has the new value.
export function input(draft, path, label, { kind = "text", hint, list, placeholder, after } = {}) {
	const { read, show: text } = KINDS[kind];
	const control = kind === "lines" ? el("textarea", { rows: "3", spellcheck: "false" })
		: el("input", { type: "text", inputmode: kind === "number" ? "decimal" : null, list, placeholder, spellcheck: "false", autocomplete: "off" });

	control.value = text(draft.get(path));
	control.addEventListener("input", () => {
		const old = draft.get(path);

		draft.set(path, read(control.value));
		after?.(draft.get(path), old);
	});
	return wrap(path, label, control, hint);
}

// options: texts or { value, text }; "" leaves the key out. A value that is not offered is kept and marked.
export function select(draft, path, label, options, { hint, after } = {}) {
	const value = show(draft.get(path));
	const known = options.map(option => typeof option === "string" ? { value: option, text: option } : option);
	const all = known.some(option => option.value === value) ? known
		: [{ value, text: value ? `${value} (not offered)` : "choose …" }, ...known];
	const control = el("select", {}, all.map(option =>
		el("option", { value: option.value, selected: option.value === value }, option.text)));

	control.addEventListener("change", () => {
		const old = draft.get(path);

		draft.set(path, control.value || undefined);
		after?.(draft.get(path), old);
	});
	return wrap(path, label, control, hint);
}

export function checkbox(draft, path, label, { after } = {}) {
	const control = el("input", { type: "checkbox", id: `field-${path}`, "data-key": path,
		checked: draft.get(path) === true, "aria-describedby": `problem-${path}` });

	control.addEventListener("change", () => {
		draft.set(path, control.checked || undefined);
		after?.(control.checked);
	});
	return el("div", { class: "field check" }, el("label", {}, control, " ", label), problemPlace(path));
}

export function button(text, press, attributes = {}) {
	const node = el("button", { type: "button", ...attributes }, text);

	node.addEventListener("click", press);
	return node;
}

export function markInvalid(control, on = true) {
	if (on)
		control.setAttribute("aria-invalid", "true");
	else
		control.removeAttribute("aria-invalid");
}

export function clearProblems() {
	for (const place of document.querySelectorAll("[data-problem]")) {
		place.hidden = true;
		place.textContent = "";
	}
	for (const control of document.querySelectorAll("[aria-invalid]"))
		markInvalid(control, false);
}

// Writes @detail at the field of @key, or at the nearest that holds it; false when there is none.
export function showProblem(key, detail) {
	for (let path = key; path; path = path.replace(/(?:\.?[^.[\]]+|\[\d+\])$/, "")) {
		const place = document.querySelector(`[data-problem="${CSS.escape(path)}"]`);

		if (!place)
			continue;
		const control = document.querySelector(`[data-key="${CSS.escape(path)}"]`);

		for (let node = place; node; node = node.parentElement) {
			if (node instanceof HTMLDetailsElement)
				node.open = true;
		}
		place.textContent = path === key ? detail : `${key}: ${detail}`;
		place.hidden = false;
		if (control)
			markInvalid(control);
		(control || place).scrollIntoView({ block: "center" });
		control?.focus({ preventScroll: true });
		return true;
	}
	return false;
}
