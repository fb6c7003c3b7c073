// SPDX-License-Identifier: GPL-2.0-only
// Changing something through the API: JSON with the bearer token, which is asked for once per tab.

import { el } from "/dom.js";

const KEPT_AS = "labd.token";

// What labd answered instead of doing it: key is the path of the spec's key that is wrong, if one is.
export class Refusal extends Error {
	constructor(detail, key = null) {
		super(detail);
		this.key = key;
	}
}

// Shows the form and answers with what was typed; refuses when the user would rather not.
function ask(why) {
	return new Promise((resolve, reject) => {
		const field = el("input", { id: "token", type: "password", autocomplete: "off", required: true, spellcheck: "false" });
		const cancel = el("button", { type: "button" }, "Cancel");
		const form = el("form", {},
			el("h2", { id: "token-title" }, "labd wants its token"),
			el("p", { id: "token-where" }, why && el("strong", {}, `${why} `),
				"It is the one line of the file ", el("code", {}, "token"), " in labd's data directory. This tab keeps it until it is closed."),
			el("div", { class: "field" }, el("label", { for: "token" }, "Token"), field),
			el("p", { class: "actions" }, el("button", { class: "main" }, "Use it"), cancel));
		const dialog = el("dialog", { class: "small", "aria-labelledby": "token-title", "aria-describedby": "token-where" }, form);

		form.addEventListener("submit", event => {
			event.preventDefault();
			resolve(field.value.trim());
			dialog.close();
		});
		cancel.addEventListener("click", () => dialog.close());
		dialog.addEventListener("close", () => {
			dialog.remove();
			reject(new Refusal("Nothing was sent: labd takes changes only with its token."));
		});
		document.body.append(dialog);
		dialog.showModal();
		field.focus();
	});
}

// body: an object, or a text that is JSON already. Answers with the JSON of the answer.
export async function post(path, body, headers = {}) {
	for (let why = "";;) {
		const token = sessionStorage.getItem(KEPT_AS) || await ask(why);
		const response = await fetch(path, {
			method: "POST",
			headers: { ...headers, Authorization: `Bearer ${token}`, "Content-Type": "application/json", Accept: "application/json" },
			body: typeof body === "string" ? body : JSON.stringify(body),
		}).catch(() => {
			throw new Refusal("labd cannot be reached; nothing is known to have changed.");
		});
		const answer = await response.json().catch(() => ({}));

		if (response.status === 401) {
			sessionStorage.removeItem(KEPT_AS);
			why = "That was not it.";
			continue;
		}
		sessionStorage.setItem(KEPT_AS, token);
		if (!response.ok)
			throw new Refusal(answer.detail || `${path}: HTTP ${response.status}`, answer.key);
		return answer;
	}
}
