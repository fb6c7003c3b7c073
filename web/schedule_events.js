// SPDX-License-Identifier: GPL-2.0-only
// Which events are traced: chosen from those that the arms' builds offer, or typed.

import { get } from "/api.js";
import { el } from "/dom.js";
import { button, input, problemPlace, select } from "/fields.js";

const SHOWN_MAX = 100;
const CLOCKS = ["mono", "mono_raw", "boot", "local", "global", "x86-tsc"];
const offers = new Map(); // build → promise of { events, why }
let search = "";

function offerOf(build) {
	if (!offers.has(build))
		offers.set(build, get(`/api/v1/builds/${encodeURIComponent(build)}/events`).catch(error => ({ events: [], why: error.message })));
	return offers.get(build);
}

// Event → the builds of the arms that have it, and why others have none.
async function offered(builds) {
	const all = new Map();
	const whys = new Map();

	for (const build of builds) {
		const { events, why } = await offerOf(build);

		for (const event of events)
			all.set(event, [...(all.get(event) || []), build]);
		if (why)
			whys.set(why, [...(whys.get(why) || []), build]);
	}
	return { all, whys: [...whys].map(([why, of]) => `${of.join(", ")}: ${why}`) };
}

const chosenOf = draft => Array.isArray(draft.get("trace.events")) ? draft.get("trace.events") : [];

function choose(draft, event, on) {
	const others = chosenOf(draft).filter(name => name !== event);
	const now = on ? [...others, event] : others;

	draft.set("trace.events", now.length ? now : undefined);
}

function drawChosen(draft, node, list, again) {
	const chosen = chosenOf(draft);

	node.replaceChildren(
		...(chosen.length ? [el("ul", { class: "chosen", "aria-label": "Chosen events" }, chosen.map((event, i) =>
			el("li", {}, el("span", { class: "mono" }, event), button("✕", () => {
				choose(draft, event, false);
				again();
				document.getElementById("event-search").focus();
			}, { "aria-label": `Remove ${event}`, class: "small" }), problemPlace(`trace.events[${i}]`))))]
			: [el("p", { class: "quiet" }, "None chosen: only workloads' own figures can be metrics.")]));
	list.replaceChildren(...chosen.map(event => el("option", { value: event })));
}

function drawOffer(draft, node, { all, whys }, again) {
	const chosen = chosenOf(draft);
	const wanted = search.trim().toLowerCase();
	const listed = [...new Set([...all.values()].flat())];
	const found = [...all.keys()].filter(event => event.toLowerCase().includes(wanted)).sort();
	const row = event => {
		const lacking = listed.filter(build => !all.get(event).includes(build));
		const box = el("input", { type: "checkbox", checked: chosen.includes(event) });

		box.addEventListener("change", () => {
			choose(draft, event, box.checked);
			again(false);
		});
		return el("li", {}, el("label", {}, box, " ", el("span", { class: "mono" }, event),
			lacking.length ? el("small", {}, ` not in ${lacking.join(", ")}`) : null));
	};

	node.replaceChildren(...[
		...whys.map(why => el("p", { class: "quiet" }, why)),
		all.size ? el("p", { class: "quiet", role: "status" }, `${found.length} of ${all.size} events` +
			(found.length > SHOWN_MAX ? `; the first ${SHOWN_MAX} are shown` : "")) : null,
		found.length ? el("ul", { class: "offer", tabindex: "0", "aria-label": "Events that the builds offer" }, found.slice(0, SHOWN_MAX).map(row)) : null,
	].filter(Boolean));
}

function picker(draft, known) {
	const builds = [...new Set((draft.get("arms") || []).map(arm => arm.build).filter(Boolean))];
	const chosenNode = el("div", {});
	const offerNode = el("div", {});
	const list = el("datalist", { id: "chosen-events" });
	const find = el("input", { type: "search", id: "event-search", autocomplete: "off", spellcheck: "false" });
	const own = el("input", { type: "text", id: "event-own", placeholder: "system:event", autocomplete: "off", spellcheck: "false" });
	let offer = { all: new Map(), whys: [] };
	const again = (whole = true) => {
		drawChosen(draft, chosenNode, list, again);
		if (whole)
			drawOffer(draft, offerNode, offer, again);
	};
	const addOwn = () => {
		if (own.value.trim())
			choose(draft, own.value.trim(), true);
		own.value = "";
		own.focus();
		again();
	};

	find.value = search;
	find.addEventListener("input", () => {
		search = find.value;
		again();
	});
	own.addEventListener("keydown", event => {
		if (event.key === "Enter") {
			event.preventDefault();
			addOwn();
		}
	});
	offered(builds.filter(build => known.includes(build))).then(answer => {
		offer = answer;
		if (!builds.some(build => known.includes(build)))
			offer.whys = ["Choose the arms' builds to see the events that they offer."];
		again();
	});
	again();
	return [problemPlace("trace.events"), chosenNode, list,
		el("div", { class: "fields" },
			el("div", { class: "field" }, el("label", { for: find.id }, "Search the builds' events"), find),
			el("div", { class: "field" }, el("label", { for: own.id }, "Or type one"),
				el("span", { class: "joint" }, own, button("Add", addOwn, { "aria-label": "Add the typed event" })))),
		offerNode];
}

// known: names of the builds that are there.
export function traceSection(draft, known) {
	return [problemPlace("trace"), picker(draft, known),
		el("div", { class: "fields" },
			input(draft, "trace.buffer_kib_per_cpu", "Ring buffer per CPU, KiB", { kind: "number", placeholder: "16384" }),
			select(draft, "trace.clock", "Clock", CLOCKS.map(name => name === "mono"
				? { value: draft.get("trace.clock") === "mono" ? "mono" : "", text: "mono" } : name)),
			input(draft, "max_lost", "Events a run may lose", { kind: "number", placeholder: "0" }),
			draft.get("subject") === "xen" || draft.get("trace.xen_mask") !== undefined
				? input(draft, "trace.xen_mask", "More classes of Xen's records", { placeholder: "0x0002f000" }) : null),
		input(draft, "trace.kprobes", "Kprobes", { kind: "lines", hint: "one a line, in tracefs syntax: p:labd/zap tdp_mmu_zap_leafs" })];
}
