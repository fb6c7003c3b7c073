#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-only
# Runs done again, with a machine that is played: what is refused, what counts as identical, and what a labd that was
# killed had left half done. Times of QEMU are the host's, so the database is told that its experiment was of another
# machine; what is booted then is still the played one.
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../lib";
use File::Temp qw(tempdir);
use JSON::PP;
use Labd;
use Test::More;

my $dir       = tempdir(CLEANUP => 1);
my $kernel_id = "ab" x 20;
mkdir "$dir/$_" for qw(builds images);

sub put {
	my ($file, $bytes) = @_;
	open my $fh, ">:raw", "$dir/$file" or die "$dir/$file: $!";
	print $fh $bytes;
	close $fh or die "$dir/$file: $!";
	return "$dir/$file";
}

sub put_build {
	put("builds/kvm-$_[0].json", encode_json({ name => "kvm-$_[0]", subject => "kvm", kernel => "$dir/bzImage",
		build_id => $_[1] }));
}

sub put_image {
	put("images/kvm.json", encode_json({ name => "kvm", image => "$dir/cpio", sha256 => $_[0] x 32,
		files => [ { path => "/bin/kvm-churn", sha256 => "ef" x 32 } ] }));
}

open my $seed, "<:raw", "$Labd::top/tests/fuzz/seeds/fuzz_tracedat/sched.dat" or die "sched.dat: $!";
my $capture = do { local $/; <$seed> };
put("bzImage", "a kernel");
put("cpio",    "an image");
put("capture", $capture);
put_build($_, $kernel_id) for qw(base hint);
put_image("ef");

my %env = (LABD_QEMU => "$Labd::top/tests/lib/fake-qemu", FAKE_BUILD_ID => $kernel_id,
	FAKE_CAPTURE => "$dir/capture", FAKE_WORKLOAD => '{"madvise_total_ns": 12345}');
my $lab = Labd->new(args => [ "--builds", "$dir/builds", "--images", "$dir/images" ], env => \%env);
my $spec = Labd::descriptive(Labd::spec("experiments/kvm-first.json"));
$spec->{rounds}        = 1;
$spec->{scenarios}     = [ @{ $spec->{scenarios} }[ 0, 1 ] ];
$spec->{trace}{events} = ["sched:sched_switch"];
$spec->{metrics}       = [
	{ name => "next_pids", event => "sched:sched_switch", field => "next_pid", agg => "sum", unit => "1",
		better => "lower" },
	{ name => "prev_pids", event => "sched:sched_switch", field => "prev_pid", agg => "sum", unit => "1" },
	{ name => "madvise_total", workload_key => "madvise_total_ns", unit => "ns" },
	{ name => "never", event => "sched:sched_switch", field => "prev_prio", agg => "p99.9", unit => "1" },
];

sub change {
	system("sqlite3", "-cmd", ".timeout 20000", "$lab->{data}/lab.db", @_) == 0 or die "sqlite3: @_";
}

# Answers labctl's exit code, what it said, and the reproduction.
sub reproduce {
	my ($run) = @_;
	my ($code, $out) = $lab->labctl("reproduce", $run);
	return ($code, $out, $lab->get("/api/v1/reproductions?limit=1")->{json}{reproductions}[0]);
}

