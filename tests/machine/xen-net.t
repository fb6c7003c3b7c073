#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# A domU sends through netback: the quick profile's counts, and that its throughput is called no result.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Labd;
use Test::More;

plan skip_all => "takes five minutes: set LABD_SLOW=1" if !$ENV{LABD_SLOW};

my $lab  = Labd->new;
my $spec = Labd::spec("experiments/xen-net-quick.json");
$spec->{scenarios} = [ $spec->{scenarios}[0] ];
$spec->{rounds}    = 2;
my $id = $lab->submit($spec);
is($lab->finish($id, 1800), "done", "the experiment completes") or BAIL_OUT($lab->log);

# An emulated dom0 with a domU beside it is lost now and then; Xen never is, and each arm needs one good run.
for my $boot ($lab->sql("SELECT boot, arm, state, detail FROM v_boot WHERE experiment = :experiment", $id)) {
	my ($number, $arm, $state, $detail) = @$boot;
	unlike("$state $detail", qr/Panic on CPU|Assertion|IO_PAGE_FAULT/, "boot $number, $arm, $state: not Xen's fault");
	diag("boot $number, $arm: $state: $detail") if $state ne "ok";
}

for my $arm (qw(base batch)) {
	my ($run, $workload) = map { @$_ } $lab->sql("SELECT r.run, w.workload FROM v_run r JOIN run w ON w.id = r.run "
		. "WHERE r.experiment = :experiment AND r.arm = '$arm' AND r.state = 'ok' LIMIT 1", $id);
	ok($run, "$arm: a good run") or next;
	my %sample = map { $_->[0] => $_->[1] } $lab->sql("SELECT metric, value FROM v_sample WHERE run = $run", $id);
	cmp_ok($sample{grant_unmaps}, ">", 10_000, "$arm: netback unmapped $sample{grant_unmaps} pages");
	my $per_group = $sample{grant_unmaps} / $sample{groups};
	for my $metric (qw(flushes_p2m_per_unmap flushes_iotlb_per_unmap)) {
		if ($arm eq "base") {
			cmp_ok(abs($sample{$metric} - 1), "<=", 0.02, "$arm: $metric $sample{$metric}");
		} else {
			cmp_ok($sample{$metric} * $per_group, "<=", 1.02,
				"$arm: at most one a group of $per_group ($metric $sample{$metric})");
		}
	}
	my $said = decode_json($workload);
	is($said->{wrong}, 0, "$arm: no wrong contents");
	cmp_ok($said->{checked_bytes}, ">", 0, "$arm: of $said->{checked_bytes} checked bytes");
	my ($checked, $failed) = map { @$_ } $lab->sql("SELECT checked, failed FROM v_check WHERE run = $run AND "
		. "name = 'order'", $id);
	ok($checked > 10_000 && !$failed, "$arm: each page was flushed before its release");
}

my $report = $lab->get("/api/v1/experiments/$id/report")->{content};
like($report, qr/throughput.*?emulated: a figure for real hosts/s, "the report says that throughput is no result here");

done_testing;
