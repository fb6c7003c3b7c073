#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Boots that end badly: each in its own named state, with the console lines that show why, and the
# experiment goes on.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Labd;
use Test::More;

my $lab = Labd->new;

sub spec {
	my ($bad, %more) = @_;
	return {
		name => "base against $bad", machine => "qemu", subject => "kvm", rounds => 1, boot_timeout_s => 30,
		arms => [ { name => "base", build => "kvm-base" }, { name => "bad", build => $bad } ],
		scenarios => [ { name => "short", workload => "kvm-churn",
			args => { mode => "same", chunk_mib => 4, rounds => 20, mem_mib => 64, vcpus => 1 } } ],
		trace => { events => ["kvmmmu:kvm_tdp_mmu_zap_leafs"], buffer_kib_per_cpu => 4096, clock => "mono" },
		metrics => [ { name => "zaps", event => "kvmmmu:kvm_tdp_mmu_zap_leafs", agg => "count", unit => "1" } ],
		%more,
	};
}

# Runs base against a bad build; checks the state of the bad boot and that base was not held up by it.
sub ends_as {
	my ($what, $spec, $state, $detail, $console) = @_;
	subtest $what => sub {
		my $id = $lab->submit($spec);
		is($lab->finish($id, 300), "done", "the experiment goes on to its end") or diag $lab->log;
		my @bad = $lab->sql("SELECT b.state, b.detail FROM boot b JOIN slot s ON s.id = b.slot "
			. "WHERE s.experiment = $id AND s.arm = 'bad' ORDER BY b.id DESC LIMIT 1");
		is($bad[0][0], $state, "the boot's state") or diag explain \@bad;
		like($bad[0][1], $detail, "its detail");
		like($lab->value("SELECT json_quote(b.console_lines) FROM boot b JOIN slot s ON s.id = b.slot "
				. "WHERE s.experiment = $id AND s.arm = 'bad' ORDER BY b.id DESC LIMIT 1"),
			$console, "its console lines");
		is($lab->value("SELECT count(*) FROM v_run WHERE experiment = $id AND arm = 'base' AND state = 'ok'"), 1,
			"base ran");
		is($lab->value("SELECT count(*) FROM void_pair WHERE experiment = $id AND arm = 'bad'"), 1,
			"the pair is void");
		like($lab->get("/api/v1/experiments/$id/report")->{content}, qr/\Q$state\E/, "the report lists it");
	};
}

ends_as("a kernel that panics", spec("kvm-panic"), "panic", qr/panic/i, qr/lab: a kernel that does not boot/);
# Its own watchdog reports the stall 21 s after it began; the lab waits longer than that.
ends_as("a kernel that hangs", spec("kvm-hang", boot_timeout_s => 45), "hung", qr/stall/i, qr/stall/i);

my %base = %{ (grep { $_->{name} eq "kvm-base" } @{ builds() })[0] };
my %hint = %{ (grep { $_->{name} eq "kvm-hint" } @{ builds() })[0] };
is($lab->request("POST", "/api/v1/builds", { %base, name => "impostor", build_id => $hint{build_id} })->{status}, 201,
	"a build is registered");
ends_as("not the kernel that was asked for", spec("impostor"), "wrong-kernel", qr/\Q$hint{build_id}\E/,
	qr/lab-agent: build-id \Q$base{build_id}\E/);

sub builds {
	my $list = $lab->get("/api/v1/builds")->{json};
	return ref $list eq "HASH" ? $list->{builds} // $list->{items} : $list;
}

subtest "a workload that fails" => sub {
	my $spec = spec("kvm-base");
	$spec->{scenarios}[1] = { name => "wrong", workload => "kvm-churn", args => { mode => "upwards" } };
	my $id = $lab->submit($spec);
	is($lab->finish($id, 300), "done", "the experiment goes on");
	is($lab->value("SELECT count(*) FROM v_boot WHERE experiment = $id AND state = 'workload-failed'"), 2, "both boots");
	is($lab->value("SELECT count(*) FROM v_run WHERE experiment = $id AND scenario = 'wrong' AND state = 'failed'"), 2,
		"both runs failed");
	is($lab->value("SELECT count(*) FROM v_run WHERE experiment = $id AND scenario = 'short' AND state = 'ok'"), 2,
		"the other scenario's runs are good");
	like($lab->value("SELECT reason FROM v_run WHERE experiment = $id AND scenario = 'wrong' LIMIT 1"), qr/\S/,
		"with a reason");
	is($lab->value("SELECT count(*) FROM v_sample WHERE experiment = $id AND scenario = 'wrong' AND used"), 0,
		"no sample of a failed run is used");
	like($lab->get("/api/v1/experiments/$id/report")->{content}, qr/workload-failed/, "the report lists it");
};

subtest "a machine killed from outside" => sub {
	my $spec = spec("kvm-hint");
	$spec->{scenarios}[0]{args}{rounds} = 600;
	my $id = $lab->submit($spec);
	ok($lab->until(60, sub {
		$lab->value("SELECT count(*) FROM v_run WHERE experiment = $id AND state = 'running'");
	}), "a run is on");
	my $token = $lab->value("SELECT token FROM boot WHERE state = 'running'");
	system "pkill", "-KILL", "-f", "labd.token=$token";
	is($lab->finish($id, 300), "done", "the experiment goes on");
	my @boots = $lab->sql("SELECT state, detail FROM v_boot WHERE experiment = $id ORDER BY boot");
	is($boots[0][0], "lost-connection", "the killed boot's state") or diag explain \@boots;
	like($boots[0][1], qr/signal|killed/i, "its detail");
	is(scalar @boots, 3, "the slot was booted again");
	is($lab->value("SELECT count(*) FROM v_run WHERE experiment = $id AND state = 'ok'"), 2, "both runs finished");
	is($lab->value("SELECT count(*) FROM v_run WHERE experiment = $id AND state = 'interrupted'"), 1, "one was lost");
};

subtest "a cancelled experiment" => sub {
	my $id = $lab->submit(spec("kvm-hint"));
	$lab->until(60, sub { $lab->value("SELECT count(*) FROM v_boot WHERE experiment = $id") });
	my ($code, $out) = $lab->labctl("cancel", $id);
	is($code, 0, "labctl cancel") or diag $out;
	is($lab->finish($id, 60), "cancelled", "it ends as cancelled");
	like($lab->get("/api/v1/experiments/$id")->{content}, qr/cancelled/, "and says so");
};

done_testing;