sub refused {
	my ($run, $status, $why, $name) = @_;
	my $r = $lab->request("POST", "/api/v1/runs/$run/reproduce", {});
	is($r->{status}, $status, "$name: $status");
	like($r->{json}{detail} // "", $why, "$name: $r->{json}{detail}");
	my ($code, $out) = $lab->labctl("reproduce", $run);
	is($code, 2, "$name: labctl ends with 2");
	like($out, $why, "$name: and says why");
}

my $id = $lab->submit($spec);
is($lab->finish($id, 120), "done", "the experiment completes") or BAIL_OUT($lab->log);
my @runs = map { $_->[0] } $lab->sql("SELECT run FROM v_run WHERE experiment = :experiment AND state = 'ok' ORDER BY run", $id);
is(scalar @runs, 4, "with four runs");
my $run = $runs[1]; # the second of its boot

subtest "what is refused" => sub {
	refused($run, 409, qr/machine qemu, whose times are the host's/, "a run on QEMU");
	refused(999, 404, qr/there is no run 999/, "a run that is not there");
	is($lab->request("POST", "/api/v1/runs/$run/reproduce", "{}", Authorization => "")->{status}, 401, "nobody's wish");
	is($lab->get("/api/v1/reproductions/1")->{status}, 404, "there is no reproduction");
	is_deeply($lab->get("/api/v1/reproductions")->{json}, { reproductions => [], next => undef }, "none at all");
	for my $words ([], ["x"], [ 0 ], [ 1, 2 ], [ "--now", 1 ]) {
		my ($code, $out) = $lab->labctl("reproduce", @$words);
		is($code, 2, "labctl reproduce @$words: 2");
		like($out, qr/number of a run|unrecognized option/, "with a sentence");
	}
	change("UPDATE experiment SET machine = 'moon'");
	refused($run, 409, qr/needs the machine moon, which this labd does not have/, "an unknown machine");
	change("UPDATE experiment SET machine = 'bochs'; UPDATE run SET state = 'failed' WHERE id = $run");
	refused($run, 409, qr/run $run is failed: only one that is ok/, "a run that failed");
	change("UPDATE run SET state = 'ok' WHERE id = $run");
};

subtest "identical" => sub {
	my ($code, $out, $rep) = reproduce($run);
	is($code, 0, "the same capture is identical") or diag $out;
	like($out, qr/^madvise_total +12345 +12345  yes$/m, "a line per metric");
	like($out, qr/^never +- +-  yes$/m,                 "also without a value");
	like($out, qr/^events +\d+ +\d+  yes$/m,            "the events");
	like($out, qr/^capture +([0-9a-f]{16}) +\1  yes$/m, "and the capture");
	like($out, qr/^identical$/m,                        "and the verdict");
	my $detail = delete $rep->{detail};
	is(scalar @{ $detail->{metrics} }, 4, "each metric is compared");
	is($detail->{events}{stored}, $lab->value("SELECT events FROM v_run WHERE run = $run"), "all events");
	is($detail->{events}{first_difference}, undef, "none of them differs");
	like(delete $rep->{$_}, qr/^20.*Z$/, "$_ is a time") for qw(created ended);
	my $true = JSON::PP::true;
	my ($arm, $scenario) = @{ ($lab->sql("SELECT arm, scenario FROM v_run WHERE run = $run"))[0] };
	is_deeply($rep, { id => 1, run => $run, experiment => $id, round => 1, arm => $arm, scenario => $scenario,
		state => "done", reason => "", identical => $true, metrics_equal => $true, events_equal => $true,
		capture_equal => $true }, "and the API says the same");
	is($lab->value("SELECT identical FROM v_reproduction WHERE run = $run"), 1, "so does the view");
	is(join(" ", glob "$lab->{data}/captures/reproduce/*"), "", "its files are gone");
	ok(-s "$lab->{data}/consoles/reproduce-1.log", "its console stays");
	is($lab->value("SELECT count(*) FROM run"), 4, "no run was added");
	is($lab->value("SELECT count(*) FROM boot"), 2, "nor a boot");
	($code, $out) = $lab->labctl("reproduce", "--no-wait", $run);
	is("$code $out", "0 2\n", "without waiting there is a number");
	ok($lab->until(60, sub { $lab->get("/api/v1/reproductions/2")->{json}{state} eq "done" }), "which is done later");
	is($lab->get("/api/v1/reproductions?limit=1")->{json}{next}, 2, "a page says where the next one begins");
};

subtest "differs" => sub {
	change("UPDATE sample SET value = value + 1 WHERE run = $run AND metric = 'madvise_total'");
	my ($code, $out, $rep) = reproduce($run);
	is($code, 1, "another stored value differs");
	like($out, qr/^madvise_total +12346 +12345  no$/m, "and is named");
	like($out, qr/^differs$/m, "with the verdict");
	ok(!$rep->{identical} && !$rep->{metrics_equal} && $rep->{events_equal}, "the events are the same");
	change("UPDATE sample SET value = NULL WHERE run = $run AND metric = 'madvise_total'");
	is((reproduce($run))[0], 1, "no stored value differs");
	change("UPDATE sample SET value = 12345 WHERE run = $run AND metric = 'madvise_total'");

	# The last switch goes to, or comes from, another task.
	(my $other = $capture) =~ s/^(.*qemu-system-x86\0)\x40\x11\0\0(\x78\0\0\0)/$1\x41\x11\0\0$2/s or die;
	put("capture", $other);
	($code, $out, $rep) = reproduce($run);
	is($code, 1, "another event differs");
	like($out, qr/^events +(\d+) +\1  no$/m, "of as many");
	like($out, qr/^  the first that differs: sched:sched_switch on CPU 0 at 29\d\d\.\d{9} s$/m, "and the first is named");
	like($out, qr/^(next|prev)_pids +\d+ +\d+  no$/m, "with the metric that it changes");
	ok(!$rep->{metrics_equal} && !$rep->{events_equal} && !$rep->{capture_equal}, "all of it differs");

	(my $words = $capture) =~ s/Linux test/Linux Test/ or die;
	put("capture", $words);
	($code, $out, $rep) = reproduce($run);
	is($code, 0, "what is no event does not count");
	ok($rep->{events_equal} && !$rep->{capture_equal}, "but is told");
	like($out, qr/^capture +\S+ +\S+  no$/m, "to people too");

	put("capture", substr $capture, 0, 5000);
	($code, $out, $rep) = reproduce($run);
	is($code, 2, "a capture that is cut off cannot be compared");
	like($out, qr/could not be reproduced: its events could not be stored: .+/, "with a sentence: $out");
	is($rep->{state}, "failed", "and it is failed");
	put("capture", $capture);
};

subtest "another machine, another build" => sub {
	put_image("dd");
	my ($code, $out) = reproduce($run);
	is($code, 2, "another image is another machine");
	like($out, qr/the image of subject kvm was built anew/, "and said so");
	put_image("ef");
	put_build($_, "cd" x 20) for qw(base hint);
	($code, $out) = reproduce($run);
	is($code, 2, "another build is another kernel");
	like($out, qr/the build kvm-\w+ is another since then: its build_id is (cd)+, was (ab)+/, "and said so");
	unlink glob "$dir/builds/*";
	($code, $out) = reproduce($run);
	like($out, qr/there is no build kvm-\w+ any more/, "one that is gone is missed");
	put_build($_, $kernel_id) for qw(base hint);
	my $machine = $lab->value("SELECT quote(machine_json) FROM experiment");
	change(q{UPDATE experiment SET machine_json = json_set(machine_json, '$.clock', 'sundial')});
	($code, $out) = reproduce($run);
	like($out, qr/machine qemu is another than it was: its clock differs/, "another clock is another machine");
	change(qq{UPDATE experiment SET machine_json = $machine});
	is((reproduce($run))[0], 0, "with all of it as it was the run is identical");
};

sub restart {
	my ($signal, $mode) = @_;
	my $status = $lab->stop($signal);
	$lab->{env}{FAKE_MODE} = $mode;
	$lab->start;
	return $status;
}

sub state_of { return $lab->get("/api/v1/reproductions/$_[0]")->{json}{state} }

sub becomes {
	my ($number, $state, $name) = @_;
	ok($lab->until(60, sub { state_of($number) eq $state }), $name) or diag state_of($number);
}

subtest "labd ends meanwhile" => sub {
	restart("TERM", "hang");
	my $r = $lab->request("POST", "/api/v1/runs/$run/reproduce", {});
	is($r->{status}, 201, "a run that hangs");
	my $number = $r->{json}{id};
	is($r->{headers}{location}, "/api/v1/reproductions/$number", "is at its location");
	becomes($number, "running", "it runs");
	change("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 99) "
		. "INSERT INTO reproduction (run, state, created) SELECT $run, 'queued', 0 FROM n");
	is($lab->request("POST", "/api/v1/runs/$run/reproduce", {})->{status}, 201, "a hundred may wait");
	refused($run, 429, qr/100 reproductions are queued already/, "not more");
	change("DELETE FROM reproduction WHERE id > $number + 1");
	is(restart("TERM", "hang"), 0, "labd ends well");
	becomes($number, "running", "the next one takes it up again");
	restart("KILL", "ok");
	becomes($_, "done", "after a kill, too, and what was queued") for $number, $number + 1;
	is($lab->value("SELECT count(*) FROM reproduction WHERE id >= $number AND identical"), 2, "with the same end");
	is(join(" ", glob "$lab->{data}/captures/reproduce/*"), "", "and no files are left");
};

subtest "it fails this time" => sub {
	restart("TERM", "panic");
	my ($code, $out) = reproduce($run);
	is($code, 2, "a panic is no difference");
	like($out, qr/could not be reproduced: the boot ended: panic: .*VFS: Unable to mount root fs/, "but told: $out");
	restart("TERM", "no-capture");
	($code, $out) = reproduce($run);
	like($out, qr/the agent did not send all captures/, "a capture that did not come is missed");
	is(restart("TERM", "ok"), 0, "labd is well");
	is((reproduce($_))[0], 0, "each run is identical in the end") for @runs;
	my $archive = "$dir/export.tar.gz";
	($code, $out) = $lab->labctl("--data", $lab->{data}, "export", $id, "-o", $archive);
	is($code, 0, "the experiment is exported with them") or diag $out;
};

done_testing;
