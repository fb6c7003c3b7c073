#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Grant unmaps of a PVH dom0 on real machines: base and batch, the counts that the series promises, each of them
# held against its sources: the workload, an independent decoder, QEMU's own count of what reached its IOMMU.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Digest::SHA;
use File::Temp qw(tempdir);
use JSON::PP;
use Labd;
use Test::More;
use Xentrace;

my $dir = tempdir(CLEANUP => 1);

# QEMU, telling in a file per boot what its IOMMU was told.
open my $fh, ">", "$dir/qemu" or die "$dir/qemu: $!";
print $fh <<"SH";
#!/bin/sh
case " \$* " in
*" amd-iommu"*) exec qemu-system-x86_64 "\$@" -msg timestamp=on -trace amdvi_pages_inval -D "$dir/iommu-\$\$.log" ;;
esac
exec qemu-system-x86_64 "\$@"
SH
close $fh;
chmod 0755, "$dir/qemu" or die "$dir/qemu: $!";

my $lab  = Labd->new(env => { LABD_QEMU => "$dir/qemu" });
my $spec = Labd::descriptive(Labd::spec("experiments/xen-grant-batch.json"));
$spec->{arms}      = [ grep { $_->{name} =~ /^(base|batch)$/ } @{ $spec->{arms} } ];
$spec->{scenarios} = [ grep { $_->{name} =~ /^grant(1|32)$/ } @{ $spec->{scenarios} } ];
$spec->{rounds}    = 2;
$_->{args}{batches} /= 2 for @{ $spec->{scenarios} };
push @{ $spec->{trace}{events} }, "syscalls:sys_enter_munmap";
my %batches = map { $_->{name} => $_->{args}{batches} } @{ $spec->{scenarios} };
my $id      = $lab->submit($spec);
is($lab->finish($id, 900), "done", "the experiment completes") or BAIL_OUT($lab->log);
diag($_) for $lab->bad_ends($id);

sub values_of {
	my ($metric, $scenario, $arm) = @_;
	return map { $_->[0] } $lab->sql("SELECT value FROM v_sample WHERE experiment = :experiment AND used AND "
		. "metric = '$metric' AND scenario = '$scenario' AND arm = '$arm' ORDER BY round", $id);
}

subtest "flushes per unmapped page" => sub {
	for my $metric (qw(flushes_p2m_per_unmap flushes_iotlb_per_unmap)) {
		for my $arm (qw(base batch)) {
			for my $scenario (qw(grant1 grant32)) {
				my @v = values_of($metric, $scenario, $arm);
				is(scalar @v, 2, "$metric, $scenario, $arm: a value of each round") or next;
				for my $value (@v) {
					if ($arm eq "batch" && $scenario eq "grant32") {
						cmp_ok($value, "<=", 0.035, "$metric, $scenario, $arm: $value");
						cmp_ok($value, ">",  0,     "and the group's flush is there");
					} else {
						cmp_ok(abs($value - 1), "<=", 0.02, "$metric, $scenario, $arm: $value");
					}
				}
			}
		}
	}
	my @base  = values_of("batch_median", "grant32", "base");
	my @batch = values_of("batch_median", "grant32", "batch");
	cmp_ok($batch[$_], "<", $base[$_], "grant32, round $_: a group takes less time with batch") for 0, 1;
};

