// SPDX-License-Identifier: GPL-2.0-only
// How far an experiment is: a card with a bar, empty when it is neither running nor queued.

import { el, fill, link } from "/dom.js";
import * as format from "/format.js";

export function drawProgress(progress) {
	if (progress.state !== "running" && progress.state !== "queued") {
		fill("progress");
		return;
	}
	const { runs_done: done, runs_total: total, current } = progress;
	const percent = total ? Math.floor(100 * done / total) : 0;
	const where = current
		? `Round ${current.round}, ${current.arm}, boot ${current.position} of ${progress.boots_total}` +
			(current.scenario ? `: running ${current.scenario}` : ": booting")
		: progress.state === "queued" ? `Waiting; ${progress.ahead} ahead` : "Between boots: storing";
	const left = progress.eta_s === null ? "time left is known after the first boot"
		: progress.eta_s < 60 ? "less than a minute left"
		: `about ${format.duration(progress.eta_s)} left`;

	fill("progress", el("div", { class: "card" },
		el("p", {}, el("strong", {}, `${percent} %`), ` · ${done} of ${total} runs · ${left}`),
		el("progress", { class: "bar", max: total || 1, value: done, "aria-label": "Runs done" }),
		el("p", { class: "quiet" }, where,
			current ? [" · ", link(`/boots/${current.boot}`, `boot ${current.boot}`)] : null,
			progress.running > 1 ? ` · ${progress.running} boots at once` : null)));
}
