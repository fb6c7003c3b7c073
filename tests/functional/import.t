#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# What xentrace wrote elsewhere is known by its content, and needs to be told how fast its TSC was.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use Labd;
use Test::More;
use Xentrace;

my $dir = tempdir(CLEANUP => 1);

sub put {
	my ($name, $bytes) = @_;
	open my $fh, ">:raw", "$dir/$name" or die "$dir/$name: $!";
	print $fh $bytes;
	close $fh;
	return "$dir/$name";
}

my $stream = Xentrace::window(1, map { Xentrace::record(0x10f002, 5_000_000 + 1000 * $_, 7) } 1 .. 100)
	. Xentrace::window(0, Xentrace::record(0x1f001, 6_000_000, 42, 0, 5_500_000, 0),
		Xentrace::record(0x2f001, 6_000_100, 1, 2));
my $file = put("recorded", $stream);
my $lab  = Labd->new;

my ($code, $said) = $lab->labctl("import", $file);
is($code, 1, "without a frequency it is refused");
like($said, qr/no anchors.*tsc_khz/, "with a sentence: $said");

($code, $said) = $lab->labctl("import", "--tsc-khz", 2_000_000, "--name", "elsewhere", $file);
is($code, 0, "with one it is stored") or diag $said;
like($said, qr/101 events, 42 lost, in (\S+)/, "all of it: $said");
my ($database) = $said =~ /in (events\S+)/;
my $db = "$lab->{data}/$database";

sub ask {
	return join "", map { s/\s+\z//r } `sqlite3 -readonly '$db' "$_[0]"`;
}

my $decoded = Xentrace::decode($file);
is(ask("SELECT count(*) FROM ev_xen_page_grant_unmap"), $decoded->{records}{0x10f002}, "as many unmaps");
is(ask("SELECT n || d1 || d2 FROM ev_xen_record WHERE id = 0x2f001"), "212", "and what labd does not know");
is(ask("SELECT min(ts_ns) || ' ' || max(ts_ns) FROM ev_xen_page_grant_unmap"), "2500500 2550000", "at 2 GHz");
is(ask("SELECT cpu || ' ' || count || ' ' || from_ts || ' ' || to_ts FROM run_loss WHERE source = 'xen'"),
	"0 42 2750000 3000000", "with its loss");

($code, $said) = $lab->labctl("import", "--tsc-khz", 2_000_000, put("cut", substr $stream, 0, -4));
is($code, 1, "one that is cut off is refused");
like($said, qr/cut off within the window at byte/, "with a sentence: $said");
($code, $said) = $lab->labctl("import", put("text", "no capture at all"));
like($said, qr/no trace\.dat.* and no xentrace stream/, "what is neither is refused: $said");
($code, $said) = $lab->labctl("import", "--tsc-khz", "fast", $file);
like($said, qr/--tsc-khz fast is no frequency/, "so is what is no frequency");
my $r = $lab->request("POST", "/api/v1/imports", { path => $file, tsc_khz => -5 });
is($r->{status}, 422, "by the API, too");
is($r->{json}{key}, "tsc_khz", "with its key");

done_testing;