subtest "nothing is lost, everything is checked" => sub {
	is($lab->value("SELECT count(*) FROM v_run WHERE experiment = :experiment AND state = 'ok'", $id), 8, "8 good runs");
	is($lab->value("SELECT total(lost) FROM v_run WHERE experiment = :experiment", $id), "0.0", "loss 0");
	is($lab->value("SELECT count(*) FROM v_run WHERE experiment = :experiment AND complete", $id), 8,
		"each CPU's buffers were read to their end");
	is($lab->value("SELECT count(DISTINCT run || source || cpu) FROM ring WHERE source = 'xen'"), 16,
		"and Xen's books are of two CPUs in each run");
	for my $check (qw(order unmaps)) {
		is($lab->value("SELECT count(*) FROM v_check WHERE experiment = :experiment AND name = '$check' "
				. "AND checked > 0 AND failed = 0", $id), 8, "$check holds in each run");
	}
	is($lab->value("SELECT count(*) FROM void_pair"), 0, "no pair is void");
	is($lab->value("SELECT count(*) FROM v_run r JOIN run w ON w.id = r.run JOIN run_event e ON e.run = r.run "
			. "AND e.event = 'xen:page_grant_unmap' WHERE e.count <> json_extract(w.workload, '\$.unmaps')"),
		0, "GRANT_UNMAP records equal the workload's unmaps");
};

