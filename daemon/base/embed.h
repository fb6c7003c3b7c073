/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LABD_BASE_EMBED_H
#define LABD_BASE_EMBED_H

/**
 * struct embedded - a file of the source tree inside the program (scripts/embed.sh)
 * @name: its path in the tree; the table ends with a NULL name
 * @data: its bytes, followed by a NUL that does not count
 */
struct embedded {
	const char *name;
	const char *data;
	const char *end;
};

extern struct embedded embedded_files[];

#endif
