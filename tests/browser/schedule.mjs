// SPDX-License-Identifier: GPL-2.0-only
// From a blank form to the capture behind a cell.

import assert from "node:assert/strict";
import { statSync } from "node:fs";
import http from "node:http";
import { after, before, test } from "node:test";
import { NARROW, WIDE, check, launch, open, screenshot, token, url } from "./browser.mjs";

let browser, proxy, base;
const sockets = new Set();
const expected = /4(?:01|22)|ERR_|Failed to load resource/;

// Stands between browser and labd, so that a connection can be lost.
before(async () => {
	browser = await launch();
	proxy = http.createServer((from, to) => {
		const ask = http.request(url + from.url, { method: from.method, headers: { ...from.headers, host: new URL(url).host } }, answer => {
			to.writeHead(answer.statusCode, answer.headers);
			answer.pipe(to);
		});

		ask.on("error", () => to.destroy());
		to.on("close", () => ask.destroy());
		from.pipe(ask);
	});
	proxy.on("connection", socket => {
		sockets.add(socket);
		socket.on("close", () => sockets.delete(socket));
	});
	await new Promise(ready => proxy.listen(0, "127.0.0.1", ready));
	base = `http://127.0.0.1:${proxy.address().port}`;
});
after(async () => {
	await browser.close();
	proxy.close();
	sockets.forEach(socket => socket.destroy());
});

const experiments = async () => (await (await fetch(`${url}/api/v1/experiments`)).json()).experiments;

async function giveToken(page, text) {
	await page.getByLabel("Token", { exact: true }).fill(text);
	await page.getByRole("button", { name: "Use it" }).click();
}

// The same on a telephone.
async function checkNarrow(page, faults, name) {
	await page.setViewportSize(NARROW);
	await check(page, faults, `${name}, narrow`);
	await page.setViewportSize(WIDE);
}

async function fillForm(page) {
	await page.getByLabel("Name", { exact: true }).first().fill("by the form");
	await page.getByLabel("Machine").selectOption("qemu");
	await page.getByLabel("Subject").selectOption("kvm");
	await page.getByLabel("Build of the base").selectOption("kvm-base");
	await page.getByLabel("Arm 2", { exact: true }).fill("hint");
	await page.getByLabel("Build of arm 2").selectOption("kvm-hint");

	const scenarios = page.getByRole("region", { name: "Scenarios" });
	await scenarios.getByText("unnamed").click();
	await scenarios.getByLabel("Name", { exact: true }).fill("same16");
	await scenarios.getByLabel("Workload").fill("kvm-churn");
	for (const [i, [name, value]] of [["chunk_mib", "16"], ["mode", "same"], ["writeback", "true"], ["gone", "1"]].entries()) {
		await scenarios.getByRole("button", { name: "Add an argument" }).click();
		await scenarios.getByLabel(`Name of argument ${i + 1}`).fill(name);
		await scenarios.getByLabel(`Value of argument ${i + 1}`).fill(value);
	}
	await scenarios.getByRole("button", { name: "Remove argument gone" }).click();
	await scenarios.getByRole("button", { name: "Duplicate same16" }).click();
	assert.equal(await page.evaluate(() => document.activeElement.id), "field-scenarios[1].name", "the copy's name has the focus");
	await scenarios.getByRole("button", { name: "Remove same16-2" }).click();

	await page.getByLabel("Or type one").fill("sched:sched_switch");
	await page.getByLabel("Or type one").press("Enter");
	await page.getByLabel("Ring buffer per CPU, KiB").fill("1024");

	const metrics = page.getByRole("region", { name: "Metrics" });
	await metrics.getByText("unnamed").click();
	await metrics.getByLabel("Name", { exact: true }).fill("switches");
	await metrics.getByLabel("Unit").fill("1");
	await metrics.getByLabel("Event", { exact: true }).fill("sched:sched_switch");
	await metrics.getByLabel("Aggregate").selectOption("count");
	assert.equal(await metrics.getByLabel("Field", { exact: true }).count(), 0, "a count takes no field");
	await metrics.getByLabel("Better is").selectOption("lower");
	await metrics.getByLabel("Primary: it gets a verdict").check();
	await metrics.getByLabel("Comes from").selectOption("workload");
	assert.equal(await metrics.getByLabel("Event", { exact: true }).count(), 0, "a workload's key has no event");
	await metrics.getByLabel("Comes from").selectOption("event");
	assert.equal(await metrics.getByLabel("Event", { exact: true }).inputValue(), "sched:sched_switch", "what was typed is back");
}

