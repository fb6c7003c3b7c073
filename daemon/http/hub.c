// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hub between the scheduler's thread, which publishes, and the server's, which sends.
 *
 * A client that has nothing to send suspends its connection. libmicrohttpd does not look at a
 * suspended socket, so a client that went away is only noticed by writing to it: the heartbeat
 * thread wakes everybody every 15 seconds, whose time left is then fresh as well. In between it
 * lets them look every second at what is not published, a console's growth.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "http/hub.h"

#define HUB_CLIENTS_MAX 64
#define HUB_HEARTBEAT_S 15

struct hub {
	pthread_mutex_t lock;
	pthread_cond_t wake;
	pthread_t heartbeat;
	struct hub_client *clients;
	size_t n_clients;
	bool closing;
};

/**
 * struct hub_client - one follower, on its hub's list
 * @suspended: cleared before the connection is resumed, so that it is resumed once
 * @changed: a HUB_CHANGE is due
 * @ticked: a HUB_TICK is due
 */
struct hub_client {
	struct hub *hub;
	struct hub_client *next;
	struct MHD_Connection *connection;
	int64_t experiment;
	bool suspended;
	bool changed;
	bool ticked;
};

static void resume(struct hub_client *client)
{
	if (!client->suspended)
		return;
	client->suspended = false;
	MHD_resume_connection(client->connection);
}

static void tick_clients(struct hub *hub)
{
	for (struct hub_client *client = hub->clients; client; client = client->next) {
		client->ticked = true;
		resume(client);
	}
}

/* 0 stands for every experiment. Called with the lock held. */
static void wake_clients(struct hub *hub, int64_t experiment)
{
	for (struct hub_client *client = hub->clients; client; client = client->next) {
		if (experiment && client->experiment != experiment)
			continue;
		client->changed = true;
		resume(client);
	}
}

static void *heartbeat_main(void *arg)
{
	struct hub *hub = arg;
	unsigned int seconds = 0;
	struct timespec until;

	pthread_mutex_lock(&hub->lock);
	while (!hub->closing) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec += 1;
		if (pthread_cond_timedwait(&hub->wake, &hub->lock, &until) != ETIMEDOUT)
			continue;
		if (++seconds % HUB_HEARTBEAT_S)
			tick_clients(hub);
		else
			wake_clients(hub, 0);
	}
	pthread_mutex_unlock(&hub->lock);
	return NULL;
}

/**
 * hub_new() - a hub without clients
 * @ret_hub: freed by hub_free()
 *
 * Return: 0 or negative errno.
 */
int hub_new(struct hub **ret_hub)
{
	pthread_condattr_t attr;
	struct hub *hub;
	int ret;

	hub = calloc(1, sizeof(*hub));
	if (!hub)
		return -ENOMEM;
	pthread_mutex_init(&hub->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&hub->wake, &attr);
	pthread_condattr_destroy(&attr);
	ret = -pthread_create(&hub->heartbeat, NULL, heartbeat_main, hub);
	if (ret) {
		pthread_cond_destroy(&hub->wake);
		pthread_mutex_destroy(&hub->lock);
		free(hub);
		return ret;
	}
	*ret_hub = hub;
	return 0;
}

/**
 * hub_free() - end it; NULL is allowed
 *
 * The server must have stopped, so that no client is left, and nobody may publish any more.
 */
void hub_free(struct hub *hub)
{
	if (!hub)
		return;
	hub_close(hub);
	pthread_join(hub->heartbeat, NULL);
	pthread_cond_destroy(&hub->wake);
	pthread_mutex_destroy(&hub->lock);
	free(hub);
}

/**
 * hub_publish() - wake everybody who follows @experiment
 * @arg: the hub
 *
 * Does not block but for the hub's own lock. What happened has been committed before.
 */
void hub_publish(void *arg, int64_t experiment)
{
	struct hub *hub = arg;

	pthread_mutex_lock(&hub->lock);
	wake_clients(hub, experiment);
	pthread_mutex_unlock(&hub->lock);
}

/**
 * hub_join() - follow an experiment
 * @ret_client: ended by hub_leave()
 *
 * Return: 0, -EBUSY with too many followers, -ESHUTDOWN while the hub closes, -ENOMEM.
 */
int hub_join(struct hub *hub, struct MHD_Connection *connection, int64_t experiment,
	     struct hub_client **ret_client)
{
	struct hub_client *client;
	int ret = 0;

	client = malloc(sizeof(*client));
	if (!client)
		return -ENOMEM;
	client->hub = hub;
	client->connection = connection;
	client->experiment = experiment;
	client->suspended = false;
	client->changed = true;
	client->ticked = false;

	pthread_mutex_lock(&hub->lock);
	if (hub->closing) {
		ret = -ESHUTDOWN;
	} else if (hub->n_clients >= HUB_CLIENTS_MAX) {
		ret = -EBUSY;
	} else {
		client->next = hub->clients;
		hub->clients = client;
		hub->n_clients++;
	}
	pthread_mutex_unlock(&hub->lock);
	if (ret)
		free(client);
	else
		*ret_client = client;
	return ret;
}

/** hub_leave() - stop following; frees @client, whose connection must not be suspended */
void hub_leave(struct hub_client *client)
{
	struct hub *hub = client->hub;
	struct hub_client **at;

	pthread_mutex_lock(&hub->lock);
	for (at = &hub->clients; *at != client; at = &(*at)->next)
		;
	*at = client->next;
	hub->n_clients--;
	pthread_mutex_unlock(&hub->lock);
	free(client);
}

/**
 * hub_wait() - is there something to send to a client?
 *
 * Called on the server's thread. With HUB_WAIT the connection has been suspended under the hub's
 * lock, so no change can get lost between the look and the sleep.
 */
enum hub_news hub_wait(struct hub_client *client)
{
	struct hub *hub = client->hub;
	enum hub_news news = HUB_WAIT;

	pthread_mutex_lock(&hub->lock);
	if (hub->closing) {
		news = HUB_CLOSE;
	} else if (client->changed) {
		client->changed = client->ticked = false;
		news = HUB_CHANGE;
	} else if (client->ticked) {
		client->ticked = false;
		news = HUB_TICK;
	} else {
		client->suspended = true;
		MHD_suspend_connection(client->connection);
	}
	pthread_mutex_unlock(&hub->lock);
	return news;
}

/** hub_close() - wake every client, whose hub_wait() says HUB_CLOSE; nobody joins any more */
void hub_close(struct hub *hub)
{
	pthread_mutex_lock(&hub->lock);
	hub->closing = true;
	wake_clients(hub, 0);
	pthread_cond_signal(&hub->wake);
	pthread_mutex_unlock(&hub->lock);
}

/** hub_clients() - how many follow now */
size_t hub_clients(struct hub *hub)
{
	size_t n;

	pthread_mutex_lock(&hub->lock);
	n = hub->n_clients;
	pthread_mutex_unlock(&hub->lock);
	return n;
}
