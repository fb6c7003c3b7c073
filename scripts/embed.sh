#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Writes a C file that holds the files named, each FILE or NAME=FILE: the migrations and the dashboard are
# part of labd.
set -eu
printf '/* Made by scripts/embed.sh. */\n#include "base/embed.h"\n\n'
n=0
for file in "$@"; do
	path=$(realpath "${file#*=}")
	printf '__asm__(".section .rodata\\nembed_%d:\\n.incbin \\"%s\\"\\nembed_%d_end:\\n.byte 0\\n.previous");\n' \
		$n "$path" $n
	printf 'extern const char embed_%d[], embed_%d_end[];\n' $n $n
	n=$((n + 1))
done
printf '\nstruct embedded embedded_files[] = {\n'
n=0
for file in "$@"; do
	printf '\t{ "%s", embed_%d, embed_%d_end },\n' "${file%%=*}" $n $n
	n=$((n + 1))
done
printf '\t{ 0 },\n};\n'
