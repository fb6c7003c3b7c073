// SPDX-License-Identifier: GPL-2.0-only
// With Tab, Enter, Space and letters only: experiment 1 is done and is copied.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { NARROW, WIDE, launch, open, tabTo, token } from "./browser.mjs";

let browser;

before(async () => {
	browser = await launch();
});
after(() => browser.close());

const named = name => ({ name: shown }) => shown === name;

for (const [i, [look, viewport]] of [["wide", WIDE], ["narrow", NARROW]].entries()) {
	test(`from a copy to a capture, ${look}`, async () => {
		const { page, faults, close } = await open(browser, { viewport });
		const press = key => page.keyboard.press(key);

		await page.goto("/", { waitUntil: "networkidle" });
		await tabTo(page, "the skip link", named("Skip to content"), 1);
		await tabTo(page, "the schedule", ({ href }) => href === "/schedule", 10);
		await press("Enter");
		await page.waitForURL("**/schedule");
		await page.getByRole("button", { name: "Submit" }).waitFor();

		// A copy of experiment 1, by the letters of its option, under another name and with a second scenario.
		await tabTo(page, "the list of what to start from", ({ id }) => id === "source-choice", 20);
		await page.keyboard.type("1: two");
		await tabTo(page, "Fill in", named("Fill in"), 2);
		await press("Enter");
		await page.getByRole("region", { name: "Scenarios" }).getByText("chunk_mib=16").waitFor();
		await tabTo(page, "the name", ({ id }) => id === "field-name", 10);
		await press("Control+A");
		await page.keyboard.type(`by keys, ${look}`);
		await tabTo(page, "the scenario", ({ id }) => id === "summary-scenarios[0]", 30);
		await press("Enter");
		await page.getByRole("button", { name: "Duplicate same16" }).waitFor();
		await tabTo(page, "Duplicate", ({ name }) => name === "Duplicate same16", 20);
		await press("Enter");
		assert.equal(await page.evaluate(() => document.activeElement.id), "field-scenarios[1].name");
		await tabTo(page, "Submit", named("Submit"), 80);
		await press("Enter");
		await page.getByRole("dialog").waitFor();
		assert.equal(await page.evaluate(() => document.activeElement.id), "token", "the token's field has the focus");
		await page.keyboard.type(token);
		await press("Enter");
		await page.waitForURL(`**/experiments/${i + 2}/live`);
		await page.getByRole("link", { name: "See the result" }).waitFor({ timeout: 120000 });
		await tabTo(page, "the result", named("See the result"), 20);
		await press("Enter");
		await page.waitForURL(`**/experiments/${i + 2}`);
		await page.locator("button.cell").first().waitFor();
		await tabTo(page, "a cell", ({ className }) => className.includes("cell"));
		await press("Enter");
		await page.getByRole("dialog").waitFor();
		await tabTo(page, "a capture", named("capture"), 20);
		const waiting = page.waitForEvent("download");
		await press("Enter");
		assert.equal(await (await waiting).failure(), null, "the capture came");
		await press("Escape");
		assert.equal(await page.getByRole("dialog").count(), 0, "Escape closes it");
		assert.match(await page.evaluate(() => document.activeElement.className), /cell/, "and the focus is where it was");
		assert.deepEqual(faults, []);
		await close();
	});
}

test("Tab finds what is there and nothing else", async () => {
	const { page, close } = await open(browser);

	await page.goto("/builds", { waitUntil: "networkidle" });
	await assert.rejects(tabTo(page, "what is not there", named("no such button"), 30), /Tab does not reach what is not there/);
	await close();
});
