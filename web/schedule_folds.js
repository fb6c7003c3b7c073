// SPDX-License-Identifier: GPL-2.0-only
// A list of objects of the spec, each in a fold whose summary tells what is inside.

import { el } from "/dom.js";
import { button, problemPlace } from "/fields.js";

const open = new WeakSet();

// A name that the list does not have yet.
function freeName(list, name) {
	let n = 2;

	while (list.some(item => item.name === `${name}-${n}`))
		n++;
	return `${name}-${n}`;
}

// list: the key. one: what an item is called. summary(item): nodes. body(item, path, redraw): nodes. removed(item).
export function folds(draft, redraw, { list: key, one, summary, body, max, removed }) {
	const items = Array.isArray(draft.get(key)) ? draft.get(key) : [];
	const add = item => {
		open.add(item);
		draft.set(key, [...items, item]);
		redraw(`field-${key}[${items.length}].name`);
	};
	const fold = (item, i) => {
		const path = `${key}[${i}]`;
		const head = el("summary", { id: `summary-${path}` }, summary(item));
		const node = el("details", { class: "fold", open: open.has(item) }, head, problemPlace(path),
			body(item, path, redraw),
			el("p", { class: "actions" },
				button("Duplicate", () => add({ ...structuredClone(item), name: freeName(items, item.name || one) }),
					{ disabled: items.length >= max, "aria-label": `Duplicate ${item.name || one}` }),
				button("Remove", () => {
					draft.set(key, items.filter(other => other !== item));
					removed?.(item);
					redraw(`add-${key}`);
				}, { "aria-label": `Remove ${item.name || one}` })));

		node.addEventListener("toggle", () => open[node.open ? "add" : "delete"](item));
		// The summary follows what is typed below it.
		node.addEventListener("input", () => head.replaceChildren(...summary(item).filter(Boolean)));
		node.addEventListener("change", () => head.replaceChildren(...summary(item).filter(Boolean)));
		return node;
	};

	return [problemPlace(key), items.map(fold),
		button(`Add a ${one}`, () => add({}), { id: `add-${key}`, disabled: items.length >= max })];
}