test("a form becomes an experiment, and a cell leads to its capture", async t => {
	const { page, faults, close } = await open(browser, { base, expected });
	const button = name => page.getByRole("button", { name, exact: true });

	await page.goto("/schedule", { waitUntil: "networkidle" });
	await fillForm(page);

	await t.test("the JSON view is the same, and its mistakes are named", async () => {
		await button("JSON").click();
		const json = page.getByLabel("The spec as JSON");
		const spec = JSON.parse(await json.inputValue());

		assert.deepEqual(spec.scenarios, [{ name: "same16", workload: "kvm-churn", args: { chunk_mib: 16, mode: "same", writeback: true } }]);
		assert.deepEqual(spec.metrics, [{ name: "switches", unit: "1", event: "sched:sched_switch", agg: "count", better: "lower", primary: true }]);
		assert.deepEqual(spec.arms, [{ name: "base", build: "kvm-base" }, { name: "hint", build: "kvm-hint" }]);
		assert.deepEqual(spec.trace, { events: ["sched:sched_switch"], buffer_kib_per_cpu: 1024 });
		spec.rounds = 2;
		const text = JSON.stringify(spec, null, 2);
		await json.fill(text.replace('"rounds": 2,', '"rounds": 2'));
		const line = text.split("\n").findIndex(part => part.includes('"rounds"')) + 2;
		assert.match(await page.locator("#json-problem").textContent(), new RegExp(`^Line ${line}, column 3: a "," or "}" has to be here`));
		await button("Form").click();
		assert.match(await page.getByRole("alert").textContent(), /cannot show this JSON\. Line/);
		assert.match(await json.inputValue(), /"rounds": 2\n/, "nothing is lost");
		await json.fill(text.replace('"kvm-churn"', '"Kvm Churn"'));
		await button("Show the plan").click();
		await giveToken(page, "not the token");
		await page.getByText("That was not it.").waitFor();
		await giveToken(page, token);
		await page.locator("#json-problem", { hasText: /^Line \d+, scenarios\[0\]\.workload: / }).waitFor();
		await json.fill(text);
		await button("Form").click();
	});

	await t.test("what labd refuses is said beside the field", async () => {
		assert.equal(await page.getByLabel("Rounds", { exact: true }).inputValue(), "2");
		await button("Show the plan").click();
		await page.locator("#problem-rounds:visible").waitFor();
		assert.equal(await page.getByLabel("Rounds", { exact: true }).getAttribute("aria-invalid"), "true");
		assert.equal(await page.evaluate(() => document.activeElement.id), "field-rounds", "the field has the focus");
		await check(page, faults, "a refusal");
		await screenshot(page, "schedule-refused-wide");
		await page.getByLabel("Rounds", { exact: true }).fill("5");
	});

	await t.test("the plan", async () => {
		await button("Show the plan").click();
		await page.getByRole("heading", { name: "The plan" }).waitFor();
		const plan = await page.locator("#plan").textContent();
		assert.match(plan, /1 scenario × 1 primary metric = 1 comparison of hint with the base/);
		assert.match(plan, /0\.0079/);
		assert.equal(await page.locator("#plan .strip > li").count(), 5, "five rounds");
		assert.deepEqual(await experiments(), [], "nothing is stored");
	});

	await t.test("two presses make one experiment, and it is watched", async () => {
		await button("Submit").dblclick();
		await page.waitForURL("**/experiments/1/live");
		assert.equal((await experiments()).length, 1);
		await page.getByRole("progressbar", { name: "Runs done" }).waitFor();
		await page.locator("#console pre").filter({ hasText: "Linux version" }).waitFor();
		await check(page, faults, "live");
		await checkNarrow(page, faults, "live");
		await screenshot(page, "live-running-wide");
		await button("Cancel the experiment").click();
		await button("Go on").click();
		assert.equal(await button("Cancel the experiment").count(), 1);

		sockets.forEach(socket => socket.destroy());
		await page.getByText("trying again").waitFor();
		await page.getByText("trying again").waitFor({ state: "detached" });
		await page.locator("#end").getByText("It is done.").waitFor({ timeout: 120000 });
		assert.match(page.url(), /live$/, "nobody is sent away");
		assert.equal(await page.locator("#boots .badge.good").count(), 10, "all boots are there");
	});

	await t.test("from a cell to its capture", async () => {
		await page.getByRole("link", { name: "See the result" }).click();
		await page.waitForURL("**/experiments/1");
		await page.locator("button.cell").first().click();
		await page.getByRole("dialog").waitFor();
		await check(page, faults, "the dialog of a cell");
		await checkNarrow(page, faults, "the dialog of a cell");
		await screenshot(page, "experiment-cell-wide");
		const waiting = page.waitForEvent("download");
		await page.getByRole("dialog").getByRole("link", { name: "capture" }).first().click();
		const download = await waiting;
		assert.ok(statSync(await download.path()).size > 1000, "the capture came");
		await page.getByRole("dialog").getByRole("link", { name: /^boot/ }).first().click();
		await page.getByText("Linux version").waitFor();
	});
	assert.deepEqual(faults, []);
	await close();
});

