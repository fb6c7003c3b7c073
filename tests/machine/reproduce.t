#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# A run of the deterministic machine, done again, is the same run: on KVM and below Xen, figures and events. What was
# tampered with is found.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Labd;
use Test::More;

my $lab = Labd->new;

sub change {
	system("sqlite3", "-cmd", ".timeout 20000", "$lab->{data}/lab.db", @_) == 0 or die "sqlite3: @_";
}

# An experiment's good runs, by arm, in the order of each boot.
sub runs_of {
	my ($spec) = @_;
	my $id = $lab->submit({ machine => "bochs", rounds => 1, seed => 3, repeats => 2, %$spec });
	is($lab->finish($id, 900), "done", "$spec->{name}: the experiment completes") or diag $lab->log;
	my %runs;
	push @{ $runs{ $_->[1] } }, $_->[0] for $lab->sql("SELECT run, arm FROM v_run WHERE experiment = :experiment AND "
		. "state = 'ok' ORDER BY run", $id);
	is(scalar @{ $runs{$_} // [] }, 2, "$spec->{name}: two good runs of $_") for map { $_->{name} } @{ $spec->{arms} };
	return \%runs;
}

sub identical {
	my ($run, $name, @captures) = @_;
	my ($code, $out) = $lab->labctl("reproduce", $run);
	is($code, 0, "$name: run $run is identical") or diag $out, $lab->log;
	like($out, qr/^events +([1-9]\d*) +\1  yes$/m, "$name: in each of its events");
	like($out, qr/^\Q$_\E +(\S+) +\1  yes$/m, "$name: and in the bytes of: $_") for @captures;
}

my $kvm = runs_of({
	name => "KVM, again", subject => "kvm",
	arms => [ { name => "base", build => "kvm-base" }, { name => "hint", build => "kvm-hint" } ],
	scenarios => [ { name => "same4", workload => "kvm-churn",
		args => { mode => "same", chunk_mib => 4, rounds => 20, mem_mib => 64, vcpus => 2 } } ],
	trace => { events => [ "kvmmmu:kvm_tdp_mmu_zap_leafs", "sched:sched_switch" ], buffer_kib_per_cpu => 8192,
		clock => "mono" },
	metrics => [
		{ name => "zap_total", event => "kvmmmu:kvm_tdp_mmu_zap_leafs", field => "duration_ns", agg => "sum",
			unit => "ns", better => "lower" },
		{ name => "zaps", event => "kvmmmu:kvm_tdp_mmu_zap_leafs", agg => "count", unit => "1" },
		{ name => "madvise_total", workload_key => "madvise_total_ns", unit => "ns" },
	],
});
# The second run of a boot depends on the first one.
identical($kvm->{base}[0], "base", "capture");
identical($kvm->{hint}[1], "hint", "capture");

change("UPDATE sample SET value = value + 1 WHERE run = $kvm->{base}[0] AND metric = 'zap_total'");
my ($code, $out) = $lab->labctl("reproduce", $kvm->{base}[0]);
is($code, 1, "a stored value that is 1 ns off is found");
like($out, qr/^zap_total +\d+ +\d+  no$/m, "and named");
like($out, qr/^zaps +(\d+) +\1  yes$/m,    "the others stay equal");

my $xen = runs_of({
	name => "Xen, again", subject => "xen",
	arms => [ { name => "base", build => "xen-base" }, { name => "batch", build => "xen-batch" } ],
	scenarios => [ { name => "grant8", workload => "grant-churn", args => { batch => 8, batches => 20, warmup => 5 } } ],
	trace => { events => [ "xen:page_grant_unmap", "xen:grant_unmap_batch", "sched:sched_switch" ],
		buffer_kib_per_cpu => 1024, clock => "mono" },
	metrics => [
		{ name => "batch_total", event => "xen:grant_unmap_batch", field => "duration_ns", agg => "sum", unit => "ns",
			better => "lower" },
		{ name => "unmaps", event => "xen:page_grant_unmap", agg => "count", unit => "1" },
	],
});
identical($xen->{base}[1], "Xen", "capture", "Xen's capture");
is($lab->value("SELECT group_concat(state || identical) FROM v_reproduction ORDER BY reproduction"),
	"done1,done1,done0,done1", "the database has them all");

done_testing;
