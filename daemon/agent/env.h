/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_AGENT_ENV_H
#define LABD_AGENT_ENV_H

#include <jansson.h>
#include <stdint.h>

#define AGENT_PROTO 1

json_t *agent_env_hello(void);
void agent_env_announce(const json_t *hello);
char *agent_env_word(const char *key);
int64_t agent_env_taint(void);
uint64_t agent_env_available_bytes(void);

#endif
