#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# What a wrong series does: no flush at all must be caught in every run, a flush that fails must leak the group's
# pages and leave dom0 alive, a fault in the middle of a group must close it. docs/xen-safety.md says what each
# of these can show here.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Labd;
use Test::More;

my $lab = Labd->new;

sub run_spec {
	my ($arms, $scenarios, %more) = @_;
	my $end  = delete $more{end} // "done";
	my $spec = Labd::descriptive(Labd::spec("experiments/xen-grant-batch.json"));
	$spec->{arms}      = [ map { { name => $_, build => "xen-$_" } } @$arms ];
	$spec->{scenarios} = $scenarios;
	$spec->{rounds}    = 1;
	$spec->{$_}        = $more{$_} for keys %more;
	my $id = $lab->submit($spec);
	is($lab->finish($id, 600), $end, "@$arms: the experiment ends as $end") or BAIL_OUT($lab->log);
	return $id;
}

my $churn = { name => "grant32", workload => "grant-churn", args => { batch => 32, batches => 100, warmup => 10 } };
my $churn8 = { name => "grant8", workload => "grant-churn", args => { batch => 8, batches => 100, warmup => 10 } };
my $watch = { name => "watch1", workload => "grant-churn",
	args => { batch => 1, batches => 200, warmup => 10, watch => JSON::PP::true } };
my $fault = { name => "fault", workload => "grant-fault", args => {} };

subtest "no flush at all" => sub {
	my $id = run_spec([ "batch", "noflush" ], [ $churn, $churn8, $watch ]);
	my @runs = $lab->sql("SELECT r.arm, r.scenario, r.state, r.reason, c.checked, c.failed, "
		. "json_extract(w.workload, '\$.wrong') FROM v_run r JOIN run w ON w.id = r.run JOIN v_check c ON "
		. "c.run = r.run AND c.name = 'order' WHERE r.experiment = :experiment ORDER BY r.run", $id);
	is(scalar @runs, 6, "six runs");
	for my $run (@runs) {
		my ($arm, $scenario, $state, $reason, $checked, $failed, $wrong) = @$run;
		cmp_ok($checked, ">", 0, "$arm, $scenario: $checked pages were checked");
		if ($arm eq "noflush") {
			# Flushes for other reasons happen to cover a few.
			cmp_ok($failed, ">=", 0.9 * $checked, "pages of noflush were released without a flush ($failed)");
			is($state, "failed", "which fails the run");
			like($reason, $wrong ? qr/code 1/ : qr/order/, "and the reason says so: $reason");
			# Linux flushes its own address when a page goes, so plain contents have nothing to show.
			cmp_ok($wrong, $scenario eq "watch1" ? ">" : ">=", 0, "$scenario: contents say $wrong");
		} else {
			is($failed, 0, "batch: all in order");
			is($state, "ok", "a good run");
			is($wrong, 0, "with good contents");
		}
	}
	is($lab->value("SELECT count(*) FROM void_pair WHERE experiment = :experiment", $id) > 0, 1, "no pair is compared");
};

subtest "a flush that fails" => sub {
	my %args = (%{ $churn->{args} }, leaks_ok => JSON::PP::true);
	my $id   = run_spec([ "batch", "failflush" ], [ { %$churn, args => \%args } ], xen_cmdline => "gnttab-fail-flush=10");
	my ($groups, $leaked) = map { @$_ } $lab->sql("SELECT count(*), total(b.status & 2 <> 0) FROM "
		. "events.ev_xen_grant_unmap_batch b JOIN v_run r ON r.run = b.run WHERE r.arm = 'failflush'", $id);
	cmp_ok($leaked, ">", 0, "groups leak ($leaked of $groups)");
	cmp_ok($leaked, "<", $groups, "and others do not");
	is($lab->value("SELECT failed FROM v_check WHERE experiment = :experiment AND arm = 'failflush' AND "
			. "name = 'order'", $id), 0, "no page of theirs was released");
	is($lab->value("SELECT count(*) FROM events.ev_xen_grant_release g JOIN v_run r ON r.run = g.run WHERE "
			. "r.arm = 'failflush'", $id), $groups - $leaked, "a release for each group that did not leak");
	cmp_ok($lab->value("SELECT json_extract(w.workload, '\$.leaked') FROM run w JOIN v_run r ON r.run = w.id WHERE "
			. "r.experiment = :experiment AND r.arm = 'failflush'", $id), ">", 0,
		"the granting domain does not get their pages back");
	is($lab->value("SELECT state FROM v_boot WHERE experiment = :experiment AND arm = 'failflush'", $id), "ok",
		"dom0 lives and powers off");
};

subtest "a fault in the middle of a group" => sub {
	my $id = run_spec([ "base", "batch" ], [$fault]);
	for my $arm (qw(base batch)) {
		my ($state, $workload, $reason) = map { @$_ } $lab->sql("SELECT r.state, w.workload, r.reason FROM v_run r JOIN "
			. "run w ON w.id = r.run WHERE r.experiment = :experiment AND r.arm = '$arm'", $id);
		is($state, "ok", "$arm: the run is good") or diag $reason;
		my $said = decode_json($workload);
		is($said->{returned}, -14, "$arm: the hypercall returned -EFAULT");
		ok($said->{next_group_ok}, "$arm: the next group is normal");
		my @groups = map { $_->[0] } $lab->sql("SELECT b.status || ':' || b.ops FROM events.ev_xen_grant_unmap_batch b "
			. "JOIN v_run r ON r.run = b.run WHERE r.arm = '$arm' ORDER BY b.tsc", $id);
		my @faulted = grep { /^1:/ } @groups;
		is(scalar @faulted, $said->{faults} // 1, "$arm: groups that ended by the fault (@groups)");
		is($faulted[0], "1:$said->{unmapped}", "$arm: it had unmapped as many as the workload says");
		is($lab->value("SELECT min(checked > 0 AND failed = 0) FROM v_check WHERE experiment = :experiment AND "
				. "arm = '$arm' AND name = 'order'", $id), 1, "$arm: flushed before release");
	}
};

# Xen itself gives up, long before there is a dom0 to say so.
subtest "a Xen that panics" => sub {
	my $id = run_spec([ "base", "batch" ], [$churn], xen_cmdline => "dom0_mem=1M,max:1M", end => "failed");
	my @boots = $lab->sql("SELECT state, detail FROM v_boot WHERE experiment = :experiment", $id);
	cmp_ok(scalar @boots, ">=", 1, "there was a boot");
	for my $boot (@boots) {
		is($boot->[0], "panic", "it ended as a panic");
		like($boot->[1], qr/Panic on CPU/, "and says where: $boot->[1]");
	}
};

done_testing;
