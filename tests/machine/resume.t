#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# kill -9 of labd at several moments: no finished run is lost, none is done twice, no machine stays behind.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Labd;
use Test::More;
use Time::HiRes qw(sleep);

my $lab = Labd->new;
my $id  = $lab->submit({
	name => "killed and resumed", machine => "qemu", subject => "kvm", rounds => 2, repeats => 2,
	arms => [ { name => "base", build => "kvm-base" }, { name => "hint", build => "kvm-hint" } ],
	scenarios => [ { name => "same4", workload => "kvm-churn",
		args => { mode => "same", chunk_mib => 4, rounds => 60, mem_mib => 128, vcpus => 2 } } ],
	trace => { events => ["kvmmmu:kvm_tdp_mmu_zap_leafs"], buffer_kib_per_cpu => 8192, clock => "mono" },
	metrics => [ { name => "zaps", event => "kvmmmu:kvm_tdp_mmu_zap_leafs", agg => "count", unit => "1" } ],
});

# What is finished: run number, slot and place, capture's hash.
sub finished {
	return map { join " ", @$_ } $lab->sql("SELECT id, slot, place, sha256 FROM run "
		. "WHERE state IN ('captured', 'ok') ORDER BY id");
}

my @moments = (
	[ "while a machine boots"  => "SELECT count(*) FROM boot WHERE state = 'running' AND hello IS NULL" ],
	[ "while a run measures"   => "SELECT count(*) FROM run WHERE state = 'running'" ],
	[ "with a run captured"    => "SELECT count(*) FROM run WHERE state = 'captured'" ],
	[ "with two runs finished" => "SELECT count(*) >= 2 FROM run WHERE state IN ('captured', 'ok')" ],
	[ "in the second boot"     => "SELECT count(*) FROM slot WHERE state = 'done'" ],
);
my %seen;
for my $moment (@moments) {
	my ($name, $query) = @$moment;
	ok($lab->until(120, sub { $lab->value($query) }), "killed $name");
	$lab->stop("KILL");
	my @before = finished();
	sleep 2;
	my @left = grep { `pgrep -f 'labd[.]token=$_'` } map { $_->[0] } $lab->sql("SELECT token FROM boot");
	is(scalar @left, 0, "$name: no machine stays behind");
	$lab->start;
	my %now = map { $_ => 1 } finished();
	is(scalar(grep { !$now{$_} } @before), 0, "$name: finished runs are still there (" . @before . ")");
	$seen{$_} = 1 for @before;
}
is($lab->finish($id, 300), "done", "the experiment completes") or diag $lab->log;

my %end = map { $_ => 1 } finished();
is(scalar(grep { !$end{$_} } keys %seen), 0, "every run that was ever finished is finished at the end");
is($lab->value("SELECT count(*) FROM run WHERE state = 'ok'"), 8, "as many runs as the plan has");
is($lab->value("SELECT count(*) FROM (SELECT slot, place FROM run WHERE state = 'ok' GROUP BY 1, 2)"), 8,
	"none of them twice");
is($lab->value("SELECT count(*) FROM void_pair"), 0, "no pair is void for it");
is($lab->value("SELECT count(*) FROM v_run r JOIN run USING (capture) WHERE r.state = 'ok' AND r.events <> "
		. "(SELECT count FROM events.run_span s WHERE s.run = r.run)", $id), 0, "events are stored once");
for my $row ($lab->sql("SELECT capture, state FROM run")) {
	my ($capture, $state) = @$row;
	next if $state eq "ok";
	ok(!length $capture, "an interrupted run has no capture");
}
my @files = glob "$lab->{data}/captures/$id/*";
is(scalar @files, 8, "no half capture lies about") or diag "@files";

done_testing;
