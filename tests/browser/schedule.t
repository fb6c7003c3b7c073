#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# An experiment is scheduled in the form, watched to its end, and a cell of its page followed down to a capture.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Browser;

# Slow enough to be watched.
exit Browser::run(Browser::lab("slow"), "schedule.mjs");