subtest "an independent decoder counts the same" => sub {
	for my $run ($lab->sql("SELECT run, arm, xen_capture, xen_sha256 FROM v_run WHERE experiment = :experiment AND "
			. "round = 2 ORDER BY run", $id)) {
		my ($number, $arm, $capture, $sha) = @$run;
		my $path = "$lab->{data}/$capture";
		is(Digest::SHA->new(256)->addfile($path)->hexdigest, $sha, "$arm: sha256 of the capture");
		my $count = Xentrace::count($path);
		my %stored = map { @$_ } $lab->sql("SELECT event, count FROM run_event WHERE run = $number AND "
			. "event LIKE 'xen:%' AND count > 0", $id);
		my %want = (0x10f001 => "page_grant_map", 0x10f002 => "page_grant_unmap", 0x10f020 => "p2m_flush",
			0x10f021 => "iotlb_flush", 0x10f022 => "grant_unmap_batch", 0x10f023 => "grant_unmap_gfn",
			0x10f024 => "grant_release", 0x800f1ab => "anchor");
		is($stored{"xen:$want{$_}"} // 0, $count->{$_} // 0, "run $number, $arm: $want{$_}") for sort keys %want;
		my $all = 0;
		$all += $count->{$_} for keys %$count;
		my $rows = 0;
		$rows += $_ for values %stored;
		is($rows, $all, "run $number, $arm: as many records in all");
	}
};

# While dom0 starts there are some thousand more; QEMU's lines have the host's time, and so have the runs. In each
# run xentrace lets go of the trace buffers, when nothing is traced any more: 1024 pages of each CPU.
subtest "QEMU's IOMMU counts the same" => sub {
	my @seen;
	for my $name (glob "$dir/iommu-*.log") {
		open my $log, "<", $name or die "$name: $!";
		/^\d+\@(\d+\.\d+):amdvi_pages_inval/ and push @seen, $1 while <$log>;
	}
	for my $run ($lab->sql("SELECT r.run, r.arm || ', ' || r.scenario, w.started / 1e9, w.ended / 1e9, (SELECT count(*) "
			. "FROM events.ev_xen_iotlb_flush e WHERE e.run = r.run AND e.sent) FROM v_run r JOIN run w ON "
			. "w.id = r.run WHERE r.experiment = :experiment", $id)) {
		my ($number, $what, $from, $to, $sent) = @$run;
		my $seen = -2 * 1024 + grep { $_ >= $from && $_ <= $to } @seen;
		cmp_ok($sent, ">", 0, "run $number, $what: Xen sent $sent");
		cmp_ok(abs($seen / ($sent || 1) - 1), "<=", 0.05, "and QEMU saw $seen");
	}
};

subtest "one axis of time" => sub {
	is($lab->value("SELECT count(*) FROM events.xen_clock WHERE tsc_khz > 0 AND bracket_ns > 0 AND "
			. "abs(measured_khz / (1.0 * tsc_khz) - 1) < 0.01", $id), 8, "each run has its clock relation");
	is($lab->value("SELECT count(*) FROM v_run v JOIN run r ON r.id = v.run WHERE NOT EXISTS (SELECT 1 FROM "
			. "events.ev_xen_grant_unmap_batch b WHERE b.run = v.run AND b.ts_ns BETWEEN "
			. "json_extract(r.done_json, '\$.started_ns') AND json_extract(r.done_json, '\$.ended_ns'))", $id),
		0, "groups lie between the start and the end that dom0's clock gives");
	is($lab->value("SELECT count(*) FROM v_run v JOIN run r ON r.id = v.run JOIN events.ev_xen_grant_unmap_batch b ON "
			. "b.run = v.run WHERE b.ts_ns NOT BETWEEN json_extract(r.done_json, '\$.started_ns') AND "
			. "json_extract(r.done_json, '\$.ended_ns')", $id), 0, "all of them");
	# dom0's kernel is traced from the first measured batch on; each batch is a munmap() and then its groups.
	for my $run ($lab->sql("SELECT v.run, v.scenario, (SELECT count(*) FROM events.ev_syscalls_sys_enter_munmap m WHERE "
			. "m.run = v.run), (SELECT count(*) FROM events.ev_syscalls_sys_enter_munmap m WHERE m.run = v.run AND "
			. "m.ts_ns BETWEEN (SELECT min(ts_ns) FROM events.ev_xen_grant_unmap_batch b WHERE b.run = v.run) AND "
			. "(SELECT max(ts_ns) FROM events.ev_xen_grant_unmap_batch b WHERE b.run = v.run)) FROM v_run v WHERE "
			. "v.experiment = :experiment", $id)) {
		my ($number, $scenario, $all, $among) = @$run;
		cmp_ok($all, ">=", $batches{$scenario}, "run $number, $scenario: dom0's kernel saw $all munmap()s");
		cmp_ok($among, ">=", 0.9 * $batches{$scenario}, "$among of them among Xen's groups");
	}
};

subtest "docs/sql.md" => sub {
	my @queries = Labd::doc_queries("xen");
	cmp_ok(scalar @queries, ">=", 5, "at least five queries for Xen");
	for my $query (@queries) {
		my @rows = eval { $lab->sql($query->{sql}, $id) };
		is($@, "", "$query->{title}: runs");
		ok($query->{may_be_empty} || @rows, "$query->{title}: " . @rows . " rows");
	}
};

subtest "what people see" => sub {
	my $report = $lab->get("/api/v1/experiments/$id/report")->{content};
	like($report, qr/emulated/i, "the report says that the machine was emulated");
	like($report, qr/xen 4\.17/i, "and which hypervisor ran");
	my ($boot) = map { $_->[0] } $lab->sql("SELECT min(boot) FROM v_boot WHERE experiment = :experiment", $id);
	my $console = $lab->get("/api/v1/boots/$boot/console")->{content};
	like($console, qr/\(XEN\)/, "the console has Xen's lines");
	like($console, qr/Linux version/, "and dom0's");
	my $xen = $lab->get("/api/v1/boots/$boot/console?source=xen")->{content};
	# What dom0 says before it has found its own port comes by Xen's.
	unlike($xen, qr/Run \/init/, "which can be told apart");
	like($xen, qr/\(XEN\)/, "both ways");
	my ($run) = map { $_->[0] } $lab->sql("SELECT min(run) FROM v_run WHERE experiment = :experiment", $id);
	is(length $lab->get("/api/v1/runs/$run/xentrace")->{content},
		$lab->value("SELECT xen_bytes FROM run WHERE id = $run"), "the xentrace stream can be had");
	unlike($lab->get("/api/v1/runs/$run/capture")->{content}, qr/grant-churn/,
		"dom0's capture has no names, for which the scheduler would have been patched");
	my ($compare) = grep { $_->{metric} eq "flushes_p2m_per_unmap" && $_->{scenario} eq "grant32" }
		@{ $lab->get("/api/v1/experiments/$id/results")->{json}{compare} };
	cmp_ok($compare->{delta}, "<=", -0.96, "the API's delta of grant32: $compare->{delta}");
};

done_testing;
