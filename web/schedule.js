// SPDX-License-Identifier: GPL-2.0-only
// A spec by form or as JSON, the plan that it becomes, and its submission.

import { get, start } from "/api.js";
import { el, fill, sections } from "/dom.js";
import { Draft, button, clearProblems, showProblem } from "/fields.js";
import { makeForm } from "/schedule_form.js";
import { makeJson, readSpec } from "/schedule_json.js";
import { planNodes } from "/schedule_plan.js";
import { post } from "/token.js";

// Shipped experiments that are built into labd.
const STARTERS = [["/starter-kvm.json", "KVM: empty leaf page tables, a first look"], ["/starter-xen.json", "Xen: one flush per batch of grant unmaps"]];
const COPIES = 50;

let machines, builds, form, json;
let byForm = true;
let submission = null; // Idempotency-Key of the spec as it is now

const draft = new Draft(() => changed());

function changed() {
	submission = null;
	if (document.getElementById("plan").firstChild)
		fill("plan", el("p", { class: "quiet" }, "The spec was changed; show the plan again."));
}

function blank() {
	const subject = builds[0]?.subject;

	return { name: "", machine: machines[0], ...(subject ? { subject } : {}), arms: [{ name: "base" }, {}], rounds: 5,
		seed: Math.floor(Math.random() * 1e6) + 1, scenarios: [{}], trace: {}, metrics: [{}] };
}

function say(message, error = false) {
	fill("said", message ? el("p", { class: error ? "banner error" : "banner", role: error ? "alert" : "status" }, message) : null);
}

function take(spec) {
	draft.object = spec;
	changed();
	form.draw();
}

function load(spec) {
	clearProblems();
	say("");
	take(spec);
	json.show(spec);
}

// ?from=N or a choice of the list: "" is blank, a path is a starter's, a number an experiment's.
async function loadFrom(source) {
	if (source === "") {
		load(blank());
		return;
	}
	const response = await fetch(source.startsWith("/") ? source : `/api/v1/experiments/${source}`);
	const text = await response.text();

	if (!response.ok)
		throw new Error(JSON.parse(text).detail || `HTTP ${response.status}`);
	// Read by the own reader, which does not round a large seed.
	const { spec } = readSpec(text);
	load(source.startsWith("/") ? spec : spec.spec);
	document.getElementById("source-choice").value = source;
}

function sourceChoice(experiments) {
	const option = ([value, text]) => el("option", { value }, text);
	const choice = el("select", { id: "source-choice" }, option(["", "blank"]),
		el("optgroup", { label: "Shipped experiments" }, STARTERS.map(option)),
		experiments.length ? el("optgroup", { label: "Copy of an experiment" },
			experiments.map(({ id, name }) => option([String(id), `${id}: ${name}`]))) : null);

	return el("p", { class: "actions" }, el("label", { for: choice.id }, "Start from"), choice,
		button("Fill in", () => loadFrom(choice.value).catch(error => say(error.message, true))));
}

function showView(form_wanted) {
	if (form_wanted && json.broken()) {
		say(`The form cannot show this JSON. ${json.broken()}`, true);
		json.focus();
		return;
	}
	say("");
	clearProblems();
	if (!form_wanted && byForm)
		json.show(draft.object);
	byForm = form_wanted;
	document.getElementById("form").hidden = !byForm;
	document.getElementById("json-view").hidden = byForm;
	for (const tab of document.querySelectorAll("#view button"))
		tab.setAttribute("aria-pressed", String((tab.dataset.view === "form") === byForm));
}

// The text that labd is sent; null with the mistake shown when there is none.
function specText() {
	clearProblems();
	say("");
	if (!byForm && json.broken()) {
		say(json.broken(), true);
		json.focus();
		return null;
	}
	return JSON.stringify(draft.object);
}

function refused(error) {
	const shown = error.key && (byForm ? showProblem(error.key, error.message) : (json.mark(error.key, error.message), true));

	say(error.key ? `${error.key}: ${error.message}` : error.message, true);
	if (!shown)
		document.getElementById("said").scrollIntoView({ block: "center" });
}

// One at a time: a second press while the first is on its way does nothing.
function press(text, act, attributes) {
	const node = button(text, async () => {
		const spec = node.ariaDisabled === "true" ? null : specText();

		if (spec === null)
			return;
		node.ariaDisabled = "true";
		try {
			await act(spec);
		} catch (error) {
			refused(error);
		} finally {
			node.ariaDisabled = "false";
		}
	}, attributes);

	return node;
}

async function preview(spec) {
	const plan = await post("/api/v1/plans", spec);

	fill("plan", el("section", { class: "card", "aria-labelledby": "plan-title" }, planNodes(plan)));
	document.getElementById("plan-title").focus();
}

async function submit(spec) {
	// randomUUID() is there in secure contexts only.
	submission ||= [...crypto.getRandomValues(new Uint32Array(4))].join("-");
	const { id } = await post("/api/v1/experiments", spec, { "Idempotency-Key": submission });

	location.assign(`/experiments/${id}/live`);
}

function drawPage(experiments) {
	const tab = (view, text) => button(text, () => showView(view === "form"), { "data-view": view, "aria-pressed": String(view === "form") });

	form = makeForm(draft, machines, builds);
	json = makeJson(take);
	fill("head", el("h1", {}, "Schedule an experiment"),
		el("p", { class: "quiet" }, "The plan is drawn and sealed before the first boot; docs/spec.md tells what each key means."),
		builds.length ? null : el("p", { class: "banner" }, "There are no builds yet: ", el("code", {}, "make kernels"), " makes some."),
		sourceChoice(experiments));
	fill("view", el("p", { role: "group", "aria-label": "View" }, tab("form", "Form"), tab("json", "JSON")));
	fill("form", form.node);
	fill("json-view", json.node);
	fill("send", el("p", { class: "actions" }, press("Show the plan", preview), press("Submit", submit, { class: "main" })));
	document.getElementById("json-view").hidden = true;
}

sections("head", "view", "form", "json-view", "send", "said", "plan");
start(async () => {
	const [seen, made, { experiments }] = await Promise.all([
		get("/api/v1/machines"), get("/api/v1/builds"), get(`/api/v1/experiments?limit=${COPIES}`)]);

	machines = seen.machines.map(machine => machine.name);
	({ builds } = made);
	drawPage(experiments);
	load(blank());
	const from = new URLSearchParams(location.search).get("from");
	if (from)
		await loadFrom(from);
}, "said");
