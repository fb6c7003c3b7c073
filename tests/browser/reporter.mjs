// SPDX-License-Identifier: GPL-2.0-only
// TAP as prove reads it: a line per test, whatever it is nested in, and the reasons as comments.

const comment = text => text.split("\n").map(line => `# ${line}\n`).join("");

export default async function* tap(events) {
	let n = 0;

	for await (const { type, data } of events) {
		if (type !== "test:pass" && type !== "test:fail")
			continue;
		yield `${type === "test:pass" ? "ok" : "not ok"} ${++n} - ${data.name.replaceAll("#", "")}\n`;
		if (type === "test:fail") {
			const { error } = data.details;

			yield comment(String(error.cause?.stack || error.cause || error.stack || error));
		}
	}
	yield `1..${n}\n`;
}
