#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# How a metric's raw values are distributed, run by run, from events that a played machine shipped: against the same
# asked of the events file, what has no distribution, what is gone, and that nobody waits for it.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use IO::Select;
use IO::Socket::INET;
use JSON::PP;
use Labd;
use Test::More;

my $dir  = tempdir(CLEANUP => 1);
my $json = JSON::PP->new->utf8->canonical;
mkdir "$dir/$_" for qw(builds images);
sub put {
	my ($file, $data) = @_;
	open my $fh, ">", "$dir/$file" or die;
	print $fh ref $data ? $json->encode($data) : $data;
	close $fh or die;
	return "$dir/$file";
}
put("builds/kvm-$_.json", { name => "kvm-$_", subject => "kvm", kernel => put($_, "k"), build_id => "ab" x 20 })
	for qw(base hint);
put("images/kvm.json", { name => "kvm", image => put("cpio", "i"), sha256 => "cd" x 32,
	files => [ { path => "/bin/kvm-churn", sha256 => "ef" x 32 } ] });

# The workload's latencies: 1 to 20000 ns in a mixed order, so that a value is its rank.
my $n   = 20000;
my $lab = Labd->new(args => [ "--builds", "$dir/builds", "--images", "$dir/images" ], env => {
	LABD_QEMU => "$Labd::top/tests/lib/fake-qemu", FAKE_BUILD_ID => "ab" x 20,
	FAKE_CAPTURE  => "$Labd::top/tests/fuzz/seeds/fuzz_tracedat/sched.dat",
	FAKE_WORKLOAD => $json->encode({ lat => [ map { 1 + $_ * 7919 % $n } 0 .. $n - 1 ], few => [ 1 .. 999 ], one => 3.5, mixed => [ 10, 1.5 ] }) });
my $spec = { name => "ecdf", machine => "qemu", subject => "kvm", rounds => 2,
	arms => [ map { { name => $_, build => "kvm-$_" } } qw(base hint) ],
	scenarios => [ map { { name => $_, workload => "kvm-churn" } } qw(s1 s2) ],
	trace => { events => [ "raw_syscalls:sys_enter", "sched:sched_switch" ] },
	metrics => [
		{ name => "nr", event => "raw_syscalls:sys_enter", field => "id", agg => "median", unit => "nr \"x\"" },
		{ name => "calls", event => "raw_syscalls:sys_enter", agg => "count", unit => "1" },
		{ name => "ratio", agg => "ratio", unit => "1", num => { event => "raw_syscalls:sys_enter" },
			den => { event => "sched:sched_switch" } },
		{ name => "lat", workload_key => "lat", agg => "p99.9", unit => "ns" },
		{ name => "few", workload_key => "few", agg => "p99.9", unit => "ns" },
		{ name => "mixed", workload_key => "mixed", agg => "median", unit => "ns" },
		{ name => "one", workload_key => "one", unit => "1" } ] };
my $id = $lab->submit($spec);
is($lab->finish($id, 120), "done", "an experiment of a played machine");

