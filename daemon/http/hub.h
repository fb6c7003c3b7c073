/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_HTTP_HUB_H
#define LABD_HTTP_HUB_H

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Wakes the clients that follow an experiment when the scheduler says that something happened. It
 * carries no data: a woken client is sent the state as it is then, so that a slow one skips states
 * instead of filling a queue. hub_publish() has the type of sched_listen_fn, with the hub as its
 * argument.
 */
struct hub;
struct hub_client;

int hub_new(struct hub **ret_hub);
void hub_free(struct hub *hub);
void hub_publish(void *hub, int64_t experiment);

int hub_join(struct hub *hub, struct MHD_Connection *connection, int64_t experiment,
	     struct hub_client **ret_client);
void hub_leave(struct hub_client *client);

enum hub_news {
	HUB_WAIT,   /* nothing: the connection is suspended and resumes with the next change */
	HUB_TICK,   /* a second has passed: what nobody publishes may have changed */
	HUB_CHANGE, /* something may have changed since the last HUB_CHANGE, or the client is new */
	HUB_CLOSE,  /* the server ends */
};

enum hub_news hub_wait(struct hub_client *client);
void hub_close(struct hub *hub);
size_t hub_clients(struct hub *hub);

#endif
