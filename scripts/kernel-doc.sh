#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every function that a file shows to others has a kernel-doc comment: kernel-doc.sh FILE.c...
# A function starts at column 0 without "static"; its comment ends on the line above it.
set -eu
awk '
	FNR == 1 { comment = 0 }
	/^\/\*\*/ { doc = 1 }
	/\*\/$/ { if (doc) comment = FNR; doc = 0 }
	/^[a-z][A-Za-z0-9_ *]*[ *][a-z0-9_]+\(/ && !/^(static|typedef|extern|else|return|struct [a-z_]+ \{)/ && !/;$/ && !/ main\(/ &&
	!/LLVMFuzzer/ && FILENAME !~ /^tests\// {
		if (comment != FNR - 1) {
			printf "%s:%d: no kernel-doc: %s\n", FILENAME, FNR, $0
			bad = 1
		}
	}
	END { exit bad }
' "$@"
