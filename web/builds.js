// SPDX-License-Identifier: GPL-2.0-only
// The kernels that an arm can name.

import { get, start } from "/api.js";
import { definitions, el, fill } from "/dom.js";

function card(build) {
	return el("section", { class: "card", "aria-label": build.name },
		el("h3", {}, build.name),
		definitions([
			["Subject", build.subject],
			["Release", build.release],
			["Base", build.base],
			["Series", build.series?.length ? el("ol", {}, build.series.map(p => el("li", {}, p))) : null],
			["Series sha256", build.series_sha256 && el("span", { class: "mono" }, build.series_sha256)],
			["Config", build.config && el("span", { class: "mono" }, build.config)],
			["Config sha256", build.config_sha256 && el("span", { class: "mono" }, build.config_sha256)],
			["Build-id", el("span", { class: "mono" }, build.build_id)],
			["Hypervisor", build.hypervisor && el("span", { class: "mono" }, build.hypervisor)],
			["Its build-id", build.hypervisor_build_id && el("span", { class: "mono" }, build.hypervisor_build_id)],
			["Compiler", build.compiler],
			["Log", build.log && el("span", { class: "mono" }, build.log)],
		]));
}

start(async () => {
	const { builds } = await get("/api/v1/builds");

	fill("list", builds.length ? builds.map(card)
		: el("p", { class: "card" }, "No builds yet: ", el("code", {}, "make kernels"), " makes them."));
}, "list");
