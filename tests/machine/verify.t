#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# No arm ever leaves a stale mapping behind, and a kernel that does is caught in every boot.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Labd;
use Test::More;

my $lab  = Labd->new;
my $spec = Labd::spec("experiments/kvm-verify.json");
$spec->{rounds} = 2;
my $id = $lab->submit($spec);
is($lab->finish($id, 1500), "done", "the experiment completes") or diag $lab->log;
my $per_boot = @{ $spec->{scenarios} };
for my $boot ($lab->sql("SELECT boot, arm, state FROM v_boot WHERE experiment = :experiment", $id)) {
	my ($number, $arm, $state) = @$boot;
	my $good = $lab->value("SELECT count(*) FROM v_run WHERE boot = $number AND state = 'ok'");
	my $bad  = $lab->value("SELECT count(*) FROM v_run WHERE boot = $number AND state = 'failed'");
	if ($arm eq "noclear") {
		cmp_ok($bad, ">", 0, "boot $number of noclear has a failed run ($bad of $per_boot)");
		is($state, "workload-failed", "and says so");
	} else {
		is("$good $bad $state", "$per_boot 0 ok", "boot $number of $arm: every run passed");
	}
}
like($lab->value("SELECT reason FROM v_run WHERE arm = 'noclear' AND state = 'failed' LIMIT 1"), qr/\S/,
	"a failed run has a reason");

done_testing;
