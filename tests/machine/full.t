#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# A disk that fills up under a running experiment: the lab says so, waits, loses no finished run, counts
# nothing half-written, and goes on when there is space again.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use Labd;
use Test::More;

my $mount = tempdir(CLEANUP => 1);
plan skip_all => "cannot mount a tmpfs here" if system "mount -t tmpfs -o size=640m none $mount 2>/dev/null";
END { system "umount -l $mount 2>/dev/null" if $mount }

my $lab = Labd->new(data => "$mount/data");
my $id  = $lab->submit({
	name => "disk full", machine => "qemu", subject => "kvm", rounds => 1,
	arms => [ { name => "base", build => "kvm-base" }, { name => "hint", build => "kvm-hint" } ],
	scenarios => [ { name => "same4", workload => "kvm-churn",
		args => { mode => "same", chunk_mib => 4, rounds => 2000, mem_mib => 64, vcpus => 1 } } ],
	trace => { events => ["kvmmmu:kvm_tdp_mmu_zap_leafs"], buffer_kib_per_cpu => 4096 },
	metrics => [ { name => "zaps", event => "kvmmmu:kvm_tdp_mmu_zap_leafs", agg => "count", unit => "1" } ],
});

ok($lab->until(60, sub { $lab->value("SELECT count(*) FROM run WHERE state = 'running'") }), "a run measures");
system "dd if=/dev/zero of=$mount/fill bs=1M 2>/dev/null; dd if=/dev/zero of=$mount/rest bs=512 2>/dev/null";
my $reason = sub { $lab->get("/api/v1/experiments/$id")->{json}{reason} // "" };
ok($lab->until(60, sub { $lab->log =~ /waits for|full/i }), "the log says that the disk is full") or diag $lab->log;
is($lab->value("SELECT count(*) FROM run WHERE state = 'ok'"), 0, "nothing counts yet");

# Room for the books, not for a boot.
unlink "$mount/rest";
truncate "$mount/fill", 600 << 20;
ok($lab->until(60, sub { $reason->() =~ /waits: the data directory is full/ }), "the experiment says that it waits")
	or diag $lab->log, $lab->get("/api/v1/experiments/$id")->{content};

unlink "$mount/fill";
is($lab->finish($id, 200), "done", "with space it goes on to its end") or diag $lab->log;
is($reason->(), "", "and has nothing to complain of");
is($lab->value("SELECT count(*) FROM run WHERE state = 'ok' AND complete"), 2, "both runs are whole");
is($lab->value("SELECT count(*) FROM v_sample WHERE used AND value = 2000"), 2, "and count");
is(scalar(my @files = glob "$mount/data/captures/$id/*"), 2, "no half capture lies about");
$lab->stop;

done_testing;