test("a copy is cancelled", async () => {
	const { page, faults, close } = await open(browser, { base, expected });

	await page.goto("/schedule", { waitUntil: "networkidle" });
	await page.getByLabel("Start from").selectOption("1");
	await page.getByRole("button", { name: "Fill in" }).click();
	await page.getByRole("region", { name: "Scenarios" }).getByText("chunk_mib=16").waitFor();
	await page.getByRole("button", { name: "Submit" }).click();
	await giveToken(page, token);
	await page.waitForURL("**/experiments/2/live");
	await page.getByRole("button", { name: "Cancel the experiment" }).click();
	await page.getByRole("button", { name: "Yes, cancel it" }).click();
	await page.locator("#end").getByText("It was cancelled.").waitFor();
	assert.equal(await page.getByRole("button", { name: "Cancel the experiment" }).count(), 0);
	assert.deepEqual(faults, []);
	await close();
});

test("what is shipped fills the form", async () => {
	const { page, faults, close } = await open(browser, { base });

	await page.goto("/schedule", { waitUntil: "networkidle" });
	for (const [label, scenario] of [[/^KVM/, "sweep1"], [/^Xen/, "grant128"]]) {
		await page.getByLabel("Start from").selectOption(await page.getByRole("option", { name: label }).getAttribute("value"));
		await page.getByRole("button", { name: "Fill in" }).click();
		await page.getByRole("region", { name: "Scenarios" }).getByText(scenario).waitFor();
		await check(page, faults, "a shipped experiment");
	}
	await close();
});

test("a scenario can be primary as soon as it has a name", async () => {
	const { page, faults, close } = await open(browser, { base });
	const scenarios = page.getByRole("region", { name: "Scenarios" });
	const offered = () => page.getByRole("group", { name: "In which scenarios" }).locator("label").allTextContents();

	await page.goto("/schedule", { waitUntil: "networkidle" });
	assert.deepEqual(await offered(), []);
	await scenarios.getByText("unnamed").click();
	await scenarios.getByLabel("Name", { exact: true }).fill("late");
	assert.deepEqual(await offered(), [" late"]);
	await scenarios.getByLabel("Name", { exact: true }).pressSequentially("r");
	assert.deepEqual(await offered(), [" later"]);
	assert.equal(await page.evaluate(() => document.activeElement.id), "field-scenarios[0].name", "the name keeps the focus");
	assert.deepEqual(faults, []);
	await close();
});
