#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The kernel series: see kernel/check.sh.

exec "$(dirname "$0")/../../kernel/check.sh"
