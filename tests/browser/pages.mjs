// SPDX-License-Identifier: GPL-2.0-only
// Every page: experiments 1 and 2 are done.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { NARROW, WIDE, check, findings, launch, open, overflow, screenshot } from "./browser.mjs";

const PAGES = {
	list: "/", schedule: "/schedule?from=1", experiment: "/experiments/1", live: "/experiments/1/live", compare: "/compare?a=1&b=2", boot: "/boots/1",
	builds: "/builds", build: "/builds/kvm-hint", machines: "/machines", machine: "/machines/qemu", sql: "/sql",
};
const LOOKS = [["wide", { viewport: WIDE }], ["narrow", { viewport: NARROW }], ["dark", { viewport: WIDE, dark: true }], ["narrow-dark", { viewport: NARROW, dark: true }]];

let browser;

before(async () => {
	browser = await launch();
});
after(() => browser.close());

// All that can be unfolded is unfolded: what is hidden cannot be judged.
async function unfold(page) {
	await page.evaluate(() => document.querySelectorAll("details").forEach(fold => {
		fold.open = true;
	}));
	await page.waitForLoadState("networkidle");
}

for (const [look, options] of LOOKS) {
	for (const [name, path] of Object.entries(PAGES)) {
		test(`${path}, ${look}`, async () => {
			const { page, faults, close } = await open(browser, options);

			await page.goto(path, { waitUntil: "networkidle" });
			assert.equal(await page.locator("h1").count(), 1, "there is one first heading");
			assert.equal(await page.locator(".error").count(), 0, "nothing failed");
			await check(page, faults, name);
			await screenshot(page, `${name}-${look}`);
			await unfold(page);
			await check(page, faults, `${name}, unfolded`);
			if (name === "schedule" || name === "build")
				await screenshot(page, `${name}-unfolded-${look}`);
			await close();
		});
	}
}

test("the JSON view, the token's form and a plan", async () => {
	for (const [look, options] of LOOKS) {
		const { page, faults, close } = await open(browser, options);

		await page.goto("/schedule?from=1", { waitUntil: "networkidle" });
		await page.getByRole("button", { name: "JSON", exact: true }).click();
		await check(page, faults, `JSON, ${look}`);
		await screenshot(page, `schedule-json-${look}`);
		await page.getByRole("button", { name: "Show the plan" }).click();
		await page.getByRole("dialog").waitFor();
		await check(page, faults, `token, ${look}`);
		await screenshot(page, `token-${look}`);
		await page.getByLabel("Token", { exact: true }).fill(process.env.LABD_TOKEN.trim());
		await page.getByRole("button", { name: "Use it" }).click();
		await page.getByRole("heading", { name: "The plan" }).waitFor();
		await check(page, faults, `plan, ${look}`);
		await screenshot(page, `schedule-plan-${look}`);
		await close();
	}
});

test("SQL: an example, its answer, and a mistake", async () => {
	for (const [look, options] of LOOKS) {
		const { page, faults, close } = await open(browser, { ...options, expected: /422/ });

		await page.goto("/sql", { waitUntil: "networkidle" });
		await page.getByLabel("Example").selectOption({ label: "In which order, and on which kernel" });
		await page.getByLabel("Experiment").selectOption("1");
		await page.getByLabel("Query").press("Control+Enter");
		await page.getByRole("table", { name: /^Answer/ }).waitFor();
		assert.equal(await page.getByRole("row").count(), 11, "a head and ten boots");
		await check(page, faults, `SQL, ${look}`);
		await screenshot(page, `sql-answer-${look}`);
		const waiting = page.waitForEvent("download");
		await page.getByRole("link", { name: "Download as CSV" }).click();
		assert.match((await waiting).suggestedFilename(), /\.csv$/);
		await page.getByLabel("Query").fill("SELECT nonsense FROM v_boot");
		await page.getByRole("button", { name: "Run" }).click();
		await page.getByRole("alert").waitFor();
		assert.match(await page.getByRole("alert").textContent(), /no such column: nonsense/);
		await check(page, faults, `SQL's mistake, ${look}`);
		await close();
	}
});

// What must be found, so that the tests above mean something.
test("the checks find what is wrong", async () => {
	const { page, faults, close } = await open(browser);

	await page.goto("/builds", { waitUntil: "networkidle" });
	await page.evaluate(() => {
		const pale = document.createElement("p");

		pale.textContent = "hardly to be read";
		pale.style.color = "#ddd";
		document.querySelector("main").append(pale);
	});
	assert.match((await findings(page)).join(), /color-contrast/, "pale text");
	await page.evaluate(() => {
		document.querySelector("main").style.width = "2000px";
		document.querySelector("main").style.maxWidth = "none";
	});
	assert.ok(await overflow(page) > 0, "a page that is too wide");
	assert.deepEqual(faults, []);
	await page.evaluate(() => console.error("something is wrong"));
	await page.evaluate(() => fetch("http://127.0.0.2:1/").catch(() => {}));
	await page.evaluate(() => setTimeout(() => {
		throw new Error("nobody catches this");
	}));
	await page.waitForTimeout(200);
	assert.match(faults.join("\n"), /console: something is wrong/);
	assert.match(faults.join("\n"), /nobody catches this/);
	await page.goto("http://127.0.0.2:1/").catch(() => {});
	assert.match(faults.join("\n"), /request to http:\/\/127\.0\.0\.2:1\//);
	await close();
});
