// SPDX-License-Identifier: GPL-2.0-only
// How the boots of a machine ended: a badge and a number for each end state.

import { badge, el } from "/dom.js";
import * as format from "/format.js";

export function bootCounts(boots) {
	const all = Object.entries(boots || {});

	return all.length ? el("span", {}, all.map(([state, n]) => [badge(state), ` ${format.count(n)}  `]).flat()) : "none yet";
}
