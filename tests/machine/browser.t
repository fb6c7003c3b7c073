#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# A real experiment, scheduled in the form, watched to its end, and followed down to a capture.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Browser;

exit Browser::run(Labd->new, "machine.mjs");
