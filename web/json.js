// SPDX-License-Identifier: GPL-2.0-only
// JSON with the place of everything, so that a mistake can be named by its line and column. The browser's own
// reader tells no place that all browsers agree on, lets a key be there twice and rounds large integers.

export class JsonError extends Error {
	constructor(message, line, column) {
		super(`Line ${line}, column ${column}: ${message}`);
		this.line = line;
		this.column = column;
	}
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const WORD = /true|false|null/y;
const SPACE = /[ \t\r\n]*/y;
const DEPTH_MAX = 32;

// The path of a member as labd's problems spell it.
export function memberPath(path, key) {
	return typeof key === "number" ? `${path}[${key}]` : path ? `${path}.${key}` : key;
}

class Reader {
	constructor(text) {
		this.text = text;
		this.at = 0;
		this.places = new Map();
	}

	place(at) {
		const before = this.text.slice(0, at);
		const start = before.lastIndexOf("\n") + 1;

		return { line: before.split("\n").length, column: at - start + 1, at };
	}

	fail(message, at = this.at) {
		const { line, column } = this.place(at);

		throw new JsonError(message, line, column);
	}

	take(pattern) {
		pattern.lastIndex = this.at;
		const found = pattern.exec(this.text);

		if (found)
			this.at = pattern.lastIndex;
		return found && found[0];
	}

	next() {
		this.take(SPACE);
		return this.text[this.at];
	}

	// What stands here, for a sentence about what should.
	found() {
		const c = this.text[this.at];

		return c === undefined ? "the text ends here" : c === "\n" ? "the line ends here" : `here is ${JSON.stringify(c)}`;
	}

	string() {
		const at = this.at;
		const text = this.take(STRING);

		if (text === null)
			this.fail("this string has no end in its line, or an escape that JSON does not know.", at);
		return JSON.parse(text);
	}

	number() {
		const at = this.at;
		const text = this.take(NUMBER);

		if (text === null)
			this.fail("this is no number that JSON knows.", at);
		const value = Number(text);
		if (Number.isInteger(value) && !Number.isSafeInteger(value))
			this.fail(`${text} is too large an integer for a browser to keep; labctl submit takes it.`, at);
		return value;
	}

	// Members of a list or an object up to @end; @one reads one of them.
	members(end, one) {
		this.at++;
		if (this.next() === end) {
			this.at++;
			return;
		}
		for (let i = 0;; i++) {
			one(i);
			const c = this.next();

			if (c !== "," && c !== end)
				this.fail(`a "," or "${end}" has to be here, but ${this.found()}.`);
			this.at++;
			if (c === end)
				return;
			if (this.next() === end)
				this.fail(`behind a "," something has to follow.`);
		}
	}

	object(path, depth) {
		const object = {};

		this.members("}", () => {
			if (this.next() !== '"')
				this.fail(`a key in double quotes has to be here, but ${this.found()}.`);
			const at = this.at;
			const key = this.string();

			if (Object.hasOwn(object, key))
				this.fail(`the key "${key}" is there twice.`, at);
			if (key === "__proto__")
				this.fail(`the key "${key}" cannot be edited here.`, at);
			if (this.next() !== ":")
				this.fail(`a ":" has to follow the key "${key}", but ${this.found()}.`);
			this.at++;
			object[key] = this.value(memberPath(path, key), depth);
		});
		return object;
	}

	list(path, depth) {
		const list = [];

		this.members("]", i => list.push(this.value(memberPath(path, i), depth)));
		return list;
	}

	value(path, depth) {
		const c = this.next();

		if (depth > DEPTH_MAX)
			this.fail("this is nested too deeply.");
		this.places.set(path, this.place(this.at));
		if (c === "{")
			return this.object(path, depth + 1);
		if (c === "[")
			return this.list(path, depth + 1);
		if (c === '"')
			return this.string();
		if (c === "-" || c >= "0" && c <= "9")
			return this.number();
		const word = this.take(WORD);
		if (!word)
			this.fail(`a value has to be here, but ${this.found()}.`);
		return JSON.parse(word);
	}
}

// { value, places }: places has { line, column, at } of each value by its path; throws a JsonError.
export function parse(text) {
	const reader = new Reader(text);
	const value = reader.value("", 0);

	if (reader.next() !== undefined)
		reader.fail(`nothing more may follow, but ${reader.found()}.`);
	return { value, places: reader.places };
}

// The spec's way to write JSON: short lists and objects on one line.
export function write(value, indent = "") {
	const flat = JSON.stringify(value, null, " ").replace(/\n */g, " ");

	if (value === null || typeof value !== "object" || flat.length + indent.length <= 100)
		return flat;
	const inner = `${indent}  `;
	const parts = Array.isArray(value) ? value.map(item => write(item, inner))
		: Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${write(item, inner)}`);
	const [open, close] = Array.isArray(value) ? "[]" : "{}";

	return `${open}\n${parts.map(part => inner + part).join(",\n")}\n${indent}${close}`;
}
