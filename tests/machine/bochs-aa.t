#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# A against A on the machine that counts instructions: two arms of one build differ by nothing at all in any round,
# and rounds differ, for each has a seed of its own.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Labd;
use Test::More;

my $lab   = Labd->new;
my $event = "kvmmmu:kvm_tdp_mmu_zap_leafs";
my $id    = $lab->submit({
	name => "A/A", machine => "bochs", subject => "kvm", rounds => 2, seed => 7,
	arms => [ map { { name => $_, build => "kvm-base" } } qw(a b) ],
	scenarios => [ { name => "same4", workload => "kvm-churn",
		args => { mode => "same", chunk_mib => 4, rounds => 40, mem_mib => 128, vcpus => 2 } } ],
	trace => { events => [$event], buffer_kib_per_cpu => 2048 },
	metrics => [
		{ name => "zap_total", event => $event, field => "duration_ns", agg => "sum", unit => "ns", better => "lower" },
		{ name => "sptes_visited", event => $event, field => "visited", agg => "sum", unit => "1" },
		{ name => "tables_skipped", event => $event, field => "skipped", agg => "sum", unit => "1" },
		{ name => "madvise_total", workload_key => "madvise_total_ns", unit => "ns", better => "lower" },
	],
});
is($lab->finish($id, 900), "done", "the experiment completes") or BAIL_OUT($lab->log);

my %value;
$value{ $_->[0] }{ $_->[1] }{ $_->[2] } = "$_->[3] of $_->[4]" for $lab->sql("SELECT metric, round, arm, "
	. "printf('%!.17g', value), n_events FROM v_sample WHERE experiment = :experiment AND used", $id);
is(join(" ", sort keys %value), "madvise_total sptes_visited tables_skipped zap_total", "samples of each metric");
for my $metric (sort keys %value) {
	for my $round (1, 2) {
		my ($a, $b) = @{ $value{$metric}{$round} }{qw(a b)};
		ok(defined $a, "$metric, round $round: has a value");
		is($b, $a, "$metric, round $round: b is a, to the last bit");
	}
}
isnt($value{zap_total}{1}{a}, $value{zap_total}{2}{a}, "another round, another seed, another zap_total");

is_deeply([ $lab->sql("SELECT metric, paired_delta = 0, n_equal, n_lower, n_higher, ratios_json FROM v_compare "
		. "WHERE experiment = :experiment ORDER BY metric", $id) ],
	[ map { [ $_, 1, 2, 0, 0, "[1.0,1.0]" ] } sort keys %value ], "every paired delta is exactly 0");
my $report = $lab->get("/api/v1/experiments/$id/report")->{content};
my $said   = () = $report =~ /identical in all 2 rounds/g;
is($said, 4, "the report says so of each metric");
like($report, qr/clock: instructions at 100 MIPS/, "and whose clock it is");
done_testing;
