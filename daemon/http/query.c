// SPDX-License-Identifier: GPL-2.0-only
/* Answers that SQLite builds: a statement whose first column is a JSON text. */
#include <errno.h>

#include "http/request.h"

/**
 * respond_row() - answer with what db_get_text() found
 * @ret: what it returned
 * @text: what it gave, owned by the answer
 * @what: "experiment", for the message that there is none
 */
void respond_row(struct request *req, int ret, char *text, const char *what)
{
	if (!ret)
		respond_json_text(req, MHD_HTTP_OK, text);
	else if (ret == -ENOENT)
		respond_error(req, MHD_HTTP_NOT_FOUND, NULL, "there is no %s %lld", what,
			      (long long)req->id);
	else
		respond_errno(req, ret, "reading the database");
}
