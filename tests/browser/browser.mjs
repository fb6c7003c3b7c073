// SPDX-License-Identifier: GPL-2.0-only
// Debian's Chromium, and what must hold of every page: no error on its console, no request to another host, nothing
// wider than the window, nothing serious that axe finds.

import assert from "node:assert/strict";
import { mkdirSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { chromium } = require("playwright-core");

export const url = process.env.LABD_URL;
export const token = process.env.LABD_TOKEN.trim();
const shots = process.env.LABD_SCREENSHOTS;

export const WIDE = { width: 1280, height: 900 };
export const NARROW = { width: 390, height: 844 };

mkdirSync(shots, { recursive: true });

export async function launch() {
	return chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });
}

// A tab of its own: no token, no cache. faults: what its pages did wrong so far. expected: an error that the test
// provokes, as a pattern. Another host is never reached.
export async function open(browser, { viewport = WIDE, dark = false, base = url, expected = null } = {}) {
	const context = await browser.newContext({ viewport, colorScheme: dark ? "dark" : "light", baseURL: base, acceptDownloads: true });
	const page = await context.newPage();
	const faults = [];
	const host = new URL(base).host;

	page.setDefaultTimeout(20000);
	page.on("console", message => {
		if (message.type() === "error" && !expected?.test(message.text()))
			faults.push(`console: ${message.text()}`);
	});
	page.on("pageerror", error => faults.push(`error: ${error.message}`));
	page.on("request", request => {
		if (new URL(request.url()).host !== host)
			faults.push(`request to ${request.url()}`);
	});
	await context.route(address => address.host !== host, route => route.abort());
	return { page, faults, close: () => context.close() };
}

// How many pixels the page is wider than the window.
export async function overflow(page) {
	return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
}

// What axe calls serious or critical. It is put in past the page's policy, which has no place for it.
export async function findings(page) {
	await page.evaluate(require("axe-core").source);
	const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));

	return violations.filter(({ impact }) => impact === "serious" || impact === "critical")
		.map(({ id, help, nodes }) => `${id}: ${help}: ${nodes.slice(0, 3).map(({ html, failureSummary }) => `${html.slice(0, 160)} (${failureSummary.split("\n").at(-1).trim()})`).join(" | ")}`);
}

export async function screenshot(page, name) {
	await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
}

export async function check(page, faults, name) {
	assert.deepEqual(await findings(page), [], `${name}: axe finds nothing serious`);
	assert.equal(await overflow(page), 0, `${name}: nothing is wider than the window`);
	assert.deepEqual(faults, [], `${name}: no error, no other host`);
}

// Presses Tab until an element is focused that the test accepts, as { name, role, id } of it; fails after @most times.
export async function tabTo(page, what, accepts, most = 400) {
	for (let i = 0; i < most; i++) {
		await page.keyboard.press("Tab");
		const focused = await page.evaluate(() => {
			const at = document.activeElement;

			return { name: (at.getAttribute("aria-label") || at.textContent || "").trim(), tag: at.tagName, id: at.id, href: at.getAttribute("href"), className: at.className };
		});

		if (accepts(focused))
			return;
	}
	assert.fail(`Tab does not reach ${what}`);
}
