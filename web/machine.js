// SPDX-License-Identifier: GPL-2.0-only
// One machine: what it is, how much two arms of one build differ on it, and how its boots ended.

import { get, start } from "/api.js";
import { bootCounts } from "/boot_counts.js";
import { badge, definitions, el, emulatedBanner, fill, link, num, sections, table } from "/dom.js";
import { button } from "/fields.js";
import * as format from "/format.js";
import { post } from "/token.js";

const LATEST = 100;
const name = location.pathname.split("/").pop();

function drawHead(machine) {
	document.title = `${name} · labd`;
	fill("head",
		el("p", { class: "quiet" }, link("/machines", "← Machines")),
		el("h1", {}, `Machine ${name}`),
		emulatedBanner(machine.emulated, machine.description?.deterministic),
		definitions([
			["Experiments", format.count(machine.experiments)],
			["Boots", bootCounts(machine.boots)],
			["Driver's version", String(machine.driver_version)],
			...format.flatten(machine.description).map(([key, value]) => [key.replaceAll("_", " "), el("span", { class: "mono" }, value)]),
		]));
}

function drawFloors({ floors }) {
	fill("floors",
		el("h2", {}, "Noise floor"),
		el("p", {}, "The largest difference that this machine has shown between two arms of one build. A change must be above it to be called improved or regressed."),
		floors.length ? table("A/A floors", "by environment, scenario and metric", ["Scenario", "Metric", { text: "Floor", class: "num" },
			{ text: "Pairs", class: "num" }, { text: "Experiments", class: "num" }, "Environment"],
			floors.map(floor => [
				el("th", { scope: "row" }, floor.scenario, el("small", { class: "mono" }, `${floor.workload} ${floor.args === "{}" ? "" : floor.args}`)),
				floor.metric,
				num(floor.floor === null ? null : `${(100 * floor.floor).toFixed(2)} %`),
				num(format.count(floor.n_pairs)),
				num(format.count(floor.n_experiments)),
				el("td", { class: "mono", title: floor.env_key }, (floor.env_key || "–").slice(0, 12)),
			]), true)
			: el("p", { class: "card" }, "Not known yet: no A/A experiment has been done on this machine."));
}

// An A/A experiment is made of one that was done: its base build, its scenarios and metrics.
function drawAa(experiments) {
	const problem = el("p", { class: "problem", role: "alert" });
	const choice = el("select", { id: "aa-of" }, experiments.map(({ id, name: title }) => el("option", { value: id }, `${id}: ${title}`)));
	const go = button("Run an A/A", async () => {
		if (go.ariaDisabled === "true")
			return;
		go.ariaDisabled = "true";
		problem.textContent = "";
		try {
			const { id } = await post(`/api/v1/experiments/${choice.value}/aa`, {});

			location.assign(`/experiments/${id}/live`);
		} catch (error) {
			problem.textContent = error.message;
		}
		go.ariaDisabled = "false";
	});

	fill("aa", experiments.length ? el("div", { class: "card" },
		el("p", {}, "Run the base of an experiment against itself, in the same scenarios:"),
		el("p", { class: "actions" }, el("label", { for: choice.id }, "Experiment"), choice, go), problem) : null);
}

function drawEnvironments({ environments }) {
	fill("environments", el("h2", {}, "Environments"),
		environments.length ? environments.map(({ key, experiments, last_seen: seen, environment }) =>
			el("details", {}, el("summary", {}, el("span", { class: "mono" }, (key || "–").slice(0, 12)),
				` · ${Array.isArray(experiments) ? `experiments ${experiments.join(", ")}` : format.plural(experiments, "experiment")} · last seen ${format.time(seen)}`),
			definitions([["Key", el("span", { class: "mono" }, key)], ...format.flatten(environment)])))
			: el("p", { class: "quiet" }, "No boot has told one yet."));
}

function drawBoots({ recent_boots: boots }) {
	fill("boots", el("h2", {}, "Boots"),
		boots.length ? table("The latest boots", `at most ${LATEST}, newest first`, [{ text: "Boot", class: "num" }, "State", "Experiment",
			{ text: "Round", class: "num" }, "Arm", "Started", { text: "Took", class: "num" }],
			boots.map(boot => [
				el("th", { scope: "row", class: "num" }, link(`/boots/${boot.boot}`, String(boot.boot))),
				el("td", {}, badge(boot.state), boot.detail ? el("small", {}, boot.detail) : null),
				link(`/experiments/${boot.experiment}`, String(boot.experiment)),
				num(String(boot.round)),
				boot.arm,
				el("td", { class: "nowrap" }, format.time(boot.started)),
				num(format.duration(boot.took_ms === null ? null : boot.took_ms / 1000)),
			]), true)
			: el("p", { class: "quiet" }, "None yet."));
}

sections("head", "floors", "aa", "environments", "boots");
start(async () => {
	const [machine, { experiments }] = await Promise.all([get(`/api/v1/machines/${name}`), get("/api/v1/experiments?limit=200")]);

	drawHead(machine);
	drawFloors(machine);
	drawAa(experiments.filter(other => other.machine === name && other.state === "done" && other.kind !== "aa"));
	drawEnvironments(machine);
	drawBoots(machine);
}, "head");
