// SPDX-License-Identifier: GPL-2.0-only
// The builds that an arm can name.

import { get, start } from "/api.js";
import { el, fill, link, sections, table } from "/dom.js";

const mono = text => text ? el("span", { class: "mono nowrap" }, text) : "–";

function row(build) {
	const proof = build.hypervisor_build_id;

	return [
		link(`/builds/${build.name}`, build.name),
		build.subject,
		el("td", { class: "nowrap" }, build.base || "–", build.release && build.release !== build.base ? el("small", {}, build.release) : null),
		el("td", { class: "nowrap" }, build.series?.length ? `${build.series.length} patch${build.series.length === 1 ? "" : "es"}` : "as it is"),
		proof ? el("td", {}, mono(proof), el("small", {}, "dom0 ", mono(build.build_id))) : mono(build.build_id),
	];
}

sections("list");
start(async () => {
	const { builds } = await get("/api/v1/builds");

	fill("list", el("h1", {}, "Builds"),
		el("p", { class: "quiet" }, "What an arm of an experiment can boot. A boot counts only when the build-id it shows is the one here."),
		builds.length ? table("All builds", "", ["Name", "Subject", "Base", "Series", "Build-id"], builds.map(row), true)
			: el("p", { class: "card" }, "No builds yet: ", el("code", {}, "make kernels"), " makes them."));
}, "list");
