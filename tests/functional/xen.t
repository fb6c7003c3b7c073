#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Experiments on Xen, with a machine that is played: what submit refuses, and what becomes of runs whose streams are
# good, lack a flush, lack an unmap, lost records, were not read to their end, or never came.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Digest::SHA qw(sha256_hex);
use File::Temp qw(tempdir);
use JSON::PP;
use Labd;
use Storable qw(dclone);
use Test::More;
use Xentrace;

my $dir = tempdir(CLEANUP => 1);
my ($kernel_id, $xen_id) = ("ab" x 20, "cd" x 20);
mkdir "$dir/$_" for qw(builds images);

sub put {
	my ($file, $bytes) = @_;
	open my $fh, ">:raw", "$dir/$file" or die "$dir/$file: $!";
	print $fh $bytes;
	close $fh;
	return "$dir/$file";
}

# One group of two pages: unmapped, flushed, released. The flush of the IOMMU may be missing.
sub group {
	my ($tsc, $flushed) = @_;
	my @records = (
		[ 0x10f023, 0, 5, 0, 0 ], [ 0x10f002, 0 ], [ 0x10f023, 0, 9, 0, 0 ], [ 0x10f002, 0 ],
		[ 0x10f020, 0, 0, 1, 1 ], $flushed ? [ 0x10f021, 0, 0, 0, 0, 16, 1, 0 ] : (),
		[ 0x10f024, 0, 2, 3 ], [ 0x10f022, 0, 2, 1, 1, 0, 1000, 0 ]);
	return map { Xentrace::record(shift @$_, $tsc += 100, @$_) } @records;
}

# A run's stream: ten groups on one CPU, on the other what the arm adds. Each CPU ends with an anchor, or was not read
# to its end.
sub stream {
	my ($flushed, $closed, @more) = @_;
	return Xentrace::window(0, Xentrace::anchors(0, map { 2_000_000 + 1000 * $_ } 0 .. 3),
			map { group(3_000_000 + 4000 * $_, $flushed || $_ != 4) } 0 .. 9)
		. Xentrace::window(1, @more, Xentrace::record(0x2f001, 3_500_000, 1))
		. Xentrace::window(0, Xentrace::anchors(4, map { 9_000_000 + 1000 * $_ } 0 .. 3))
		. ($closed ? Xentrace::window(1, Xentrace::anchors(8, 9_010_000, 9_011_000)) : "");
}

my %streams = (
	good    => stream(1, 1),
	noflush => stream(0, 1),
	short   => stream(1, 1, Xentrace::record(0x10f002, 3_400_000, 0)),
	lossy   => stream(0, 1, Xentrace::record(0x1f001, 3_400_000, 42, 0, 3_300_000, 0)),
	cut     => stream(1, 0),
	bare    => undef,
);
put("bzImage", "a kernel");
put("cpio", "an image");
for my $name (sort keys %streams) {
	put("$name.xentrace", $streams{$name}) if defined $streams{$name};
	put("builds/xen-$name.json", encode_json({ name => "xen-$name", subject => "xen", kernel => "$dir/bzImage",
		build_id => $kernel_id, hypervisor => put($name, "Xen"), hypervisor_build_id => $xen_id }));
}
put("builds/xen-none.json",
	encode_json({ name => "xen-none", subject => "xen", kernel => "$dir/bzImage", build_id => $kernel_id }));
put("images/xen.json", encode_json({ name => "xen", image => "$dir/cpio", sha256 => "ef" x 32,
	files => [ { path => "/bin/grant-churn", sha256 => "ef" x 32 } ] }));

my $lab = Labd->new(args => [ "--builds", "$dir/builds", "--images", "$dir/images" ], env => {
	LABD_QEMU => "$Labd::top/tests/lib/fake-qemu", FAKE_BUILD_ID => $kernel_id, FAKE_HYPERVISOR_ID => $xen_id,
	FAKE_CAPTURE => "$Labd::top/tests/fuzz/seeds/fuzz_tracedat/sched.dat", FAKE_WORKLOAD => '{"unmaps": 20}' });
