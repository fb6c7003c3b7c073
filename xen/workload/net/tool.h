/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NET_TOOL_H
#define NET_TOOL_H

#define NET_RUN_DIR "/run/labd-net"
#define NET_CONSOLE_DIR NET_RUN_DIR "/console"

int net_tool(const char *step, const char *const *argv, unsigned int limit_s);
void net_print_tail(const char *path, const char *what);

#endif
