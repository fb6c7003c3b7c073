// SPDX-License-Identifier: GPL-2.0-only
/* Pieces of work in their order, several at a time. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "plan/exec.h"

/**
 * struct pool - what the workers share
 * @next: index of the piece that nobody has begun yet
 * @stop: set once by the first error, which is kept
 */
struct pool {
	exec_pool_fn work;
	void *arg;
	size_t n;
	atomic_size_t next;
	atomic_bool stop;
	pthread_mutex_t lock;
	int error;
	char reason[256];
};

static void *worker_main(void *arg)
{
	struct pool *pool = arg;
	char reason[256];
	size_t index;
	int ret;

	while (!pool->stop && (index = pool->next++) < pool->n) {
		*reason = '\0';
		ret = pool->work(pool->arg, index, &pool->stop, reason);
		if (!ret)
			continue;
		pthread_mutex_lock(&pool->lock);
		if (!pool->error) {
			pool->error = ret;
			memcpy(pool->reason, reason, sizeof(reason));
		}
		pool->stop = true;
		pthread_mutex_unlock(&pool->lock);
	}
	return NULL;
}

/**
 * exec_pool() - do @n pieces of work, at most @workers at once; the caller's thread is one of them
 * @work: called with 0, 1, … in this order, each on a thread that outlives the call
 * @reason: of the first error
 *
 * After an error nothing more is begun, and what is in work comes to its end.
 *
 * Return: 0, or the first error.
 */
int exec_pool(unsigned int workers, size_t n, exec_pool_fn work, void *arg, char reason[256])
{
	struct pool pool = {.work = work, .arg = arg, .n = n, .lock = PTHREAD_MUTEX_INITIALIZER};
	size_t more = workers < n ? workers : n, begun = 0;
	pthread_t *threads;

	more = more ? more - 1 : 0;
	threads = calloc(more ?: 1, sizeof(*threads));
	if (!threads)
		return -ENOMEM;
	while (begun < more && !pthread_create(&threads[begun], NULL, worker_main, &pool))
		begun++;
	if (begun < more)
		log_warn("%zu of %u machines run at once: no more threads can be made", begun + 1,
			 workers);
	worker_main(&pool);
	for (size_t i = 0; i < begun; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	if (pool.error && *pool.reason)
		memcpy(reason, pool.reason, sizeof(pool.reason));
	return pool.error;
}
