// SPDX-License-Identifier: GPL-2.0-only
// The boots in the order of the plan, each where it was on the clock on the wall: how it ended, what is void, what was lost.

import { el, stateClass } from "/dom.js";
import * as format from "/format.js";
import { axis, d3, drawing, responsive } from "/plots.js";

const TOP = 6;
const BOTTOM = 40;
const UNITS = [[3600, "h"], [60, "min"], [1, "s"]];

// Every boot of every slot with its place in seconds from the first one's start.
function barsOf(slots) {
	const boots = slots.flatMap((slot, row) => slot.attempts.filter(boot => boot.started).map(boot => ({ slot, row, boot })));
	const zero = d3.min(boots, ({ boot }) => Date.parse(boot.started));

	return boots.map(bar => {
		const from = (Date.parse(bar.boot.started) - zero) / 1000;
		const to = bar.boot.ended ? (Date.parse(bar.boot.ended) - zero) / 1000 : (Date.now() - zero) / 1000;

		return { ...bar, from, to: Math.max(from, to) };
	});
}

// What stands behind a bar: nothing where all is well so far.
function remark({ slot, boot }, voids) {
	const pairs = voids.filter(pair => pair.round === slot.round && pair.arm === slot.arm).length;

	return [boot.state === "ok" || !boot.ended ? null : boot.state, slot.state === "void" && boot === slot.attempts.at(-1) ? "void" : null,
		pairs ? format.plural(pairs, "void pair") : null, boot.lost ? `${format.count(boot.lost)} lost` : null].filter(Boolean).join(", ");
}

function plot(slots, voids, width) {
	const bars = barsOf(slots);
	const row = Math.max(4, Math.min(18, 720 / slots.length));
	const named = row >= 11;
	const left = named ? Math.min(130, 40 + 7 * d3.max(slots, slot => slot.arm.length)) : 16;
	const height = TOP + row * slots.length + BOTTOM;
	const span = d3.max(bars, bar => bar.to) || 1;
	const [divisor, unit] = UNITS.find(([seconds]) => span >= 2 * seconds) || UNITS[2];
	const x = d3.scaleLinear([0, span / divisor], [left, width - 20]);
	const bad = bars.filter(bar => remark(bar, voids));
	const svg = drawing(width, height, `${format.plural(bars.length, "boot")} in ${format.duration(span)}; ` +
		(bad.length ? bad.map(bar => `${bar.slot.position}, ${bar.slot.arm}: ${remark(bar, voids)}`).join("; ") : "none ended badly, nothing is void, nothing was lost") + ".");
	const y = place => TOP + row * place;

	axis(svg, "bottom", x, x.ticks(Math.max(2, Math.floor(width / 110))), String, [TOP, height - BOTTOM]);
	svg.append("text").attr("class", "name").attr("x", width - 20).attr("y", height - 6).attr("text-anchor", "end").text(`${unit} since the first boot began`);
	for (const [i, slot] of slots.entries()) {
		if (named)
			svg.append("text").attr("class", "name").attr("x", left - 8).attr("y", y(i) + row / 2).attr("dy", "0.32em").attr("text-anchor", "end").text(`${slot.position} ${slot.arm}`);
		if (i && slot.round !== slots[i - 1].round)
			svg.append("line").attr("class", "round").attr("x1", 0).attr("x2", width).attr("y1", y(i)).attr("y2", y(i));
	}
	for (const bar of bars) {
		const text = remark(bar, voids);
		const start = x(bar.from / divisor);
		const right = x(bar.to / divisor);

		svg.append("rect").attr("class", `boot ${stateClass(bar.boot.state)}${text ? " marked" : ""}`)
			.attr("x", start).attr("width", Math.max(2, right - start)).attr("y", y(bar.row) + row * 0.15).attr("height", row * 0.7)
			.append("title").text(`${bar.slot.position}. ${bar.slot.arm}, round ${bar.slot.round}, boot ${bar.boot.boot}: ${bar.boot.state}, ${format.duration(bar.to - bar.from)}${text ? `; ${text}` : ""}`);
		if (text && named) {
			const room = 8 * text.length;
			const [at, anchor] = right + room <= width ? [right + 5, "start"] : start - room >= left ? [start - 5, "end"] : [start + 5, "start"];

			svg.append("text").attr("class", "remark").attr("x", at).attr("y", y(bar.row) + row / 2).attr("dy", "0.32em")
				.attr("text-anchor", anchor).text(text);
		}
	}
	return svg.node();
}

export function timeline(slots, voids) {
	if (!slots.some(slot => slot.attempts.some(boot => boot.started)))
		return null;
	return el("figure", {},
		el("figcaption", {}, "Each bar is a boot; a hollow one did not end well, is void or lost events, and says so."),
		responsive(width => plot(slots, voids, width)));
}
