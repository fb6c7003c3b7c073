#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# How often the lab cries wolf: A/A experiments on QEMU, where every difference is noise. Holm holds each of them to
# 5 %, so of twenty more than four with a verdict has a chance of 0.3 % (binomial). LABD_SLOW=1 does twenty; they take
# about an hour and a half.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Labd;
use Test::More;

plan skip_all => "LABD_SLOW=1 runs twenty A/A experiments" if !$ENV{LABD_SLOW};

my $n     = 20;
my $event = "kvmmmu:kvm_tdp_mmu_zap_leafs";
my $lab   = Labd->new($ENV{LABD_AA_DATA} ? (data => $ENV{LABD_AA_DATA}) : ());

# Short runs: what is asked is how the medians of five boots scatter.
sub spec {
	my $seed = shift;
	return {
		name => "A/A, seed $seed", kind => "aa", machine => "qemu", subject => "kvm", rounds => 5, seed => $seed,
		arms => [ map { { name => $_, build => "kvm-base" } } qw(a b) ],
		scenarios => [ map { { name => $_->[0], workload => "kvm-churn",
			args => { mode => $_->[1], chunk_mib => $_->[2], vcpus => 2, mem_mib => 128, rounds => 100 } } }
			[ same16 => "same", 16 ], [ same4 => "same", 4 ], [ sweep1 => "sweep", 1 ] ],
		trace => { events => [$event], buffer_kib_per_cpu => 8192 },
		metrics => [ { name => "zap_total", event => $event, field => "duration_ns", agg => "sum", unit => "ns",
			better => "lower", primary => JSON::PP::true } ],
	};
}

my @ids = map { $lab->submit(spec($_)) } 1 .. $n;
for my $id (@ids) {
	is($lab->finish($id, 1200), "done", "A/A $id completes") or BAIL_OUT($lab->log);
}
my $ids    = join ",", @ids;
my $before = $lab->value("SELECT count(DISTINCT experiment) FROM v_compare WHERE experiment IN ($ids) AND p_holm <= alpha");
my $after  = $lab->value("SELECT count(DISTINCT experiment) FROM v_compare WHERE experiment IN ($ids) "
	. "AND verdict IN ('improved', 'regressed')");
cmp_ok($before, "<=", 4, "at most 4 of $n experiments have a verdict before the noise floor");
cmp_ok($after, "<=", $before, "the floor adds none");
is($lab->value("SELECT count(*) FROM v_compare WHERE experiment IN ($ids) AND (p IS NULL OR p_holm IS NULL OR floor IS NULL)"), 0,
	"every comparison has its p and a floor of the other experiments");
is($lab->value("SELECT min(n_experiments) FROM v_floor"), $n, "all of them make the floor");
diag "$before of $n with a verdict before the floor, $after after it";
diag join " ", @$_ for $lab->sql("SELECT scenario, printf('floor %.1f %%, %d pairs', 100 * floor, n_pairs) FROM v_floor");
$lab->stop;
done_testing;
