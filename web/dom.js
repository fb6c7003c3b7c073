// SPDX-License-Identifier: GPL-2.0-only
// Elements from data. Data only ever becomes text nodes and attributes, never markup.

export function el(tag, attributes = {}, ...children) {
	const node = document.createElement(tag);

	for (const [name, value] of Object.entries(attributes)) {
		if (value === true)
			node.setAttribute(name, "");
		else if (value !== false && value !== null && value !== undefined)
			node.setAttribute(name, value);
	}
	node.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
	return node;
}

export function fill(id, ...children) {
	document.getElementById(id).replaceChildren(...children.flat().filter(Boolean));
}

// The page's parts, in order; the first one says that something is coming.
export function sections(...ids) {
	document.getElementById("main").replaceChildren(...ids.map((id, i) =>
		el("div", { id }, i ? null : el("p", { class: "quiet" }, "Loading …"))));
}

let captions = 0;

// head: column titles, each a string or { text, class }. rows: arrays of cells, each a string, a node
// or an element that is a th or td already; the first cell of a row becomes its header. wide: as wide
// as the page, for tables of text.
export function table(caption, note, head, rows, wide = false) {
	const id = `table-${++captions}`;
	const cell = (content, tag, attributes) => {
		if (content instanceof Element && (content.tagName === "TD" || content.tagName === "TH"))
			return content;
		return el(tag, attributes, content === null || content === undefined ? "–" : content);
	};

	return el("div", { class: wide ? "scroll wide" : "scroll", tabindex: "0", role: "region", "aria-labelledby": id },
		el("table", {},
			el("caption", { id }, caption, note ? el("small", {}, note) : null),
			el("thead", {}, el("tr", {}, head.map(h => typeof h === "string"
				? el("th", { scope: "col" }, h)
				: el("th", { scope: "col", class: h.class }, h.text)))),
			el("tbody", {}, rows.map(row => el("tr", { class: row.joined ? "joined" : null },
				row.map((content, i) => i === 0
					? cell(content, "th", { scope: "row" })
					: cell(content, "td", {})))))));
}

// The header of a row that goes on with the one above: for eyes it is empty.
export function again(text) {
	return el("th", { scope: "row" }, el("span", { class: "hidden" }, text));
}

export function num(content, extra = "") {
	return el("td", { class: `num ${extra}`.trim() }, content === null || content === undefined ? "–" : content);
}

const GOOD = ["done", "ok"];
const BUSY = ["running", "captured", "queued"];
const PLAIN = ["planned", "cancelled", "interrupted", "disturbed"];

export function stateClass(state) {
	if (GOOD.includes(state))
		return "good";
	if (BUSY.includes(state))
		return "busy";
	return PLAIN.includes(state) ? "" : "bad";
}

export function badge(state) {
	return el("span", { class: `badge ${stateClass(state)}` }, state);
}

export function link(href, text) {
	return el("a", { href }, text);
}

export function emulatedBanner(emulated, deterministic = false) {
	if (!emulated)
		return null;
	return el("p", { class: "banner", role: "note" }, el("strong", {}, "Emulated machine. "), deterministic
		? "Times count instructions: they are without noise, and without what caches, TLBs and interrupts between CPUs cost."
		: "Times are the wall clock of an emulator: counts and ratios between arms mean something, absolute times do not.");
}

export function definitions(pairs) {
	return el("dl", {}, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
		.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]).flat());
}

// Marks the page in the navigation, or the list that it is below.
export function markPage() {
	const here = location.pathname;
	const list = here.startsWith("/boots/") || here.startsWith("/experiments/") ? "/" : `/${here.split("/")[1]}`;

	for (const a of document.querySelectorAll(".top nav a")) {
		if (a.getAttribute("href") === list)
			a.setAttribute("aria-current", here === list ? "page" : "true");
	}
}