my $spec = Labd::descriptive(Labd::spec("experiments/xen-grant-batch.json"));
$spec->{rounds}    = 1;
$spec->{scenarios} = [ $spec->{scenarios}[0] ];
$spec->{arms}      = [ map { { name => $_, build => "xen-$_" } } qw(good noflush short lossy cut bare) ];
splice @{ $spec->{arms} }, 1, 0, { name => "same", build => "xen-good" };

sub without {
	$_[0]{arms} = [ map { { name => $_, build => "xen-none" } } qw(a b) ];
	return $_[0];
}

for my $case (
	[ "arms with and without", "arms[1].build",
		qr/"xen-none" has no hypervisor and build "xen-good" of arm good has one: all arms/,
		sub { $_[0]{arms}[1]{build} = "xen-none" } ],
	[ "arms without and with", "arms[1].build",
		qr/"xen-good" has a hypervisor and build "xen-none" of arm good has none/,
		sub { $_[0]{arms}[0]{build} = "xen-none" } ],
	[ "Xen's events without Xen", "trace", qr/builds have no hypervisor/, sub { without($_[0]) } ],
	[ "a mask without Xen", "trace", qr/builds have no hypervisor/,
		sub { without($_[0])->{trace} = { xen_mask => "0x2f000" }; $_[0]{metrics} = [ $_[0]{metrics}[3] ] } ],
	[ "a command line without Xen", "xen_cmdline", qr/builds have no hypervisor/,
		sub { without($_[0])->{xen_cmdline} = "iommu=verbose" } ],
	[ "an unknown record", "trace.events[2]", qr/no record xen:zap; known here are page_grant_map, /,
		sub { $_[0]{trace}{events}[2] = "xen:zap" } ],
	[ "another clock for both", "trace.clock", qr/mono/,
		sub { $_[0]{trace}{clock} = "global"; push @{ $_[0]{trace}{events} }, "sched:sched_switch" } ],
	) {
	my ($name, $key, $detail, $change) = @$case;
	my $changed = dclone($spec);
	$change->($changed);
	my $r = $lab->request("POST", "/api/v1/experiments", $changed);
	is($r->{status}, 422, "$name: refused");
	is($r->{json}{key}, $key, "$name: names the key");
	like($r->{json}{detail} // "", $detail, "$name: " . ($r->{json}{detail} // ""));
}
is($lab->value("SELECT count(*) FROM experiment"), 0, "nothing was stored");

my $build = decode_json(encode_json({ name => "xen-new", subject => "xen", kernel => "/k", build_id => $kernel_id,
	hypervisor => "/x", hypervisor_build_id => $xen_id }));
for my $case (
	[ "a hypervisor without its build-id", "hypervisor_build_id", qr/is missing/, sub { delete $_[0]{hypervisor_build_id} } ],
	[ "a build-id without its hypervisor", "hypervisor", qr/is missing/, sub { delete $_[0]{hypervisor} } ],
	[ "a hypervisor nowhere", "hypervisor", qr/absolute path/, sub { $_[0]{hypervisor} = "xen" } ],
	[ "a build-id that is none", "hypervisor_build_id", qr/hypervisor's GNU build-id/,
		sub { $_[0]{hypervisor_build_id} = "xyz" } ],
	[ "a hypervisor that is no text", "hypervisor", qr/string/, sub { $_[0]{hypervisor} = 5 } ],
	) {
	my ($name, $key, $detail, $change) = @$case;
	my $changed = dclone($build);
	$change->($changed);
	my $r = $lab->request("POST", "/api/v1/builds", $changed);
	is($r->{status}, 422, "$name: refused");
	is($r->{json}{key}, $key, "$name: names the key");
	like($r->{json}{detail} // "", $detail, "$name: " . ($r->{json}{detail} // ""));
}
is($lab->request("POST", "/api/v1/builds", $build)->{status}, 201, "a good one is taken");

# The experiment.
my $id = $lab->submit($spec);
is($lab->finish($id, 120), "done", "the experiment is done") or diag $lab->log;
my %run = map { $_->[1] => $_->[0] } $lab->sql("SELECT run, arm FROM v_run WHERE experiment = :experiment", $id);
is(join(" ", map { "@$_" } $lab->sql("SELECT arm, state FROM v_run ORDER BY arm", $id)),
	"bare failed cut ok good ok lossy ok noflush failed same ok short failed", "the bad streams fail their runs");
is($lab->value("SELECT group_concat(DISTINCT state) FROM v_boot WHERE arm <> 'bare'", $id), "ok",
	"a bad stream is not its boot's fault");
is($lab->value("SELECT state FROM v_boot WHERE arm = 'bare'", $id), "workload-failed", "one that never came is");
is($lab->value("SELECT group_concat(DISTINCT hypervisor_build_id) FROM v_boot", $id), $xen_id, "each boot's Xen is known");
is(join(" ", map { "@$_" } $lab->sql("SELECT arm, name, checked, failed FROM v_check ORDER BY arm, name", $id)),
	join(" ", "cut order 20 0", "cut unmaps 20 0", "good order 20 0", "good unmaps 20 0", "lossy order 20 0", "lossy unmaps 20 0", "noflush order 20 2",
		"noflush unmaps 20 0", "same order 20 0", "same unmaps 20 0", "short order 20 0", "short unmaps 20 1"),
	"what was checked");
like($lab->value("SELECT detail FROM v_check WHERE arm = 'lossy' AND name = 'order'", $id),
	qr/^42 records of Xen were lost: not judged; 10 groups released/, "records that are lost fail no check");

# Its events.
my $groups = $lab->value("SELECT count(*) || ' ' || sum(ops) || ' ' || sum(p2m_flushes)
	FROM events.ev_xen_grant_unmap_batch WHERE run = $run{good}", $id);
is($groups, "10 20 10", "groups are in the events");
is($lab->value("SELECT min(ts_ns) FROM events.ev_xen_grant_unmap_gfn WHERE run = $run{good}", $id), 1_500_050,
	"on dom0's clock");
is($lab->value("SELECT count(*) FROM events.ev_xen_iotlb_flush WHERE run = $run{noflush}", $id), 9, "one flush is missing");
is($lab->value("SELECT lost || ' ' || cause || ' ' || cpu FROM v_loss WHERE source = 'xen'", $id),
	"42 xentrace buffer full 1", "the loss is in the lab's books");

# Its captures.
my $r = $lab->get("/api/v1/runs/$run{good}/xentrace");
is($r->{status}, 200, "the stream is sent");
ok($r->{content} eq $streams{good}, "as it came");
is($r->{headers}{"content-type"}, "application/octet-stream", "as bytes");
my $row = $lab->get("/api/v1/runs/$run{noflush}")->{json};
is($row->{xen_bytes}, length $streams{noflush}, "a run says its size");
is($row->{xen_sha256}, sha256_hex($streams{noflush}), "and its hash");
my $broken = "order: 2 of 20 unmapped pages were released before a flush";
is($row->{reason}, $broken, "and why it failed");
my ($check) = grep { $_->{name} eq "order" } @{ $row->{checks} };
is($check->{failed}, 2, "with the check");
like($check->{detail}, qr/2 pages without an IOTLB flush/, "in detail: $check->{detail}");
is($lab->get("/api/v1/runs/$_/xentrace")->{status}, 404, "run $_ has no stream") for $run{bare}, 99;

# What is told of it.
my $results = $lab->get("/api/v1/experiments/$id/results")->{json};
my %void = map { $_->{arm} => $_->{reason} } @{ $results->{void_pairs} };
is($void{noflush}, "run $run{noflush}: $broken", "the void pair says the reason");
is($void{short}, "run $run{short}: unmaps: the workload made 20 unmaps, Xen saw 21", "of the other check as well");
is($void{lossy}, "run $run{lossy}: lost 42 events", "and what was lost");
is($void{cut}, "run $run{cut}: Xen's buffer of CPU 1 was not read to its end", "and what was not read");
is($void{bare}, "run $run{bare}: the agent sent no trace of Xen", "and what never came");
is(join(" ", sort keys %void), "bare cut lossy noflush short", "good runs are no void pairs");
is_deeply([ sort { $a <=> $b } @{ $results->{rings}{incomplete} } ], [ sort { $a <=> $b } @run{qw(cut bare)} ],
	"and no other capture is incomplete");
my ($ratio) = grep { $_->{metric} eq "flushes_p2m_per_unmap" && $_->{arm} eq "same" } @{ $results->{results} };
is($ratio->{median}, 0.5, "a figure of Xen's events");
is($results->{losses}[0]{source}, "xen", "a loss says whose CPU it was");
my $report = $lab->get("/api/v1/experiments/$id/report")->{content};
like($report =~ s/\s+/ /gr, qr/noflush: run $run{noflush}: \Q$broken\E/, "the report has the reason");
like($report, qr/Xen's CPU 1: 42 events \(xentrace buffer full\)/, "and the loss");
like($report, qr/run $run{cut} \(cut, grant1\), Xen's CPU 1: .*, not read to the buffer's end/, "and the cut");

# The documented queries.
for my $query (Labd::doc_queries("xen")) {
	my @rows = eval { $lab->sql($query->{sql}, $id) };
	is($@, "", "docs/sql.md, $query->{title}: it runs");
	ok(@rows || $query->{may_be_empty}, "$query->{title}: " . @rows . " rows");
}

# The consoles of a boot.
my $boot = $lab->value("SELECT min(boot) FROM v_boot", $id);
my $all  = $lab->get("/api/v1/boots/$boot/console")->{content};
my $xen  = $lab->get("/api/v1/boots/$boot/console?source=xen");
my $own  = $lab->get("/api/v1/boots/$boot/console?source=kernel")->{content};
is($xen->{status}, 200, "Xen's lines of a console");
like($xen->{content}, qr/\(XEN\) Xen version 4\.17\.5/, "are Xen's");
unlike($xen->{content}, qr/Linux version|agent:/, "and nobody else's");
like($own, qr/Linux version 6\.12\.0/, "the kernel's lines are the kernel's");
unlike($own, qr/\(XEN\)|\(xen\)|agent:/, "and nobody else's");
like($all, qr/\Q$_\E/, "all of them have: $_") for "(XEN) Xen version", "Linux version", "agent: hello";
$r = $lab->get("/api/v1/boots/$boot/console?source=bogus");
is($r->{status}, 400, "a source that is none is refused");
is($r->{json}{key}, "source", "with its key");

# A run again, with both of its captures: as if the machine were one that can do that (see reproduce.t).
system("sqlite3", "$lab->{data}/lab.db", "UPDATE experiment SET machine = 'bochs'") == 0 or die "sqlite3";
my ($code, $out) = $lab->labctl("reproduce", $run{good});
is($code, 0, "the same stream is identical") or diag $out;
like($out, qr/^Xen's capture +([0-9a-f]{16}) +\1  yes$/m, "and both captures are compared");
is(($lab->labctl("reproduce", $run{lossy}))[0], 0, "so is one that lost the same");
put("lossy.xentrace", stream(0, 1, Xentrace::record(0x1f001, 3_400_000, 41, 0, 3_300_000, 0)));
is(($lab->labctl("reproduce", $run{lossy}))[0], 1, "not one that lost less");
put("good.xentrace", $streams{noflush});
($code, $out) = $lab->labctl("reproduce", $run{good});
is($code, 1, "a stream without one of the flushes differs");
like($out, qr/the first that differs: xen:iotlb_flush on CPU 0 at 0\.00\d{7} s/, "and that is the first difference");
unlink "$dir/good.xentrace";
($code, $out) = $lab->labctl("reproduce", $run{good});
is($code, 2, "none at all cannot be compared");
like($out, qr/did not send all captures/, "and said so");

done_testing;
