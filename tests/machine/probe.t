#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# A kernel without any patch is measured by kprobes; a probe whose function a kernel lacks counts 0.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Labd;
use Test::More;

my $lab  = Labd->new;
my $spec = Labd::spec("experiments/kvm-probe.json");
$spec->{rounds} = 1;
push @{ $spec->{trace}{kprobes} }, "p:labd/none a_function_that_no_kernel_has";
push @{ $spec->{metrics} }, { name => "none", event => "labd:none", agg => "count", unit => "1" };
my $id = $lab->submit($spec);
is($lab->finish($id, 600), "done", "the experiment completes") or diag $lab->log;

for my $row ($lab->sql("SELECT arm, scenario, n_events, value FROM v_sample WHERE experiment = :experiment "
	. "AND metric = 'zap_total'", $id)) {
	my ($arm, $scenario, $n, $value) = @$row;
	cmp_ok($n, ">", 300, "$arm, $scenario: $n zaps were timed by a probe and its return");
	cmp_ok($value, ">", 0, "and took time");
}
is($lab->value("SELECT count(*) FROM v_sample WHERE experiment = :experiment AND metric = 'none' AND value = 0", $id),
	$lab->value("SELECT count(*) FROM v_run WHERE experiment = :experiment AND state = 'ok'", $id),
	"the absent probe counts 0 in every run");
is($lab->value("SELECT count(*) FROM run, json_each(done_json, '\$.absent') a WHERE a.value = 'labd:none'"),
	$lab->value("SELECT count(*) FROM run"), "and is on record as absent");

done_testing;
