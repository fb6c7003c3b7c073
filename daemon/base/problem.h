/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BASE_PROBLEM_H
#define LABD_BASE_PROBLEM_H

/**
 * struct problem - what a user did wrong, ready for an RFC 9457 answer
 * @status: HTTP status, 0 when there is no problem
 * @key: path of the offending key ("arms[1].build"), empty when the mistake has none
 * @detail: one sentence for a person
 */
struct problem {
	int status;
	char key[128];
	char detail[512];
};

int problem_set(struct problem *problem, int status, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
