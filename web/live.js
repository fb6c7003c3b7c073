// SPDX-License-Identifier: GPL-2.0-only
// An experiment while it runs, by server-sent events: which boot, which run, the time left, the console's end.

import { get, getAll, start } from "/api.js";
import { badge, el, emulatedBanner, fill, link, sections } from "/dom.js";
import { button } from "/fields.js";
import { drawProgress } from "/progress.js";
import { bootChip, strip } from "/strip.js";
import { post } from "/token.js";

const AGAIN_MS = 3000;
const id = Number(location.pathname.split("/")[2]);
const base = `/api/v1/experiments/${id}`;
const active = state => state === "running" || state === "queued";

const ENDS = { done: "It is done.", failed: "It has failed.", cancelled: "It was cancelled." };
let shown = null; // what the page was drawn for: state and boots done

async function drawBoots() {
	fill("boots", el("h2", {}, "Boots"), strip(await getAll(`${base}/boots`, "boots"), bootChip));
}

function drawHead(experiment) {
	document.title = `${experiment.name}, live · labd`;
	fill("head",
		el("p", { class: "quiet" }, link(`/experiments/${id}`, `← experiment ${id}`)),
		el("h1", {}, experiment.name),
		el("p", { class: "meta" }, badge(experiment.state), el("span", {}, `machine ${experiment.machine}`),
			el("span", {}, experiment.arms.map(arm => arm.name).join(" · "))),
		emulatedBanner(experiment.emulated, experiment.machine_description?.deterministic));
}

function drawEnd({ state, reason }) {
	if (!active(state))
		fill("end", el("p", { class: "banner" }, el("strong", {}, ENDS[state] || `It is ${state}.`), ` ${reason || ""} `,
			link(`/experiments/${id}`, state === "done" ? "See the result" : "See what there is")));
}

// Asks first: there is no way back.
function drawCancel() {
	const problem = el("p", { class: "problem", role: "alert" });
	const no = button("Go on", () => {
		drawCancel();
		document.getElementById("cancel-button").focus();
	});
	const yes = button("Yes, cancel it", async () => {
		try {
			await post(`${base}/cancel`, {});
		} catch (error) {
			problem.textContent = error.message;
		}
	});

	fill("cancel", button("Cancel the experiment", () => {
		fill("cancel", el("div", { class: "card", role: "group", "aria-label": "Cancel the experiment?" },
			el("p", {}, "Cancel it? The boot that is running is ended, and there will be no verdicts. What was measured stays."),
			el("p", { class: "actions" }, yes, no), problem));
		no.focus();
	}, { id: "cancel-button" }));
}

function drawConsole({ boot, lines }) {
	fill("console", el("h2", {}, "Console of ", link(`/boots/${boot}`, `boot ${boot}`)),
		el("pre", { tabindex: "0", class: "live", "aria-label": "The console's last lines" }, lines.join("\n")));
}

async function redraw() {
	const experiment = await get(base);

	drawHead(experiment);
	// Drawn once: a question that was asked must not go away when the next boot begins.
	if (!active(experiment.state))
		fill("cancel");
	await drawBoots();
}

function onProgress(progress) {
	const now = JSON.stringify([progress.state, progress.boots_done, progress.current?.boot]);

	drawProgress(progress);
	drawEnd(progress);
	if (shown !== null && now !== shown)
		redraw().catch(() => {});
	shown = now;
}

function connection(lost) {
	fill("connection", lost ? el("p", { class: "banner" }, "The connection to labd is lost; trying again …") : null);
}

function follow() {
	const source = new EventSource(`${base}/stream`);

	source.addEventListener("open", () => connection(false));
	source.addEventListener("progress", event => onProgress(JSON.parse(event.data)));
	source.addEventListener("console", event => drawConsole(JSON.parse(event.data)));
	source.addEventListener("end", () => {
		source.close();
		redraw().catch(() => {});
	});
	source.addEventListener("error", () => {
		connection(true);
		// The browser tries again by itself, but not where labd answered with an error.
		if (source.readyState === EventSource.CLOSED)
			setTimeout(follow, AGAIN_MS);
	});
}

sections("head", "connection", "end", "progress", "console", "boots", "cancel");
for (const part of ["connection", "end"])
	document.getElementById(part).setAttribute("aria-live", "polite");
start(async () => {
	const experiment = await get(base);

	await redraw();
	drawProgress(experiment.progress);
	drawEnd(experiment);
	if (active(experiment.state)) {
		drawCancel();
		follow();
	}
}, "head");
