// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may ask. The server listens on the loopback address, which every user and every web page of
 * this machine can reach: the Host header keeps pages of other sites out (a name of theirs can be
 * made to resolve to 127.0.0.1), and the token keeps everybody from changing anything.
 */
#include <nettle/memops.h>
#include <string.h>
#include <strings.h>

#include "base/sha256.h"
#include "base/util.h"
#include "http/auth.h"

/**
 * auth_host_allowed() - is this Host header one of ours?
 * @host: value of the header, or NULL
 * @port: where the server listens
 */
bool auth_host_allowed(const char *host, uint16_t port)
{
	static const char *const names[] = {"127.0.0.1", "localhost", "[::1]"};
	int64_t given = 80;
	const char *rest;

	if (!host)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t length = strlen(names[i]);

		if (strncasecmp(host, names[i], length))
			continue;
		rest = host + length;
		if (*rest == ':' && parse_i64(rest + 1, 1, UINT16_MAX, &given))
			return false;
		return (*rest == ':' || !*rest) && given == port;
	}
	return false;
}

/**
 * auth_token_matches() - compare a bearer token
 * @authorization: value of the header, or NULL
 *
 * Compares hashes in constant time, so that neither the token's bytes nor its length show.
 */
bool auth_token_matches(const char *authorization, const char *token)
{
	char given[SHA256_HEX_LEN + 1], wanted[SHA256_HEX_LEN + 1];
	static const char scheme[] = "Bearer ";

	if (!authorization || strncasecmp(authorization, scheme, sizeof(scheme) - 1))
		return false;
	authorization += sizeof(scheme) - 1;
	sha256_hex(authorization, strlen(authorization), given);
	sha256_hex(token, strlen(token), wanted);
	return *token && memeql_sec(given, wanted, SHA256_HEX_LEN);
}

/** auth_is_json() - does this Content-Type say application/json? Parameters are ignored. */
bool auth_is_json(const char *content_type)
{
	static const char json[] = "application/json";
	size_t length = sizeof(json) - 1;

	if (!content_type || strncasecmp(content_type, json, length))
		return false;
	return !content_type[length] || strchr("; \t", content_type[length]);
}
