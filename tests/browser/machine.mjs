// SPDX-License-Identifier: GPL-2.0-only
// The shipped KVM experiment, made small in the form: one scenario, one round, few cycles; no comparison is tested.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { check, launch, open, screenshot, token, url } from "./browser.mjs";

const ENDS_MS = 900000;
let browser;

before(async () => {
	browser = await launch();
});
after(() => browser.close());

test("a real experiment by the form", async () => {
	const { page, faults, close } = await open(browser);
	const scenarios = page.getByRole("region", { name: "Scenarios" });
	const metrics = page.getByRole("region", { name: "Metrics" });

	await page.goto("/schedule", { waitUntil: "networkidle" });
	await page.getByLabel("Start from").selectOption({ label: "KVM: empty leaf page tables, a first look" });
	await page.getByRole("button", { name: "Fill in" }).click();
	for (const name of ["same4", "sweep1"]) {
		await scenarios.getByText(name).click();
		await scenarios.getByRole("button", { name: `Remove ${name}` }).click();
	}
	await scenarios.getByText("same16").click();
	const args = await scenarios.locator(".args li").evaluateAll(rows => rows.map(row => row.querySelector("input").value));
	await scenarios.getByLabel(`Value of argument ${args.indexOf("rounds") + 1}`).fill("20");
	await page.getByLabel("Rounds", { exact: true }).fill("1");
	await metrics.getByText("zap_total").click();
	await page.locator('[data-key="metrics[0].primary"]').uncheck();
	await page.getByRole("checkbox", { name: "same4" }).waitFor({ state: "detached" });

	await page.getByRole("button", { name: "Submit" }).click();
	await page.getByLabel("Token", { exact: true }).fill(token);
	await page.getByRole("button", { name: "Use it" }).click();
	await page.waitForURL("**/experiments/1/live", { timeout: 60000 });
	await page.locator("#console pre").filter({ hasText: /\S/ }).waitFor({ timeout: ENDS_MS });
	await check(page, faults, "live");
	await screenshot(page, "machine-live");
	await page.locator("#end").getByText("It is done.").waitFor({ timeout: ENDS_MS });
	await page.getByRole("link", { name: "See the result" }).click();
	await page.locator("button.cell").first().waitFor();
	await check(page, faults, "the experiment's page");
	await screenshot(page, "machine-experiment");
	await page.locator("button.cell").first().click();
	const waiting = page.waitForEvent("download");
	await page.getByRole("dialog").getByRole("link", { name: "capture" }).first().click();
	const bytes = readFileSync(await (await waiting).path());
	assert.equal(bytes.subarray(0, 10).toString("latin1"), "\x17\x08\x44tracing", "the capture is a trace.dat");

	// The kernel that booted has said which events it has.
	const { events } = await (await fetch(`${url}/api/v1/builds/kvm-base/events`)).json();
	assert.ok(events.length > 100, `${events.length} events are offered`);
	await page.goto("/schedule?from=1", { waitUntil: "networkidle" });
	await page.getByLabel("Search the builds' events").fill("kvmmmu:kvm_tdp");
	await page.getByRole("checkbox", { name: "kvmmmu:kvm_tdp_mmu_zap_leafs" }).uncheck();
	assert.equal(await page.getByRole("list", { name: "Chosen events" }).getByText("kvm_tdp_mmu_zap_leafs").count(), 0, "it is no longer chosen");
	await page.getByRole("checkbox", { name: "kvmmmu:kvm_tdp_mmu_zap_leafs" }).check();
	await check(page, faults, "the schedule with events");
	await screenshot(page, "machine-schedule");

	// The same again, base against base, by one button. Its page can be read while it runs.
	await page.goto("/machines/qemu", { waitUntil: "networkidle" });
	await page.locator("#floors").getByText("Not known yet").waitFor();
	await page.getByRole("button", { name: "Run an A/A" }).click();
	await page.waitForURL("**/experiments/2/live", { timeout: 60000 });
	await page.goto("/experiments/2");
	await page.locator("#head .badge").getByText("running").waitFor();
	await page.locator("#boots .boot.busy").waitFor();
	assert.equal(await page.locator("#boots .boot.marked").count(), 0, "a boot that runs is not marked as a bad one");
	await check(page, faults, "the page of an experiment that runs");
	await screenshot(page, "machine-running");
	await page.goto("/experiments/2/live");
	await page.locator("#end").getByText("It is done.").waitFor({ timeout: ENDS_MS });
	await page.goto("/machines/qemu", { waitUntil: "networkidle" });
	await page.locator("#floors").getByRole("rowheader", { name: /^same16/ }).first().waitFor();
	await check(page, faults, "the machine with a floor");
	await screenshot(page, "machine-floor");
	await close();
});
