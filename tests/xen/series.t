#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Xen's series: see xen/check.sh.

exec "$(dirname "$0")/../../xen/check.sh"
