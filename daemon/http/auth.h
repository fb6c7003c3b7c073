/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_HTTP_AUTH_H
#define LABD_HTTP_AUTH_H

#include <stdbool.h>
#include <stdint.h>

bool auth_host_allowed(const char *host, uint16_t port);
bool auth_token_matches(const char *authorization, const char *token);
bool auth_is_json(const char *content_type);

#endif
