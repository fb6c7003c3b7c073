// SPDX-License-Identifier: GPL-2.0-only
// What did not count is said with its reason: in round 3 of the scenario lossy, hint lost 4 events.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { check, launch, open, screenshot } from "./browser.mjs";

let browser;

before(async () => {
	browser = await launch();
});
after(() => browser.close());

test("a void pair, a bad boot and a loss", async () => {
	// No events were stored, of which there could be a distribution.
	const { page, faults, close } = await open(browser, { expected: /404/ });
	const trouble = page.locator("#trouble");
	const row = name => trouble.getByRole("table", { name }).locator("tbody tr").evaluateAll(rows => rows.map(({ cells }) => [...cells].map(({ textContent }) => textContent)));

	await page.goto("/experiments/1", { waitUntil: "networkidle" });
	await trouble.getByText("Kernel panic - not syncing").waitFor();
	assert.equal(await trouble.locator(".card .badge").textContent(), "panic");
	assert.match(await trouble.locator(".card").textContent(), /round 1, base, boot 1.*the kernel panicked/);
	assert.deepEqual(await row(/^Void pairs/), [["3", "lossy", "base", "hint lost 4 events"], ["3", "lossy", "hint", "hint lost 4 events"]]);
	assert.deepEqual(await row(/^Events lost/), [["10052", "3", "hint", "lossy", "1", "4", "ring overrun"]]);

	const values = page.locator("#values table");
	assert.equal(await values.locator(".void").count(), 2, "both values of the void pair, and no other");
	for (const value of await values.locator(".void a").all())
		assert.match(await value.evaluate(node => getComputedStyle(node).textDecorationLine), /line-through/);
	await page.locator("button.cell", { hasText: "9.50" }).first().click();
	assert.equal(await page.getByRole("dialog").locator(".void").count(), 1, "and so in the cell behind it");
	await check(page, faults, "trouble");
	await screenshot(page, "experiment-trouble");
	await close();
});
