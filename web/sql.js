// SPDX-License-Identifier: GPL-2.0-only
// A read-only query on lab.db and an experiment's events; the examples are those of docs/sql.md.

import { get, start } from "/api.js";
import { el, fill, num, sections, table } from "/dom.js";
import { button } from "/fields.js";
import * as format from "/format.js";

const text = el("textarea", { id: "query", class: "json", rows: "12", spellcheck: "false", autocomplete: "off" });
const experiment = el("select", { id: "experiment" }, el("option", { value: "" }, "none"));
const download = el("a", { download: true, hidden: true }, "Download as CSV");
let asked = 0;

function address(kind) {
	const query = new URLSearchParams({ query: text.value, format: kind });

	if (experiment.value)
		query.set("experiment", experiment.value);
	return `/api/v1/sql?${query}`;
}

function cell(value) {
	if (value === null)
		return el("td", { class: "quiet" }, "NULL");
	return typeof value === "number" ? num(String(value)) : String(value);
}

function drawAnswer({ columns, rows, truncated, why, elapsed_ms: took }) {
	const numeric = columns.map((_, i) => rows.length && rows.every(row => row[i] === null || typeof row[i] === "number"));

	fill("answer",
		el("p", { role: "status" }, `${format.plural(rows.length, "row")} in ${format.duration(took / 1000)}`,
			truncated ? el("strong", {}, `; there are more, which are left out${why ? `: ${why}` : ""}`) : ""),
		el("div", { class: "tall" }, table("Answer", "", columns.map((name, i) => numeric[i] ? { text: name, class: "num" } : name),
			rows.map(row => row.map((value, i) => i ? cell(value)
				: el("th", { scope: "row", class: numeric[i] ? "num" : null }, value === null ? "NULL" : String(value)))))));
}

async function run() {
	const turn = ++asked;

	download.hidden = true;
	fill("answer", el("p", { class: "quiet", role: "status" }, "Asking …"));
	try {
		const answer = await get(address("json"));

		if (turn !== asked)
			return;
		drawAnswer(answer);
		download.href = address("csv");
		download.hidden = false;
	} catch (error) {
		if (turn === asked)
			fill("answer", el("p", { class: "banner error", role: "alert" }, error.message));
	}
}

// { title, sql } of each query of the document.
function examples(markdown) {
	const found = [];
	let title = "";

	for (const [, heading, sql] of markdown.matchAll(/^## (.*)$|^```sql\n([\s\S]*?)^```$/gm)) {
		if (heading)
			title = heading;
		else
			found.push({ title: found.some(other => other.title === title) ? `${title} (more)` : title, sql });
	}
	return found;
}

function drawPage(experiments, queries) {
	const choice = el("select", { id: "example" }, el("option", { value: "" }, "choose …"),
		queries.map(({ title }, i) => el("option", { value: String(i) }, title)));

	choice.addEventListener("change", () => {
		if (choice.value)
			text.value = queries[Number(choice.value)].sql;
	});
	experiment.append(...experiments.map(({ id, name }) => el("option", { value: String(id) }, `${id}: ${name}`)));
	if (experiments.length)
		experiment.value = String(experiments[0].id);
	text.value = "SELECT name, sql FROM sqlite_schema WHERE name LIKE 'v\\_%' ESCAPE '\\' ORDER BY name;\n";
	text.addEventListener("keydown", event => {
		if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
			event.preventDefault();
			run();
		}
	});
	// A link that is older than the text would download another answer.
	for (const input of [text, experiment, choice])
		input.addEventListener("input", () => {
			download.hidden = true;
		});
	fill("head", el("h1", {}, "SQL"),
		el("p", { class: "quiet" }, "Read-only, on lab.db; the events of the experiment that is chosen are the database ",
			el("code", {}, "events"), ", and ", el("code", {}, ":experiment"), " is its number. The views ", el("code", {}, "v_…"), " are a contract: ",
			el("a", { href: "/sql.md" }, "what they hold"), "."));
	fill("ask",
		el("div", { class: "fields" },
			el("div", { class: "field" }, el("label", { for: choice.id }, "Example"), choice),
			el("div", { class: "field" }, el("label", { for: experiment.id }, "Experiment"), experiment)),
		el("div", { class: "field" }, el("label", { for: text.id }, "Query"), text),
		el("p", { class: "actions" }, button("Run", run, { class: "main" }), el("span", { class: "quiet" }, "or Ctrl+Enter"), download));
}

sections("head", "ask", "answer");
start(async () => {
	const [{ experiments }, markdown] = await Promise.all([
		get("/api/v1/experiments?limit=500"), fetch("/sql.md").then(response => response.text())]);

	drawPage(experiments, examples(markdown));
}, "head");