sub ecdf {
	my ($metric, $scenario, $of) = @_;
	return $lab->get("/api/v1/experiments/" . ($of // $id) . "/ecdf?metric=$metric&scenario=$scenario");
}

# Of the raw events, the same as SQL has it.
my $r = ecdf("nr", "s1");
is($r->{status}, 200, "a distribution of events") or diag $r->{content};
is($r->{json}{unit}, "nr \"x\"", "its unit");
is("$r->{json}{metric} $r->{json}{scenario}", "nr s1", "its names");
my @curves = @{ $r->{json}{curves} };
is(join(" ", map { "$_->{arm}$_->{round}" } @curves), "base1 base2 hint1 hint2", "a curve per run, in the plan's order");
is(scalar(grep { $_->{used} && !$_->{lossy} && $_->{n} == 35 && !defined $_->{p999} } @curves), 4,
	"used, nothing lost, 35 values and so no p99.9");
my $run = $curves[0]{run};
my @want = $lab->sql("SELECT v, r FROM (SELECT id AS v, count(*) OVER (ORDER BY id) AS r, run FROM"
	. " events.ev_raw_syscalls_sys_enter WHERE run = $run) GROUP BY v ORDER BY v", $id);
is(join(" ", map { sprintf "%d:%.9f", @$_ } @{ $curves[0]{points} }), join(" ", map { sprintf "%d:%.9f", $_->[0], $_->[1] / 35 } @want),
	"every step is that of the events file");
is($lab->value("SELECT arm || round || scenario FROM v_run WHERE run = $run"), "base1s1", "the run is that one");

# Of an array of many: thinned, and what counts is there.
$r = ecdf("lat", "s2");
my $curve = $r->{json}{curves}[0];
my %at = map { $_->[0] => $_->[1] } @{ $curve->{points} };
cmp_ok(scalar keys %at, "<=", 256, "at most 256 points");
is($curve->{n}, $n, "of $n values");
is($curve->{p999}, 19980, "its p99.9");
is(scalar(grep { !exists $at{$_} || abs($at{$_} - $_ / $n) > 1e-9 } 1, 10000, 18000, 19800, 19980, 20000), 0,
	"smallest, p50, p90, p99, p99.9 and largest, with their fractions");
is(scalar(grep { !exists $at{$_} } $n - 9 .. $n), 0, "the ten largest are all there");
is($lab->value("SELECT value || ' ' || low || ' ' || high FROM v_sample WHERE metric = 'lat' AND run = $curve->{run}"),
	"19980.0 19971.0 19989.0", "the sample has the same p99.9, between the 30th and the 12th largest");
is(join(" ", map { $_->{n} } @{ ecdf("mixed", "s1")->{json}{curves} }), "0 0 0 0", "what holds no integer has no values");
is(ecdf("few", "s1")->{json}{curves}[0]{p999}, undef, "999 values have no p99.9");

# What there is not.
for my $case (
	[ "ratio", "s1", 422, "metric", qr/^ratio is one number per run \(ratio\): there is no distribution/ ],
	[ "calls", "s1", 422, "metric", qr/^calls is one number per run \(count\)/ ],
	[ "one", "s1", 422, "metric", qr/^one is one number per run/ ],
	[ "none", "s1", 404, "metric", qr/^experiment 1 has no metric none$/ ],
	[ "nr", "none", 404, "scenario", qr/^experiment 1 has no scenario none$/ ] ) {
	my ($metric, $scenario, $status, $key, $detail) = @$case;
	$r = ecdf($metric, $scenario);
	is($r->{status}, $status, "$metric of $scenario: $status");
	is($r->{json}{key}, $key, "$metric of $scenario: names the key");
	like($r->{json}{detail}, $detail, "$metric of $scenario: $r->{json}{detail}");
}
is(ecdf("nr", "s1", 99)->{json}{detail}, "there is no experiment 99", "no such experiment");
$r = $lab->get("/api/v1/experiments/$id/ecdf?scenario=s1");
is("$r->{status} $r->{json}{key}", "400 metric", "without a metric: $r->{json}{detail}");

# A run whose pair is void is shown as not used; one that lost events is lossy, and has no p99.9 of them.
system "sqlite3", "$lab->{data}/lab.db", "INSERT INTO void_pair VALUES ($id, 1, 's1', 'base', 'by hand');"
	. "INSERT INTO loss (run, cpu, count, cause) VALUES ($run, 0, 1, 'by hand')";
$r = ecdf("nr", "s1");
is(join(" ", map { "$_->{used}/$_->{lossy}" } @{ $r->{json}{curves} }), "0/1 1/0 1/0 1/0", "void and lossy");
is(ecdf("lat", "s1")->{json}{curves}[0]{p999}, 19980, "what the workload measured itself was not lost");

# Other questions are answered while a distribution waits for its events: their file is locked until the answer to the
# other question is there.
SKIP: {
	my $lock = fork // skip "no process", 3;
	if (!$lock) {
		exec "sqlite3", "-bail", "$lab->{data}/events/$id.db", "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE", ".shell touch $dir/locked; while [ ! -e $dir/enough ]; do sleep 0.1; done";
	}
	waitpid $lock, 0 if !$lab->until(30, sub { -e "$dir/locked" });
	my $slow = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $lab->{port}) or die;
	print $slow "GET /api/v1/experiments/$id/ecdf?metric=nr&scenario=s1 HTTP/1.1\r\nHost: 127.0.0.1:$lab->{port}\r\n\r\n";
	is($lab->get("/healthz")->{status}, 200, "/healthz is answered meanwhile");
	is(IO::Select->new($slow)->can_read(0), undef, "the distribution is not there yet");
	put("enough", "");
	waitpid $lock, 0;
	sysread $slow, my $head, 12;
	is($head, "HTTP/1.1 200", "and so is the distribution");
}

# Who asks for one experiment must not read the others: views pass the condition on.
for my $view (qw(v_sample v_boot_sample v_result v_compare v_loss)) {
	my $plan = join "\n", map { $_->[0] } $lab->sql("EXPLAIN QUERY PLAN SELECT * FROM $view WHERE experiment = 1");
	like($plan, qr/\(experiment=\?|SEARCH \S+ USING (INTEGER )?PRIMARY KEY/, "$view finds an experiment");
	unlike($plan, qr/SCAN (slot|run|sample|result|compare|loss|[a-z])\b(?! USING COVERING)/, "$view reads no other");
}

unlink "$lab->{data}/events/$id.db";
$r = ecdf("nr", "s1");
is("$r->{status} $r->{json}{detail}", "404 the raw events are gone: there is no file events/$id.db", "without the file");
is(ecdf("lat", "s1")->{status}, 200, "what the workload printed is still there");
is($lab->stop, 0, "ends well");
done_testing;
