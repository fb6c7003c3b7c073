// SPDX-License-Identifier: GPL-2.0-only
// The form of the schedule page: its sections, each drawn anew where a change calls for it.

import { el } from "/dom.js";
import { button, input, problemPlace, select } from "/fields.js";
import { traceSection } from "/schedule_events.js";
import { metricsSection } from "/schedule_metrics.js";
import { scenariosSection } from "/schedule_scenarios.js";

const ARMS_MAX = 8;
const list = value => Array.isArray(value) ? value : [];

// machines: names. builds: as /builds lists them. Answers { node, draw() }.
export function makeForm(draft, machines, builds) {
	const subjects = [...new Set(builds.map(build => build.subject))].sort();

	function what() {
		return el("div", { class: "fields" },
			input(draft, "name", "Name"),
			select(draft, "machine", "Machine", machines),
			select(draft, "subject", "Subject", subjects, { after: () => draw(["arms", "trace", "settings"]) }),
			select(draft, "kind", "Kind", [{ value: draft.get("kind") === "ab" ? "ab" : "", text: "A/B: builds compared" },
				{ value: "aa", text: "A/A: one build, for the noise" }], { after: () => draw(["arms"]) }));
	}

	function armRow(arm, i, arms) {
		const path = `arms[${i}]`;
		const offered = builds.filter(build => build.subject === draft.get("subject")).map(build => build.name);

		return el("li", {}, problemPlace(path),
			input(draft, `${path}.name`, i ? `Arm ${i + 1}` : "Base", { after: (name, old) => {
				if (draft.get("primary.arm") === old && old !== undefined)
					draft.set("primary.arm", name);
				draw(["question"]);
			} }),
			select(draft, `${path}.build`, i ? `Build of arm ${i + 1}` : "Build of the base", offered, { after: () => draw(["trace"]) }),
			arms.length > 2 ? button("✕", () => {
				draft.set("arms", arms.filter(other => other !== arm));
				if (draft.get("primary.arm") === arm.name)
					draft.set("primary.arm", undefined);
				draw(["arms", "question", "trace"], "add-arm");
			}, { "aria-label": `Remove arm ${arm.name || i + 1}`, class: "small" }) : null);
	}

	function arms() {
		const all = list(draft.get("arms"));

		return [problemPlace("arms"),
			el("p", { class: "quiet" }, draft.get("kind") === "aa" ? "Two names for one build."
				: "The first is the base that the others are compared with."),
			el("ul", { class: "rows" }, all.map(armRow)),
			button("Add an arm", () => {
				draft.set("arms", [...all, {}]);
				draw(["arms", "question"], `field-arms[${all.length}].name`);
			}, { id: "add-arm", disabled: all.length >= ARMS_MAX })];
	}

	// Which scenarios are primary: all as long as none is named.
	function primaryScenarios() {
		const names = list(draft.get("scenarios")).map(scenario => scenario.name).filter(Boolean);
		const chosen = () => Array.isArray(draft.get("primary.scenarios")) ? draft.get("primary.scenarios") : names;

		return el("fieldset", { class: "inner" }, el("legend", {}, "In which scenarios"), problemPlace("primary.scenarios"),
			names.length ? el("div", { class: "choices" }, names.map(name => {
				const box = el("input", { type: "checkbox", checked: chosen().includes(name) });

				box.addEventListener("change", () => {
					const now = names.filter(other => other === name ? box.checked : chosen().includes(other));

					draft.set("primary.scenarios", now.length === names.length ? undefined : now);
				});
				return el("label", { class: "choice" }, box, " ", name);
			})) : el("p", { class: "quiet" }, "Name a scenario first."));
	}

	function question() {
		const names = list(draft.get("arms")).slice(1).map(arm => arm.name).filter(Boolean);
		const test = draft.get("test");

		return [
			el("p", { class: "quiet" }, "One comparison with the base is tested, in these scenarios and for each primary metric. All others are described, not judged."),
			problemPlace("primary"),
			el("div", { class: "fields" },
				select(draft, "primary.arm", "Arm that is tested", [{ value: "", text: `the second${names[0] ? `: ${names[0]}` : ""}` }, ...names]),
				input(draft, "alpha", "Alpha", { kind: "number", placeholder: "0.05", hint: "chance of a false verdict in the whole family" }),
				select(draft, "test", "Test", [{ value: test === "rank" ? test : "", text: "rank: exact permutation" },
					{ value: "paired", text: "paired: exact signs of the rounds" }]),
				input(draft, "margin", "Margin", { kind: "number", hint: "a change this small is none: 0.05 is 5 %" })),
			primaryScenarios()];
	}

	function settings() {
		return [
			el("div", { class: "fields" },
				input(draft, "rounds", "Rounds", { kind: "number", hint: "each boots every arm once" }),
				input(draft, "repeats", "Runs per boot", { kind: "number", placeholder: "1", hint: "of each scenario" }),
				input(draft, "seed", "Seed", { kind: "number", placeholder: "1", hint: "draws the order" }),
				input(draft, "boot_timeout_s", "Boot's time limit, seconds", { kind: "number", placeholder: "120" })),
			input(draft, "cmdline", "More of the kernel's command line", { hint: "the same in each arm" }),
			draft.get("subject") === "xen" || draft.get("xen_cmdline") !== undefined
				? input(draft, "xen_cmdline", "More of Xen's command line") : null];
	}

	const parts = {
		what: ["What", what],
		arms: ["Arms", arms],
		scenarios: ["Scenarios", () => scenariosSection(draft, id => draw(["scenarios", "question"], id), () => draw(["question"]))],
		settings: ["Repetition", settings],
		trace: ["Trace", () => traceSection(draft, builds.map(build => build.name))],
		metrics: ["Metrics", () => metricsSection(draft, id => draw(["metrics"], id))],
		question: ["What is tested", question],
	};
	const bodies = Object.fromEntries(Object.keys(parts).map(name => [name, el("div", {})]));

	function draw(names, focus = null) {
		// What is drawn anew must not take the focus away.
		const kept = focus || document.activeElement?.id;

		for (const name of names)
			bodies[name].replaceChildren(...[parts[name][1]()].flat(Infinity).filter(Boolean));
		if (kept)
			document.getElementById(kept)?.focus();
	}

	return {
		node: Object.entries(parts).map(([name, [title]]) => el("section", { class: "card", "aria-labelledby": `part-${name}` },
			el("h2", { id: `part-${name}` }, title), bodies[name])),
		draw: () => draw(Object.keys(parts)),
	};
}
