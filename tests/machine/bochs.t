#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Boots of the machine whose clock counts instructions: one that goes well, and each bad end in its named state.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use JSON::PP;
use Labd;
use Test::More;

sub spec {
	my ($arms, %more) = @_;
	return {
		name => "Bochs: @$arms", machine => "bochs", subject => "kvm", rounds => 1, boot_timeout_s => 20,
		arms => [ map { { name => $_, build => "kvm-$_" } } @$arms ],
		scenarios => [ { name => "short", workload => "kvm-churn",
			args => { mode => "same", chunk_mib => 4, rounds => 20, mem_mib => 64, vcpus => 1 } } ],
		trace => { events => ["kvmmmu:kvm_tdp_mmu_zap_leafs"], buffer_kib_per_cpu => 4096, clock => "mono" },
		metrics => [ { name => "zaps", event => "kvmmmu:kvm_tdp_mmu_zap_leafs", agg => "count", unit => "1" } ],
		%more,
	};
}

# The boots of an arm, first to last: {state, detail, lines, console}.
sub boots {
	my ($lab, $id, $arm) = @_;
	return map { { state => $_->[0], detail => $_->[1], lines => $_->[2], console => $_->[3] } } $lab->sql(
		"SELECT b.state, b.detail, json_quote(b.console_lines), v.console FROM boot b JOIN v_boot v ON v.boot = b.id "
			. "WHERE v.experiment = $id AND v.arm = '$arm' ORDER BY b.id");
}

sub console {
	my ($lab, $boot) = @_;
	open my $fh, "<", "$lab->{data}/$boot->{console}" or die "$boot->{console}: $!";
	local $/;
	return <$fh>;
}

sub children {
	my $pid = shift;
	return map { chomp; $_ } `pgrep -P $pid`;
}

my $lab = Labd->new;
my $id  = $lab->submit(spec([qw(base panic hang)]));
is($lab->finish($id, 500), "done", "good and bad kernels: the experiment goes on to its end") or diag $lab->log;

subtest "a boot that goes well" => sub {
	my @boots = boots($lab, $id, "base");
	is($boots[0]{state}, "ok", "its state") or diag explain \@boots;
	is($lab->value("SELECT count(*) FROM v_run WHERE experiment = $id AND arm = 'base' AND state = 'ok'"), 1,
		"its run");
	cmp_ok($lab->value("SELECT value FROM v_sample WHERE experiment = $id AND arm = 'base' AND metric = 'zaps'") // 0,
		">=", 20, "the workload was recorded");
	my $text = console($lab, $boots[0]);
	like($text, qr/Command line: .*norandmaps random\.trust_cpu=off .*labd\.channel=disk labd\.token=[0-9a-f]{32}/,
		"the kernel's command line");
	like($text, qr/^\[ *\d+\.\d+\] machine: \d+ virtual seconds$/m, "its time stands beside the host's");
	unlike($text, qr/------------\[ cut here \]------------/, "no warning of the kernel");
	like($lab->value("SELECT json_extract(machine_json, '\$.clock') FROM experiment WHERE id = $id"),
		qr/^instructions at 100 MIPS, emulated;/, "the clock is stored");
};

subtest "a kernel that panics" => sub {
	my @boots = boots($lab, $id, "panic");
	is($boots[-1]{state}, "panic", "its state") or diag explain \@boots;
	like($boots[-1]{detail}, qr/panic/i, "its detail");
	like($boots[-1]{lines}, qr/lab: a kernel that does not boot/, "its lines");
};

# Its only CPU takes no interrupts, so no watchdog speaks, and virtual time goes on.
subtest "a kernel that hangs" => sub {
	my @boots = boots($lab, $id, "hang");
	is($boots[-1]{state}, "boot-timeout", "its state") or diag explain \@boots;
	is($boots[-1]{detail}, "The agent did not say hello within 20 s of power-on.", "its detail");
	like(console($lab, $boots[-1]), qr/machine: 15 virtual seconds.*labd: The agent did not/s, "in virtual seconds");
};

subtest "a machine killed from outside" => sub {
	my $spec = spec([qw(base hint)]);
	$spec->{scenarios}[0]{args}{rounds} = 800;
	my $experiment = $lab->submit($spec);
	my @bochs;
	ok($lab->until(120, sub {
		@bochs = map { children($_) } children($lab->{pid});
		$lab->value("SELECT count(*) FROM v_run WHERE experiment = $experiment AND arm = 'base' AND state = 'running'") && @bochs;
	}), "base's run is on");
	kill "KILL", @bochs;
	is($lab->finish($experiment, 500), "done", "the experiment goes on");
	my @boots = boots($lab, $experiment, "base");
	is($boots[0]{state}, "lost-connection", "the killed boot's state") or diag explain \@boots;
	like($boots[0]{detail}, qr/killed by signal 9/, "its detail");
	is($boots[-1]{state}, "ok", "the slot was booted again");
	is($lab->value("SELECT count(*) FROM v_run WHERE experiment = $experiment AND state = 'ok'"), 2, "both runs finished");
};

is(join(" ", glob "$lab->{data}/run/*"), "", "nothing is left in the folder for boots");
is(join(" ", map { children($_) } children($lab->{pid})), "", "and no process");
undef $lab;

subtest "a disk that is full" => sub {
	my $small = Labd->new(env => { LABD_BOCHS_DISK_MB => 1 });
	my $spec = spec([qw(base hint)]);
	$spec->{trace}{events} = [qw(kvmmmu:kvm_tdp_mmu_zap_leafs kvm:kvm_exit kvm:kvm_entry sched:sched_switch)];
	$spec->{scenarios}[0]{args}{rounds} = 1600;
	my $experiment = $small->submit($spec);
	is($small->finish($experiment, 300), "failed", "no run of the experiment can finish");
	my @boots = boots($small, $experiment, "base");
	is($boots[0]{state}, "workload-failed", "the boot's state") or diag explain \@boots;
	is($boots[0]{detail}, "What the agent sent does not fit the machine's disk image.", "its detail");
};

done_testing;
