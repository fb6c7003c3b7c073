// SPDX-License-Identifier: GPL-2.0-only
// Reading the API. A failure becomes an Error whose message is the problem's detail.

import { el, fill, markPage } from "/dom.js";

export async function get(path) {
	const response = await fetch(path, { headers: { Accept: "application/json" } });
	const body = await response.json().catch(() => ({}));

	if (!response.ok)
		throw new Error(body.detail || `${path}: HTTP ${response.status}`);
	return body;
}

// Every page of a list, at most 20 of them.
export async function getAll(path, key) {
	const rows = [];
	let after = null;

	for (let page = 0; page < 20; page++) {
		const body = await get(`${path}?limit=500${after ? `&after=${after}` : ""}`);

		rows.push(...body[key]);
		after = body.next;
		if (!after)
			break;
	}
	return rows;
}

// Runs a page's main function and shows what went wrong with it.
export async function start(main, target) {
	markPage();
	try {
		await main();
	} catch (error) {
		fill(target, el("p", { class: "banner error", role: "alert" }, error.message));
	}
}

// The number at the end of the page's address.
export function pageId() {
	return Number(location.pathname.split("/").pop());
}
