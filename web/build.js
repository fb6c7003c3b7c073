// SPDX-License-Identifier: GPL-2.0-only
// One build: what it is made of, how it was made, which events it offers and what it was used for.

import { get, start } from "/api.js";
import { definitions, el, fill, link, sections } from "/dom.js";
import * as format from "/format.js";

const LOG_LINES = 200;
const name = location.pathname.split("/").pop();
const base = `/api/v1/builds/${name}`;
const mono = text => text && el("span", { class: "mono" }, text);

// A fold whose text is fetched when it is opened first. cut: what of the text is shown.
function fold(title, path, cut = text => [text]) {
	const body = el("div", {}, el("p", { class: "quiet" }, "Loading …"));
	const node = el("details", {}, el("summary", {}, title), body);

	node.addEventListener("toggle", async () => {
		const response = await fetch(path);
		const text = await response.text();

		body.replaceChildren(...response.ok ? cut(text).map(part => part instanceof Node ? part : el("pre", { class: "console", tabindex: "0" }, part))
			: [el("p", { class: "quiet" }, problem(text))]);
	}, { once: true });
	return node;
}

function problem(text) {
	try {
		return JSON.parse(text).detail;
	} catch {
		return "It cannot be read.";
	}
}

function tail(text) {
	const lines = text.replace(/\n$/, "").split("\n");
	const hidden = Math.max(0, lines.length - LOG_LINES);

	return [el("p", { class: "quiet" }, format.plural(lines.length, "line"), hidden ? `; the last ${LOG_LINES} are shown` : "", ". ",
		link(`${base}/log`, "As text")),
		lines.slice(hidden).join("\n")];
}

// Patches as git writes them begin with a line "From <commit> …"; others are shown in one.
function patches(text) {
	const parts = text.split(/^(?=From [0-9a-f]{40} )/m).filter(part => part.trim());

	return [el("p", { class: "quiet" }, link(`${base}/series`, "As text")),
		...parts.map((part, i) => {
			const subject = part.match(/^Subject: (?:\[PATCH[^\]]*\] )?(.*(?:\n[ \t].*)*)/m)?.[1].replace(/\s+/g, " ");

			return el("details", {}, el("summary", {}, subject || `Patch ${i + 1}`), el("pre", { class: "console", tabindex: "0" }, part));
		})];
}

function drawEvents({ events, source, why }) {
	const search = el("input", { type: "search", id: "event-search", autocomplete: "off", spellcheck: "false" });
	const list = el("div", {});
	const draw = () => {
		const found = events.filter(event => event.includes(search.value.trim()));

		list.replaceChildren(el("p", { class: "quiet", role: "status" }, `${format.count(found.length)} of ${format.plural(events.length, "event")}`),
			el("ul", { class: "offer mono", tabindex: "0", "aria-label": "Events" }, found.map(event => el("li", {}, event))));
	};

	search.addEventListener("input", draw);
	fill("events", el("h2", {}, "Events it offers"),
		source ? el("p", { class: "quiet" }, source) : null, why ? el("p", { class: "quiet" }, why) : null,
		events.length ? [el("div", { class: "field narrow" }, el("label", { for: search.id }, "Search"), search), list] : null);
	if (events.length)
		draw();
}

function drawUse(experiments) {
	fill("use", el("h2", {}, "Used by"),
		experiments.length ? el("ul", {}, experiments.map(used => typeof used === "object"
			? el("li", {}, link(`/experiments/${used.experiment ?? used.id}`, `${used.experiment ?? used.id}: ${used.name}`), used.arm ? ` as ${used.arm}` : "")
			: el("li", {}, link(`/experiments/${used}`, `experiment ${used}`)))) : el("p", { class: "quiet" }, "No experiment yet."));
}

sections("head", "made", "events", "use");
start(async () => {
	const build = await get(base);

	document.title = `${name} · labd`;
	fill("head",
		el("p", { class: "quiet" }, link("/builds", "← Builds")),
		el("h1", {}, name),
		definitions([
			["Subject", build.subject],
			["Base", build.base],
			["Release", build.release],
			["Build-id", mono(build.build_id)],
			["Hypervisor", mono(build.hypervisor)],
			["Its build-id", mono(build.hypervisor_build_id)],
			["Compiler", build.compiler],
			["Kernel", mono(build.kernel)],
			["Config sha256", mono(build.config_sha256)],
			["Series sha256", mono(build.series_sha256)],
		]));
	fill("made", el("h2", {}, "How it was made"),
		build.series?.length ? [el("h3", {}, "Series"), el("ol", {}, build.series.map(patch => el("li", { class: "mono" }, patch))),
			build.series_text ? fold("The patches' text", `${base}/series`, patches)
				: el("p", { class: "quiet" }, "Their text was not kept with this build; making it anew does.")] : el("p", {}, "The base as it is, without a patch."),
		build.config ? fold("Config", `${base}/config`, text => [el("p", { class: "quiet" }, link(`${base}/config`, "As text")), text]) : null,
		build.log ? fold("Log of the build", `${base}/log`, tail) : null);
	drawUse(build.used_by || []);
	drawEvents(await get(`${base}/events`));
}, "head");
