// SPDX-License-Identifier: GPL-2.0-only
// Numbers and times for people. The text report writes numbers by the same rules.

const TIMES = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
const DIGITS_MAX = 1e6;

// One scale for all numbers of a table: { divisor, unit, decimals }.
export function chooseScale(unit, values) {
	const sizes = values.filter(v => v !== null && v !== undefined).map(Math.abs).filter(v => v > 0 && isFinite(v));
	let min = Math.min(...sizes, Infinity);
	const max = Math.max(...sizes, 0);
	let whole = sizes.every(Number.isInteger);
	let divisor = 1;
	let name = unit === "1" ? "" : unit;

	if (unit === "ns" && sizes.length) {
		let i = 0;

		while (i + 1 < TIMES.length && min / TIMES[i][0] < 1 && max / TIMES[i + 1][0] < DIGITS_MAX)
			i++;
		[divisor, name] = TIMES[i];
		whole = divisor === 1 && whole;
	}
	min /= divisor;
	let decimals = 0;
	if (!whole && max / divisor < DIGITS_MAX)
		decimals = min >= 1000 ? 0 : min >= 100 ? 1 : min >= 1 ? 2 : 3;
	return { divisor, unit: name, decimals };
}

// The clock that a metric's numbers are by: a note beside each table of times, null for counts.
export function clockOf(metric, clock) {
	return clock && (TIMES.some(([, unit]) => unit === metric.unit) || metric.unit === "us" || metric.agg === "rate")
		? `clock: ${clock}` : null;
}

export function number(value, scale) {
	if (value === null || value === undefined)
		return "–";
	const scaled = value / scale.divisor;
	return scaled === 0 ? "0" : scaled.toFixed(scale.decimals);
}

// A number with its unit.
export function quantity(value, scale) {
	return value === null || value === undefined || !scale.unit ? number(value, scale) : `${number(value, scale)} ${scale.unit}`;
}

// An interval of order statistics; one without an upper end says why.
export function bounds(low, high, scale) {
	return high === null || high === undefined ? "no upper bound below 3688 values" : `${number(low, scale)} to ${number(high, scale)}`;
}

export function delta(fraction) {
	if (fraction === null || fraction === undefined)
		return "–";
	const percent = fraction * 100;
	if (Math.abs(percent) < 0.05)
		return "0.0 %";
	const sign = percent < 0 ? "−" : "+";
	return `${sign}${Math.abs(percent).toFixed(1)} %`;
}

// A size without a sign.
export function percent(fraction) {
	return fraction === null || fraction === undefined ? "–" : `${(fraction * 100).toFixed(1)} %`;
}

// A level of confidence, rounded down: no interval is sure.
export function level(fraction, decimals = 1) {
	const unit = 10 ** decimals;

	// What is only the error of a binary fraction is not cut off.
	const whole = Math.floor(Number((fraction * 100 * unit).toPrecision(12)));
	return `${Math.min(whole, 100 * unit - 1) / unit} %`;
}

export function interval(low, high) {
	return `${delta(low).replace(" %", "")} to ${delta(high)}`;
}

export function p(value) {
	return value === null || value === undefined ? "–" : value >= 0.0001 || value === 0 ? value.toFixed(4) : value.toExponential(1);
}

export function plural(n, what) {
	return `${count(n)} ${what}${n === 1 ? "" : "s"}`;
}

export function count(value) {
	return value === null || value === undefined ? "–" : String(value).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

export function bytes(n) {
	return n < 1048576 ? `${(n / 1024).toFixed(1)} KiB` : `${(n / 1048576).toFixed(1)} MiB`;
}

export function duration(seconds) {
	if (seconds === null || seconds === undefined)
		return "–";
	if (seconds < 1)
		return `${Math.round(seconds * 1000)} ms`;
	if (seconds < 60)
		return `${seconds.toFixed(1)} s`;
	const whole = Math.round(seconds);
	if (whole < 3600)
		return `${Math.floor(whole / 60)} min ${whole % 60} s`;
	return `${Math.floor(whole / 3600)} h ${Math.floor(whole / 60) % 60} min`;
}

export function time(text) {
	if (!text)
		return "–";
	return new Date(text).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
}

// A part of a whole, both in the same unit.
export function share(part, whole) {
	return whole > 0 ? `${Math.round(100 * part / whole)} %` : "–";
}

// [name, text] of each leaf of an object, with dots between the keys.
export function flatten(object, prefix = "") {
	return Object.entries(object || {}).flatMap(([name, value]) => value !== null && typeof value === "object" && !Array.isArray(value)
		? flatten(value, `${prefix}${name}.`)
		: [[`${prefix}${name}`, Array.isArray(value) ? value.map(member => typeof member === "object" ? JSON.stringify(member) : member).join(" ")
			: value === null ? "–" : String(value)]]);
}
