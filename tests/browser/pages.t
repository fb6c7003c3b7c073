#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Every page, wide and narrow, light and dark.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Browser;

my $lab = Browser::lab();
my $id  = $lab->submit(Browser::spec());
die "the experiment did not get done" if $lab->finish($id, 120) ne "done";
my $other = $lab->submit(Browser::spec(name => "the same once more", seed => 4));
die "the second experiment did not get done" if $lab->finish($other, 120) ne "done";
exit Browser::run($lab, "pages.mjs");
