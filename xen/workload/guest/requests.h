/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef NET_GUEST_REQUESTS_H
#define NET_GUEST_REQUESTS_H

void guest_request(int fd);

#endif
