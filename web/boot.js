// SPDX-License-Identifier: GPL-2.0-only
// One boot: how it ended, its runs, its environment, its console.

import { get, pageId, start } from "/api.js";
import { badge, definitions, el, emulatedBanner, fill, link, num, sections, table } from "/dom.js";
import * as format from "/format.js";

const TAIL_LINES = 3000;
const id = pageId();

function drawHead(boot) {
	document.title = `Boot ${id} · ${boot.name} · labd`;
	fill("head",
		el("p", { class: "quiet" }, link(`/experiments/${boot.experiment}`, `← ${boot.name}`)),
		el("h1", {}, `Boot ${id}: ${boot.arm}, round ${boot.round}`),
		el("p", { class: "meta" }, badge(boot.state),
			boot.attempt > 1 && el("span", {}, `try ${boot.attempt}`),
			el("span", {}, `started ${format.time(boot.started)}`),
			boot.boot_ms !== null && el("span", {}, `on the lab's clock: ready after ${format.duration(boot.boot_ms / 1000)}`),
			boot.took_ms !== null && el("span", {}, `took ${format.duration(boot.took_ms / 1000)}`)),
		emulatedBanner(boot.emulated, boot.deterministic),
		boot.detail ? el("p", { class: "card" }, boot.detail) : null,
		boot.console_lines && !["ok", "running"].includes(boot.state) ? el("pre", { tabindex: "0" }, boot.console_lines) : null);
}

function download(run, what, bytes) {
	return bytes ? el("a", { href: `/api/v1/runs/${run}/${what}`, download: true }, format.bytes(bytes)) : null;
}

function drawRuns({ runs, clock }) {
	if (!runs.length) {
		fill("runs", el("p", { class: "quiet" }, "No run started in this boot."));
		return;
	}
	fill("runs", table("Runs", ["a capture opens in trace-cmd and KernelShark, Xen's in xenalyze", clock && `clock of what is measured: ${clock}`]
		.filter(Boolean).join(" · "),
		[{ text: "Run", class: "num" }, "Scenario", "State", { text: "Measured", class: "num" }, { text: "Events", class: "num" },
			{ text: "Lost", class: "num" }, "Complete", "Capture"],
		runs.map(run => [
			el("th", { scope: "row", class: "num" }, link(`/api/v1/runs/${run.run}`, String(run.run))),
			run.scenario,
			el("td", {}, badge(run.state), run.reason ? el("small", {}, run.reason) : null),
			num(format.duration(run.measure_ns === null ? null : run.measure_ns / 1e9)),
			num(format.count(run.events)),
			num(format.count(run.lost)),
			run.complete === null ? "–" : run.complete ? "yes" : "no",
			el("td", {}, download(run.run, "capture", run.bytes) || "–",
				run.xen_bytes ? el("small", {}, "Xen ", download(run.run, "xentrace", run.xen_bytes)) : null),
		])));
}

function drawEnvironment(boot) {
	const mono = text => text && el("span", { class: "mono" }, text);

	fill("environment",
		el("h2", {}, "Kernel and environment"),
		definitions([["Kernel", boot.kernel], ["Build-id", mono(boot.build_id)],
			...(boot.hypervisor ? [["Hypervisor", boot.hypervisor], ["Its build-id", mono(boot.hypervisor_build_id)]] : []), ["Boot id", mono(boot.boot_id)],
			["Command line", mono(boot.cmdline)], ["Environment key", mono(boot.environment_key)]]),
		boot.environment ? el("h3", {}, "Must match between arms") : null,
		boot.environment ? definitions(format.flatten(boot.environment)) : null,
		boot.observed ? el("h3", {}, "Recorded, not matched") : null,
		boot.observed ? definitions(format.flatten(boot.observed)) : null);
}

// Empty for all of it, else what the API's ?source= takes.
let source = "";
let hasXen = false;

function sourceChoice() {
	return el("span", { role: "group", "aria-label": "Lines of" }, [["", "All"], ["kernel", "Kernel"], ["xen", "Xen"]].map(([value, text]) => {
		const button = el("button", { type: "button", "aria-pressed": String(source === value) }, text);

		button.addEventListener("click", () => {
			source = value;
			drawConsole();
		});
		return button;
	}));
}

async function drawConsole() {
	const address = `/api/v1/boots/${id}/console${source ? `?source=${source}` : ""}`;
	const response = await fetch(address);

	if (!response.ok)
		return;
	const text = await response.text();
	const lines = text.replace(/\n$/, "").split("\n");
	const hidden = Math.max(0, lines.length - TAIL_LINES);

	hasXen ||= text.includes("] (XEN) ");
	fill("console",
		el("h2", {}, "Console"),
		el("p", { class: "quiet" }, hasXen ? [sourceChoice(), " "] : null,
			`${format.count(lines.length)} lines, each with the host's seconds since power-on${hidden ? `; the last ${TAIL_LINES} are shown` : ""}. `,
			link(address, "As text")),
		el("pre", { class: "console", tabindex: "0", "aria-label": "Console text" }, lines.slice(hidden).join("\n")));
}

sections("head", "runs", "console", "environment");
start(async () => {
	const boot = await get(`/api/v1/boots/${id}`);

	drawHead(boot);
	drawRuns(boot);
	drawEnvironment(boot);
	await drawConsole();
}, "head");
