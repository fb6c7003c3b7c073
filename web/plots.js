// SPDX-License-Identifier: GPL-2.0-only
// What the plots share. Each has a table beside it that says the same; an arm differs by shape and dash, not by
// colour alone (the class arm-N of app.css).

import { el } from "/dom.js";

export const d3 = window.d3;

const SHAPES = [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond, d3.symbolCross, d3.symbolStar, d3.symbolWye];

// The path of an arm's mark around 0,0; area in px².
export function mark(arm, area = 40) {
	return d3.symbol().type(SHAPES[arm % SHAPES.length]).size(area)();
}

// An empty drawing, as a d3 selection; label: what it shows, for who does not see it.
export function drawing(width, height, label) {
	return d3.create("svg").attr("class", "plot").attr("viewBox", `0 0 ${width} ${height}`).attr("width", width).attr("height", height)
		.attr("role", "img").attr("aria-label", label);
}

// The ticks of a scale with lines across: side "left" or "bottom".
export function axis(svg, side, scale, ticks, text, [from, to]) {
	const left = side === "left";
	const group = svg.append("g").attr("class", "axis");

	for (const tick of ticks) {
		const at = scale(tick);

		group.append("line").attr(left ? "y1" : "x1", at).attr(left ? "y2" : "x2", at)
			.attr(left ? "x1" : "y1", from).attr(left ? "x2" : "y2", to);
		group.append("text").attr("x", left ? from - 6 : at).attr("y", left ? at : to + 16)
			.attr("text-anchor", left ? "end" : "middle").attr("dy", left ? "0.32em" : 0).text(text(tick));
	}
	return group;
}

// A place whose drawing is made anew when its width changes; draw(width) makes it.
export function responsive(draw) {
	const place = el("div", { class: "plot-place" });
	let width = 0;

	new ResizeObserver(([entry]) => {
		const now = Math.floor(entry.contentRect.width);

		if (now && now !== width) {
			width = now;
			// In the next frame: a change of height inside the observer's own turn would be reported as an error.
			requestAnimationFrame(() => place.replaceChildren(draw(now)));
		}
	}).observe(place);
	return place;
}

// Names of the arms with their marks, dashes and colours.
export function legend(arms) {
	return el("ul", { class: "legend" }, arms.map((name, i) => {
		const svg = d3.create("svg").attr("width", 34).attr("height", 14).attr("aria-hidden", "true").attr("class", `arm-${i}`);

		svg.append("line").attr("class", "curve").attr("x1", 0).attr("x2", 34).attr("y1", 7).attr("y2", 7);
		svg.append("path").attr("class", "mark").attr("d", mark(i)).attr("transform", "translate(17,7)");
		return el("li", {}, svg.node(), ` ${name}`);
	}));
}
