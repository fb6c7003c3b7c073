// SPDX-License-Identifier: GPL-2.0-only
// What was compared, on what, and by which plan.

import { definitions, el, fill, table } from "/dom.js";
import * as format from "/format.js";

const mono = text => text && el("span", { class: "mono" }, text);

function builds(arms) {
	const proof = ({ build_id: kernel, hypervisor_build_id: xen }) => xen
		? el("td", { class: "mono" }, xen, el("small", {}, `dom0 ${kernel}`)) : mono(kernel);

	return table("Builds", "the kernel of each arm, or the hypervisor and the kernel of dom0",
		["Arm", "Build", "Base", "Series", "Build-id"],
		arms.map(({ name, build, manifest }) => [name, build,
			el("td", {}, manifest.base || "–", el("small", {}, manifest.release || "")),
			el("td", {}, manifest.series?.length ? manifest.series.map(patch => el("div", { class: "mono" }, patch)) : "–",
				manifest.series_sha256 ? el("small", { class: "mono", title: manifest.series_sha256 }, `sha256 ${manifest.series_sha256.slice(0, 16)}…`) : null),
			proof(manifest)]), true);
}

// In which all boots were, or what differs between them.
function environments(list) {
	const flat = list.map(({ environment }) => new Map(format.flatten(environment)));
	const differ = [...new Set(flat.flatMap(map => [...map.keys()]))].filter(name => new Set(flat.map(map => map.get(name))).size > 1);

	if (!list.length)
		return [];
	return [el("h2", {}, "Environment"),
		list.length === 1
			? el("p", {}, `All ${format.plural(list[0].boots, "boot")} had the same one, key `, mono(list[0].key), ".")
			: table("Environments", `${list.length} of them; only what differs`, ["", ...list.map(({ key }) => key.slice(0, 12))],
				[["Boots", ...list.map(({ boots }) => String(boots))], ...differ.map(name => [name, ...flat.map(map => map.get(name) ?? "–")])]),
		el("details", {}, el("summary", {}, "What must match between arms"), definitions([...flat[0]]))];
}

export function drawPlan(experiment, { measuring, environments: seen }) {
	const { spec, machine_description: machine } = experiment;
	const whose = machine?.deterministic ? " of the machine's time" : "";
	const seconds = ns => format.duration(ns / 1e9);

	fill("plan",
		el("h2", {}, "Builds"),
		builds(experiment.arms),
		environments(seen || []),
		el("h2", {}, "Plan and machine"),
		definitions([
			["Rounds", `${spec.rounds}, each boots every arm once; ${format.plural(spec.repeats ?? 1, "run")} of each scenario per boot`],
			["Order", `drawn from seed ${spec.seed ?? 0}`],
			["Plan sha256", mono(experiment.plan_sha256)],
			["Time", measuring.boot_ns ? `${seconds(measuring.measure_ns)}${whose} measuring, ${seconds(measuring.boot_ns)} booting, ` +
				`${seconds(measuring.ship_ns)} shipping captures, ${seconds(measuring.store_ns)} storing events` : null],
			["Machine", machine?.qemu_version || machine?.bochs_version || experiment.machine],
			["Clock", machine?.clock],
			["Command", machine?.argv && mono(machine.argv.join(" "))],
			["Image sha256", mono(machine?.image_sha256)],
		]),
		el("details", {}, el("summary", {}, "The spec as it was submitted"), el("pre", { tabindex: "0" }, JSON.stringify(spec, null, 2))));
}
