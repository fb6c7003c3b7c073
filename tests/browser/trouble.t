#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# The page of an experiment with a void pair, a boot that ended badly, and a loss.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Browser;
use Stored;

my $lab = Browser::lab();
$lab->stop;
Stored::experiment($lab, 1, "ab", [qw(base hint)], \&Stored::value);
# The first slot got its boot at the second try.
system("sqlite3", "-bail", "$lab->{data}/lab.db", "UPDATE boot SET attempt = 2 WHERE id = 1000; "
	. "INSERT INTO boot (id, slot, attempt, state, detail, console_lines, token, console, started, ended) "
	. "VALUES (1, 1000, 1, 'panic', 'the kernel panicked', 'Kernel panic - not syncing', '', '', 0, 1)") == 0
	or die "sqlite3 failed";
$lab->start;
exit Browser::run($lab, "trouble.mjs");
