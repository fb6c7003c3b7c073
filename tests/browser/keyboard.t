#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Without a mouse: a spec is submitted, its end awaited, and a cell followed to its capture.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Browser;

my $lab = Browser::lab();
my $id  = $lab->submit(Browser::spec());
die "the experiment did not get done" if $lab->finish($id, 120) ne "done";
exit Browser::run($lab, "keyboard.mjs");
